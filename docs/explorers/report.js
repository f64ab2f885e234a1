// The report that the simulator writes of the reader's own program (TILEWISE_REPORT=report.json), line by line.
'use strict';
(function (root) {
  const R = root.tilewiseRules, { define, bankGrid, count, some, time, element, scrolling, tableOf, read } = root.tilewiseExplorers;

  // "0 4 8 . ..." -> a request; null where the report has none, as those that older simulators wrote.
  function requestOf(line) {
    const worst = line.worst_request;
    if (!worst || typeof worst.lanes !== 'string') return null;
    const lanes = worst.lanes.split(' ');
    if (lanes.length !== R.LANES) return null;
    return { bytes: line.bytes_per_thread, address: lanes.map((at) => (at === '.' ? null : worst.address + Number(at))) };
  }

  // Throws what is wrong, in words for the reader.
  function launchesOf(text) {
    let report;
    try { report = JSON.parse(text); } catch (e) { throw new Error(`That isn't JSON: ${e.message}. The simulator writes the file when the program ends; did it end?`); }
    if (!Array.isArray(report) || !report.length) throw new Error('That is JSON, but no report: a report is a list of launches. Was it written by TILEWISE_REPORT=FILE.json?');
    for (const launch of report) if (!launch || typeof launch !== 'object' || !Array.isArray(launch.lines)) throw new Error('That is JSON, but no report: a launch in it has no lines.');
    return report;
  }

  const nameOf = (file) => String(file).split('/').pop();
  const isShared = (line) => line.memory === 'shared';
  const per = (all, line) => (line.instructions ? all / line.instructions : 0);
  const unit = (n, one, many) => `${fixed(n)} ${n === 1 ? one : many}`;
  const fixed = (n) => (Number.isInteger(n) ? String(n) : n.toFixed(2));

  function costOf(line) {
    if (line.memory === 'global' && line.sectors !== undefined) {
      return { per: unit(per(line.sectors, line), 'sector', 'sectors'), ideal: fixed(per(line.sectors_ideal, line)), moved: `${count(line.sectors * R.SECTOR)} bytes`,
        passes: line.l1_data_passes === undefined ? '' : `${fixed(per(line.l1_tag_passes, line))}, ${fixed(per(line.l1_data_passes, line))}` };
    }
    if (isShared(line) && line.wavefronts !== undefined) {
      return { per: unit(per(line.wavefronts, line), 'pass', 'passes'), ideal: fixed(per(line.wavefronts_ideal, line)), moved: `${count(line.threads * line.bytes_per_thread)} bytes`,
        passes: fixed(per(line.wavefronts, line)) };
    }
    return { per: '', ideal: '', moved: `${count(line.threads * line.bytes_per_thread)} bytes`, passes: '' };
  }

  function costOfRequest(line, request) {
    const simple = line.access === 'load' || line.access === 'store';
    if (isShared(line)) {
      const isLoad = line.access === 'load';
      return simple ? `${some(R.wavefronts(request, isLoad), 'pass', 'passes')} through shared memory, ${R.idealWavefronts(request, isLoad)} without bank conflicts.`
        : `${some(R.wordsOf(request).length, 'word')} of shared memory.`;
    }
    const touched = `${some(R.sectorsOf(request).length, 'sector')} of 32 bytes in ${some(R.linesOf(request).length, 'cache line')}`;
    if (simple) return `${touched}, ${some(R.tagPasses(request), 'tag pass', 'tag passes')}, ${some(R.dataPasses(request), 'data pass', 'data passes')}.`;
    if (line.access === 'copy') return `${touched}.`;
    return `${touched}, counted as ${R.atomicSectors(request)}: each sector as often as lanes want the same word of it.`;
  }

  function factsOf(launch) {
    const facts = [['Grid', (launch.grid || []).join(' x ')], ['Block', (launch.block || []).join(' x ')]];
    const shared = (launch.static_shared_bytes || 0) + (launch.dynamic_shared_bytes || 0);
    if (shared) facts.push(['Shared memory', `${count(shared)} bytes per block`]);
    const o = launch.occupancy, bound = launch.bound;
    if (o) facts.push(['Warps per SM', `${count(o.warps_per_sm)}, limited by ${o.limit}`]);
    if (bound && bound.seconds > 0) facts.push([`At least, on the ${bound.device}`, `${time(bound.seconds)}, because of ${bound.by}`]);
    if (launch.sampled) facts.push(['Counted', `${count(launch.sampled.blocks)} of ${count(launch.sampled.of)} blocks, scaled`]);
    if (launch.refused) facts.push(['Not launched', launch.refused]);
    return facts;
  }

  define({
    name: 'report',
    title: 'Your report',
    mount(section) {
      let launches = [], launch = 0, line = 0;
      const sources = new Map();  // a source file's name -> its lines
      const error = element('p', { className: 'explorer-error', role: 'alert', hidden: true });
      const file = element('input', { type: 'file', id: section.id + '-file', multiple: true, accept: '.json,.cu,.cuh,.cpp,.h,.hpp,application/json,text/plain' });
      const pasted = element('textarea', { id: section.id + '-text', rows: 3, spellcheck: false });
      const example = element('button', { type: 'button', textContent: 'Show an example' });
      const drop = element('div', { className: 'explorer-drop' },
        element('label', { htmlFor: file.id, textContent: 'Drop report.json here, or choose it; your .cu file, too, if you want to see its lines' }), element('br'), file,
        element('details', {}, element('summary', { textContent: 'Or paste the report' }), element('label', { htmlFor: pasted.id, textContent: 'The report\'s text' }), pasted));
      const chosen = element('select', { id: section.id + '-launch' });
      const chooser = element('div', { className: 'explorer-control', hidden: true }, element('label', { htmlFor: chosen.id, textContent: 'Launch' }), chosen);
      const facts = element('dl', { className: 'explorer-facts' }), findings = element('div', {}), lines = element('div', {});
      const picture = element('div', { className: 'explorer-picture-room' }), says = element('p', { className: 'explorer-says', role: 'status', textContent: 'Nothing leaves your computer: the page reads the file itself.' });

      const textOf = (at) => (sources.get(nameOf(at.file)) || [])[at.line - 1];
      const accessOf = (at) => `${at.memory} ${at.access}, ${some(at.bytes_per_thread, 'byte')}`;

      function remember() {
        try { history.replaceState(null, '', `#${section.id}?launch=${launch}&line=${line}`); } catch (e) { /* an address that may not change */ }
      }
      function showPicture() {
        const at = launches[launch] && launches[launch].lines[line], request = at && requestOf(at);
        picture.replaceChildren();
        if (!at) { says.textContent = 'No line of this launch asks memory for anything.'; return; }
        const where = `${nameOf(at.file)}:${at.line}, ${accessOf(at)}: `;
        if (!request || at.access === 'ldmatrix') {
          says.textContent = where + `${some(at.instructions, 'request')}. ` + (request ? "Matrix loads aren't drawn." : "The report doesn't say which addresses.");
          return;
        }
        const active = request.address.filter((to) => to !== null).length;
        says.textContent = where + `of ${some(at.instructions, 'request')}, the one that costs most (the first, if several do). ${some(active, 'lane')} x ${some(at.bytes_per_thread, 'byte')}: `
          + costOfRequest(at, request);
        // A row is a cache line; the first one that is touched has number 0.
        const origin = Math.floor(Math.min(...request.address.filter((to) => to !== null)) / R.LINE) * R.LINE;
        const moved = { ...request, address: request.address.map((to) => (to === null ? null : to - origin)) };
        picture.innerHTML = bankGrid(Math.max(260, picture.clientWidth || 640), moved,
          { rowName: isShared(at) ? 'row' : 'line', sectors: !isShared(at), parts: at.bytes_per_thread > 4 ? at.bytes_per_thread / 4 : 1 }).markup(says.textContent);
      }
      function showLaunch() {
        const shown = launches[launch];
        chosen.value = launch;
        facts.replaceChildren(...factsOf(shown).map(([name, value]) => element('div', {}, element('dt', { textContent: name }), element('dd', { textContent: value }))));
        findings.replaceChildren(...(shown.findings || []).map((finding) => element('p', { className: 'explorer-error', textContent: `${nameOf(finding.file)}:${finding.line}: ${finding.kind}: ${finding.message}` })));
        const table = tableOf({
          caption: 'Choose a line to see its request. Per request: sectors of global memory, passes through shared memory. L1: tag and data passes.',
          head: ['Line', 'Access', 'Requests', 'Per request', 'At best', 'L1 passes', 'Bytes moved', 'What to know'],
          rows: shown.lines.map((at, i) => {
            const cost = costOf(at), button = element('button', { type: 'button', textContent: `${nameOf(at.file) || 'unknown'}:${at.line}`, 'aria-pressed': String(i === line) });
            button.addEventListener('click', () => {
              line = i;
              table.querySelectorAll('button').forEach((other, k) => other.setAttribute('aria-pressed', String(k === line)));
              showPicture();
              remember();
            });
            const compiled = at.as_compiled ? ` nvcc: ${some(at.as_compiled.instructions, 'request')}, because ${at.as_compiled.why}.` : '';
            const words = element('span', { className: 'words', textContent: (at.diagnosis ? `${at.diagnosis}.` : '') + compiled });
            const text = textOf(at), first = element('span', {}, button, ...(text === undefined ? [] : [element('code', { textContent: text.trim() })]));
            return [first, `${at.memory} ${at.access}, ${at.bytes_per_thread} bytes`, count(at.instructions), cost.per, cost.ideal, cost.passes, cost.moved, words];
          }),
        });
        table.querySelectorAll(':is(th, td):last-child').forEach((cell) => cell.classList.add('words'));
        table.querySelectorAll(':is(th, td):nth-child(2)').forEach((cell) => cell.classList.add('text'));
        lines.replaceChildren(shown.lines.length ? scrolling('What each line asks memory for', table) : element('p', { textContent: launches[launch].refused ? 'This launch was refused.' : 'This launch was not counted.' }));
        showPicture();
      }
      function show(report, at = { launch: 0, line: 0 }) {
        launches = report;
        launch = Math.min(Math.max(0, Number(at.launch) || 0), launches.length - 1);
        line = Math.min(Math.max(0, Number(at.line) || 0), Math.max(0, launches[launch].lines.length - 1));
        error.hidden = true;
        chosen.replaceChildren(...launches.map((one, i) => element('option', { value: i, textContent: `${i + 1}. ${one.kernel || 'a launch that was refused'}` })));
        chooser.hidden = false;
        showLaunch();
      }
      function take(text) {
        try { show(launchesOf(text)); } catch (e) {
          error.textContent = e.message;
          error.hidden = false;
        }
      }
      async function takeFiles(files) {
        const all = await Promise.all(Array.from(files, async (one) => [one.name, await one.text()]));
        all.filter(([name]) => !/\.json$/.test(name)).forEach(([name, text]) => sources.set(name, text.split('\n')));
        const reports = all.filter(([name]) => /\.json$/.test(name));
        if (reports.length) take(reports[reports.length - 1][1]); else if (launches.length) showLaunch();
      }
      let loading = null;
      function loadExample() {  // a script, since a page from the file system may not read a file
        loading = loading || new Promise((done, failed) => {
          document.head.append(element('script', { src: 'explorers/example.js', onload: done, onerror: failed }));
        });
        return loading.then(() => root.tilewiseExampleReport);
      }
      example.addEventListener('click', () => loadExample().then((report) => { show(report); remember(); }));
      file.addEventListener('change', () => takeFiles(file.files));
      pasted.addEventListener('change', () => { if (pasted.value.trim()) take(pasted.value); });
      for (const kind of ['dragenter', 'dragover']) section.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add('over'); });
      section.addEventListener('dragleave', () => drop.classList.remove('over'));
      section.addEventListener('drop', (event) => { event.preventDefault(); drop.classList.remove('over'); takeFiles(event.dataTransfer.files); });
      chosen.addEventListener('change', () => { launch = Number(chosen.value); line = 0; showLaunch(); remember(); });

      const title = element('p', { className: 'explorer-title', id: section.id + '-title' }, element('b', { textContent: 'Your report' }));
      section.setAttribute('aria-labelledby', title.id);
      section.replaceChildren(title, element('div', { className: 'explorer-presets' }, example), drop, error, chooser, facts, findings, lines, says, picture);
      let width = 0;
      new ResizeObserver(() => {
        if (picture.clientWidth === width || !picture.clientWidth || !launches.length) return;
        width = picture.clientWidth;
        showPicture();
      }).observe(picture);
      if (root.tilewiseReport) show(root.tilewiseReport);  // a page that has one in it, in a script before this
      // An address that names a line shows it, in the report that is here, or else in the example.
      return (at) => { if (launches.length) show(launches, at); else loadExample().then((report) => show(report, at)); };
    },
  });
})(typeof window === 'undefined' ? globalThis : window);
