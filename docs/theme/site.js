// What pages do beside being read: menu, mode, where one is, copying, scroll areas, folds, the glossary's meanings, search.
// No library and no network: pages are also opened from the file system, where a page may load scripts and nothing else.
'use strict';
(function () {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const all = (selector, within) => Array.from((within || document).querySelectorAll(selector));
  const content = document.querySelector('.contents');

  function element(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  function remember(key, value) {
    try {
      if (value === undefined) return localStorage.getItem('tilewise-' + key);
      localStorage.setItem('tilewise-' + key, value);
    } catch (e) { /* no storage: nothing is remembered */ }
    return null;
  }

  const chinese = root.lang.startsWith('zh');
  const say = (english, other) => (chinese ? other : english);

  // ---- the language: the switch keeps the section, and is remembered; the navigation of English pages leads to Chinese lessons then
  const language = byId('language');
  if (language) language.addEventListener('click', () => {
    remember('language', chinese ? 'en' : 'zh');
    language.hash = location.hash;
  });
  if (!chinese && remember('language') === 'zh') all('#site-nav a[data-zh]:not([aria-current])').forEach((link) => {
    link.href = link.dataset.zh;
    link.textContent = link.dataset.zhText;
    link.lang = 'zh-CN';
    link.removeAttribute('aria-label');
  });

  const loading = {};
  function load(file) {  // a script of data, once
    loading[file] = loading[file] || new Promise((done, failed) => {
      document.head.append(element('script', { src: file, onload: done, onerror: failed }));
    });
    return loading[file];
  }

  // ---- menu and mode
  const menu = byId('site-nav'), menuButton = byId('menu-button');
  function openMenu(open) {
    menu.classList.toggle('open', open);
    menuButton.setAttribute('aria-expanded', open);
  }
  menuButton.addEventListener('click', () => openMenu(!menu.classList.contains('open')));
  const current = menu.querySelector('[aria-current]');
  if (current) menu.scrollTop = Math.max(0, current.offsetTop - menu.clientHeight / 2);

  const modeButton = byId('mode-button');
  function setDark(dark) {
    root.classList.toggle('dark-mode', dark);
    root.classList.toggle('light-mode', !dark);
    modeButton.setAttribute('aria-pressed', dark);
  }
  setDark(root.classList.contains('dark-mode'));
  modeButton.addEventListener('click', () => {
    setDark(!root.classList.contains('dark-mode'));
    remember('mode', root.classList.contains('dark-mode') ? 'dark' : 'light');
  });

  // ---- where one is on the page
  const places = all('nav.page-contents a, #site-nav .within a').map((link) => [link, byId(decodeURIComponent(link.hash.slice(1)))])
    .filter((pair) => pair[1]);
  let shown = null;
  function showPlace() {
    let here = null;
    for (const [, heading] of places) {
      if (heading.getBoundingClientRect().top < 140 && (!here || heading.compareDocumentPosition(here) & Node.DOCUMENT_POSITION_PRECEDING)) here = heading;
    }
    if (here === shown) return;
    shown = here;
    for (const [link, heading] of places) {
      if (heading !== here) {
        link.removeAttribute('aria-current');
        continue;
      }
      link.setAttribute('aria-current', 'true');
      const list = link.closest('nav'), from = link.offsetTop;
      if (link.offsetParent && (from < list.scrollTop || from > list.scrollTop + list.clientHeight - 60)) list.scrollTop = from - 80;
    }
  }
  if (places.length) {
    addEventListener('scroll', showPlace, { passive: true });
    showPlace();
  }

  // ---- folds: a link into one opens it; printing shows all
  function openFolds(target) {
    for (let at = target; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true;
  }
  function followHash() {
    let target = null;
    try { target = location.hash.length > 1 && byId(decodeURIComponent(location.hash.slice(1))); } catch (e) { /* no place has such a name */ }
    if (!target) return;
    openFolds(target);
    target.scrollIntoView();
  }
  addEventListener('hashchange', followHash);
  followHash();
  let opened = [];
  addEventListener('beforeprint', () => {
    opened = all('details:not([open])', content);
    opened.forEach((fold) => { fold.open = true; });
  });
  addEventListener('afterprint', () => opened.forEach((fold) => { fold.open = false; }));

  // ---- copying
  all('div.fragment, pre.fragment', content).forEach((code) => {
    const around = element('div', { className: 'code' });
    code.replaceWith(around);
    around.append(code);
    if (document.body.classList.contains('symbols')) return;
    const button = element('button', { type: 'button', className: 'copy', textContent: say('Copy', '复制') });
    button.addEventListener('click', () => {
      const lines = all('.line', code);
      const text = lines.length ? lines.map((line) => line.textContent).join('\n') : code.textContent;
      const said = (word) => { button.textContent = word; setTimeout(() => { button.textContent = say('Copy', '复制'); }, 1500); };
      if (navigator.clipboard) navigator.clipboard.writeText(text.trimEnd() + '\n').then(() => said(say('Copied', '已复制')), () => said(say('Not allowed', '无权限')));
      else said(say('Not allowed', '无权限'));
    });
    around.append(button);
  });

  // ---- what one has done: puzzles solved, lessons read, predictions made; kept in this browser
  const here = (location.pathname.split('/').pop() || 'index.html').replace(/_zh\.html$/, '.html');  // done is done, in both languages
  let done = new Set();
  try { done = new Set(JSON.parse(remember('done') || '[]')); } catch (e) { /* not ours: begin anew */ }
  function showDone() {
    all('[data-done-key]').forEach((of) => of.toggleAttribute('data-done', done.has(of.dataset.doneKey)));
    all('#site-nav a').forEach((link) => link.toggleAttribute('data-done', done.has('lesson ' + link.getAttribute('href').replace(/_zh\.html$/, '.html'))));
    all('.progress').forEach((line) => {
      const keys = line.dataset.keys.split(' ');
      const solved = keys.filter((key) => done.has(key)).length;
      line.textContent = say(`${solved} of ${keys.length} marked as solved, in this browser.`, `在这个浏览器里已标记解出 ${solved} 道，共 ${keys.length} 道。`);
    });
  }
  function tick(key, text) {
    const box = element('input', { type: 'checkbox', checked: done.has(key) });
    box.addEventListener('change', () => {
      if (box.checked) done.add(key); else done.delete(key);
      remember('done', JSON.stringify(Array.from(done)));
      showDone();
    });
    return element('label', { className: 'tick' }, box, ' ' + text);
  }
  all('details.puzzle').forEach((puzzle) => puzzle.append(tick(puzzle.dataset.doneKey, say('I have solved this one', '我做出来了'))));
  all('.contents > .textblock > h2, .contents > h2').forEach((heading) => {
    const keys = [];
    for (let next = heading.nextElementSibling; next && next.tagName !== 'H2'; next = next.nextElementSibling) {
      if (next.matches('details.puzzle')) keys.push(next.dataset.doneKey);
    }
    if (!keys.length) return;
    const line = element('p', { className: 'progress' });
    line.dataset.keys = keys.join(' ');
    heading.after(line);
  });
  if (document.body.classList.contains('lesson')) {
    content.append(element('p', { className: 'lesson-done' }, tick('lesson ' + here, say('I have done this lesson', '这一课我学完了'))));
    all('details', content).forEach((fold) => {
      const summary = fold.querySelector('summary');
      if (!summary || !/^(Answer|答案)/.test(summary.textContent) || fold.parentElement.closest('details')) return;
      const key = 'prediction ' + here + ' ' + all('details', content).indexOf(fold);
      const line = element('input', { type: 'text', value: remember(key) || '', autocomplete: 'off', maxLength: 300 });
      line.addEventListener('change', () => remember(key, line.value));
      fold.before(element('label', { className: 'prediction' }, say('Your prediction ', '你的预测 '), line));
    });
  }
  showDone();

  // ---- scroll areas can be reached by keyboard while they scroll
  const areas = all('[data-scrolls], div.fragment, pre.fragment, .memproto, .memdoc, .symbols .contents');
  function reach() {
    for (const area of areas) {
      const scrolls = area.scrollWidth > area.clientWidth + 1;
      if (scrolls === area.hasAttribute('tabindex')) continue;
      if (scrolls) {
        area.tabIndex = 0;
        area.setAttribute('role', 'region');
        area.setAttribute('aria-label', { table: say('A table that scrolls', '可滚动的表格'), figure: say('A picture that scrolls', '可滚动的图') }[area.dataset.scrolls] || say('Code that scrolls', '可滚动的代码'));
      } else {
        ['tabindex', 'role', 'aria-label'].forEach((name) => area.removeAttribute(name));
      }
    }
  }
  addEventListener('resize', reach);
  addEventListener('load', reach);
  document.addEventListener('toggle', reach, true);
  reach();

  // ---- what a word means, at its link
  let meaning = null, leaving = 0;
  function hideMeaning() {
    if (!meaning) return;
    meaning.remove();
    meaning = null;
    all('[aria-describedby=meaning]').forEach((link) => link.removeAttribute('aria-describedby'));
  }
  function showMeaning(link) {
    load('glossary-terms.js').then(() => {
      const term = window.tilewiseGlossary[decodeURIComponent(link.hash.slice(1))];
      hideMeaning();
      if (!term || !link.matches(':hover, :focus')) return;
      meaning = element('div', { className: 'meaning', id: 'meaning' }, element('b', { textContent: term[0] }), term[1]);
      meaning.setAttribute('role', 'tooltip');
      document.body.append(meaning);
      link.setAttribute('aria-describedby', 'meaning');
      const at = link.getClientRects()[0], width = meaning.offsetWidth;
      meaning.style.left = Math.max(16, Math.min(at.left, root.clientWidth - width - 16)) + scrollX + 'px';
      const below = at.bottom + 6 + meaning.offsetHeight < innerHeight;
      meaning.style.top = (below ? at.bottom + 6 : at.top - 6 - meaning.offsetHeight) + scrollY + 'px';
      meaning.addEventListener('mouseenter', () => clearTimeout(leaving));
      meaning.addEventListener('mouseleave', hideMeaning);
    }, () => {});
  }
  all('a[href^="glossary.html#"]', content).forEach((link) => {
    let coming = 0;
    link.addEventListener('mouseenter', () => { clearTimeout(leaving); coming = setTimeout(showMeaning, 250, link); });
    link.addEventListener('mouseleave', () => { clearTimeout(coming); leaving = setTimeout(hideMeaning, 200); });
    link.addEventListener('focus', () => showMeaning(link));
    link.addEventListener('click', (event) => {  // where nothing can hover, the first touch shows the meaning, and the second follows
      if (!matchMedia('(hover: none)').matches || (meaning && link.getAttribute('aria-describedby'))) return;
      event.preventDefault();
      link.focus();
      showMeaning(link);
    });
    link.addEventListener('blur', hideMeaning);
  });

  // ---- search
  const box = byId('search'), results = byId('search-results');
  const kinds = chinese ? { term: '术语', lesson: '课程', deeper: '深入', practice: '练习', 'look-up': '查阅', start: '开始', reference: '参考', symbol: '代码' } : { term: 'Glossary', lesson: 'Lesson', deeper: 'Deeper', practice: 'Practice', 'look-up': 'Look up', start: 'Start', reference: 'Reference', symbol: 'Code' };
  const ready = () => load('search-index.js').then(() => load('search.js'));
  function showResults() {
    const query = box.value.trim();
    if (!query) { results.hidden = true; return; }
    ready().then(() => {
      if (box.value.trim() !== query) return;
      const found = window.tilewiseSearch.find(query, 30, chinese);
      const said = element('p', { textContent: found.length ? say(`${found.length}${found.length === 30 ? ' or more' : ''} found`, `找到 ${found.length} 处${found.length === 30 ? '以上' : ''}`) :
        say(`Nothing found for “${query}”`, `没有找到“${query}”`) });
      said.setAttribute('role', 'status');
      const list = element('ol', {});
      for (const hit of found) {
        const link = element('a', { href: hit.address }, element('b', { textContent: hit.heading || hit.page }), ' ',
          element('small', { textContent: kinds[hit.kind] + (hit.heading && hit.page && hit.page !== kinds[hit.kind] ? ' · ' + hit.page : '') }));
        const excerpt = element('span', { className: 'excerpt' });
        for (const [text, matches] of hit.excerpt) excerpt.append(matches ? element('mark', { textContent: text }) : text);
        link.append(excerpt);
        link.addEventListener('click', closeResults);
        list.append(element('li', {}, link));
      }
      results.replaceChildren(said, list);
      results.hidden = false;
      results.scrollTop = 0;
    }, () => { results.replaceChildren(element('p', { textContent: say('The search could not be loaded.', '搜索无法加载。') })); results.hidden = false; });
  }
  function closeResults() { results.hidden = true; }
  box.addEventListener('focus', () => { openMenu(false); ready().catch(() => {}); showResults(); });
  box.addEventListener('input', showResults);
  byId('search-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const first = results.querySelector('a');
    if (first && !results.hidden) first.click();
  });
  document.addEventListener('click', (event) => {
    if (!results.contains(event.target) && event.target !== box) closeResults();
  });
  document.addEventListener('keydown', (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
    if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      box.focus();
      box.select();
    } else if (event.key === 'Escape') {
      if (!results.hidden) { closeResults(); box.focus(); closeResults(); } else openMenu(false);
      hideMeaning();
    } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && !results.hidden && (document.activeElement === box || results.contains(document.activeElement))) {
      event.preventDefault();
      const links = [box, ...all('a', results)];
      const next = links.indexOf(document.activeElement) + (event.key === 'ArrowDown' ? 1 : -1);
      if (links[next]) links[next].focus();
    }
  });
})();
