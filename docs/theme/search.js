// The search: all sections of all pages, ranked here. tilewiseSearchIndex (search-index.js) has rows of
// [kind, page's title, heading, address, text, words of the glossary that it explains], and 'zh' behind it for a Chinese page.
// Chinese has no blanks between words: what is typed in Chinese is looked for as it stands.
'use strict';
window.tilewiseSearch = (function () {
  const HEADING = 9, TITLE = 2.5, EXPLAINS = 8, BODY = 4;
  const WEIGHT = { term: 0.9, lesson: 1.3, deeper: 0.75, practice: 0.75, 'look-up': 0.75, start: 0.8, reference: 0.55, symbol: 0.5 };

  const SMALL = new Set('a an and are be by can do does for how i in is it its my of on or that the to what when where which who why with'.split(' '));

  // padding, padded, pads: pad. Enough for the words of a course; both sides are cut alike.
  function stem(word) {
    let cut = word;
    for (const end of ['ing', 'ed', 'es', 's', 'e']) {
      if (cut.endsWith(end) && cut.length - end.length >= 3 && !cut.endsWith('ss')) {
        cut = cut.slice(0, -end.length);
        break;
      }
    }
    if (cut !== word && /([b-df-hj-np-tv-z])\1$/.test(cut) && !/(ll|ss)$/.test(cut)) cut = cut.slice(0, -1);
    return cut;
  }
  const HAN = /\p{Script=Han}/u;
  const words = (text) => (text.toLowerCase().match(/\p{Script=Han}+|(?:(?!\p{Script=Han})[\p{L}\p{N}_])+/gu) || []);
  const stems = (text) => words(text).map(stem);

  function counted(list) {
    const counts = new Map();
    for (const word of list) counts.set(word, (counts.get(word) || 0) + 1);
    return counts;
  }

  const sections = window.tilewiseSearchIndex.map(([kind, page, heading, address, text, explains, lang]) => {
    const list = stems(text);
    return {
      kind, page, heading, address, text, lang: lang || 'en', of: address.replace(/\.html.*/, '').replace(/_zh$/, ''), body: counted(list), length: list.length,
      inHeading: new Set(stems(heading || page)), inTitle: new Set(stems(page)),
      explains: new Set(explains.split(/[ -]/).filter(Boolean).map(stem)),
      name: (heading || page).toLowerCase(),
      terms: kind === 'term' ? heading.toLowerCase().split(/, */).map((term) => stems(term).join(' ')) : []
    };
  });
  const inChinese = new Set(sections.filter((section) => section.lang === 'zh').map((section) => section.of));  // pages in both languages
  const meanLength = sections.reduce((sum, section) => sum + section.length, 0) / Math.max(1, sections.length);
  const holding = new Map();  // in how many sections a stem is
  for (const section of sections) for (const word of section.body.keys()) holding.set(word, (holding.get(word) || 0) + 1);
  const vocabulary = Array.from(new Set([...holding.keys(), ...sections.flatMap((section) => Array.from(section.inHeading))])).sort();

  // A word that is being typed stands for the words that it begins.
  function meant(word, last) {
    const exact = stem(word);
    if (!last || HAN.test(word)) return [[exact, 1]];
    const begun = vocabulary.filter((known) => known !== exact && known.startsWith(word)).slice(0, 40);
    return [[exact, 1], ...begun.map((known) => [known, 0.35])];
  }

  function score(section, query) {
    let total = 0, matched = 0;
    for (const choices of query) {
      let best = 0;
      for (const [word, share] of choices) {
        const han = HAN.test(word);
        const often = han ? section.text.split(word).length - 1 : section.body.get(word) || 0;
        const rare = han ? 4 : Math.log(1 + sections.length / (1 + (holding.get(word) || 0)));
        let points = BODY * rare / 4 * often / (often + 1.2 * (0.4 + 0.6 * section.length / meanLength));
        if (han) points += section.name.includes(word) ? HEADING : section.page.toLowerCase().includes(word) ? TITLE : 0;
        else if (section.inHeading.has(word)) points += HEADING * (section.heading ? 0.5 + 0.5 / section.inHeading.size : 0.85);
        else if (section.inTitle.has(word)) points += TITLE;
        if (section.explains.has(word)) points += EXPLAINS;
        best = Math.max(best, share * points);
      }
      if (best > 0) matched++;
      total += best;
    }
    return { total, matched };
  }

  // About 150 characters around the first word that matches, in pieces [text, matches].
  function excerpt(text, query) {
    const wanted = new Set(query.flatMap((choices) => choices.map((choice) => choice[0])));
    const matches = [];
    for (const word of wanted) {
      if (HAN.test(word)) for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) matches.push([at, at + word.length]);
    }
    for (const match of text.matchAll(/(?:(?!\p{Script=Han})[\p{L}\p{N}_])+/gu)) {
      if (wanted.has(stem(match[0].toLowerCase()))) matches.push([match.index, match.index + match[0].length]);
    }
    matches.sort((a, b) => a[0] - b[0]);
    let begin = matches.length ? Math.max(0, matches[0][0] - 50) : 0;
    const blank = text.indexOf(' ', begin) + 1;
    if (begin > 0 && blank > 0 && blank <= matches[0][0]) begin = blank;
    const end = Math.min(text.length, begin + 170);
    const pieces = begin > 0 ? [['… ', false]] : [];
    let at = begin;
    for (const [from, to] of matches) {
      if (from < at || to > end) continue;
      pieces.push([text.slice(at, from), false], [text.slice(from, to), true]);
      at = to;
    }
    pieces.push([text.slice(at, end) + (end < text.length ? ' …' : ''), false]);
    return pieces;
  }

  // Sections for these words, best first. Code comes after what explains it, unless it is asked for by its name.
  // From a Chinese page, or in Chinese, it finds Chinese pages, and English ones that have no other edition; else English pages.
  function find(text, most, fromChinese) {
    const all = words(text), telling = all.filter((word) => !SMALL.has(word));
    const typed = telling.length ? telling : all;
    if (!typed.length) return [];
    const query = typed.map((word, at) => meant(word, at === typed.length - 1 && !/\s$/.test(text)));
    const asked = text.trim().toLowerCase(), asTerm = typed.map(stem).join(' ');
    const isName = /[_:()<]|[a-z][A-Z]/.test(text);
    const hits = [];
    const wantChinese = fromChinese || HAN.test(text);
    for (const section of sections) {
      if (wantChinese ? section.lang === 'en' && inChinese.has(section.of) : section.lang === 'zh') continue;
      const { total, matched } = score(section, query);
      if (!matched) continue;
      let points = total * WEIGHT[section.kind];
      if (typed.length > 1 && section.name.includes(asked)) points += HEADING;
      if (section.terms.includes(asTerm)) points += 100;                      // the word itself: what it means comes first
      if (isName && section.kind === 'symbol' && section.name.replace(/\(.*/, '').split('::').pop() === asked.replace(/\(.*/, '').split('::').pop()) points += 50;
      const last = section.kind === 'symbol' && !isName;
      hits.push({ section, matched, last, points });
    }
    hits.sort((a, b) => b.matched - a.matched || a.last - b.last || b.points - a.points);
    const whole = hits.filter((hit) => hit.matched === query.length);
    return (whole.length ? whole : hits).slice(0, most || 30).map(({ section, points }) => ({
      kind: section.kind, page: section.page, heading: section.heading, address: section.address, points, excerpt: excerpt(section.text, query)
    }));
  }
  return { find };
})();
