// What the explorers share: a drawing as text, controls with labels, the state in the address. An explorer is a description:
//   define({name, title, controls, presets, view(state, room)})
// `view` gives what one sees for a state in `room` pixels: {picture, says, facts, table}. Nothing in it touches the page, so that
// stills.js can draw the same pictures for readers without JavaScript.
'use strict';
(function (root) {
  const known = {};
  const define = (spec) => { known[spec.name] = spec; };

  // ---- drawings
  const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }[c]));
  class Drawing {
    constructor(width) { this.width = Math.floor(width); this.parts = []; this.height = 0; }
    reach(y) { this.height = Math.max(this.height, Math.ceil(y)); }
    rect(x, y, width, height, kind) {
      this.parts.push(`<rect class="${kind}" x="${+x.toFixed(1)}" y="${+y.toFixed(1)}" width="${+width.toFixed(1)}" height="${+height.toFixed(1)}"/>`);
      this.reach(y + height + 1);
      return this;
    }
    text(x, y, text, kind = '') {
      this.parts.push(`<text class="${kind}" x="${+x.toFixed(1)}" y="${+y.toFixed(1)}">${escaped(text)}</text>`);
      this.reach(y + 4);
      return this;
    }
    line(points, kind) {
      this.parts.push(`<polyline class="${kind}" points="${points.map(([x, y]) => `${+x.toFixed(1)},${+y.toFixed(1)}`).join(' ')}"/>`);
      points.forEach(([, y]) => this.reach(y + 1));
      return this;
    }
    dot(x, y, radius, kind) {
      this.parts.push(`<circle class="${kind}" cx="${+x.toFixed(1)}" cy="${+y.toFixed(1)}" r="${radius}"/>`);
      this.reach(y + radius);
      return this;
    }
    markup(title, style = '') {
      return `<svg xmlns="http://www.w3.org/2000/svg" class="explorer-picture" viewBox="0 0 ${this.width} ${this.height}" width="${this.width}" height="${this.height}" role="img" aria-label="${escaped(title)}">`
        + `${style}${this.parts.join('')}</svg>`;
    }
  }

  // ---- numbers
  const count = (n) => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ',');
  const some = (n, one, many = one + 's') => `${count(n)} ${n === 1 ? one : many}`;
  const short = (n, digits = 3) => {
    if (n === 0) return '0';
    if (Math.abs(n) >= 1000) return count(Number(n.toPrecision(Math.max(digits, Math.floor(Math.log10(n)) + 1))));
    return String(Number(n.toPrecision(digits)));
  };
  const time = (seconds) => {
    for (const [unit, size] of [['s', 1], ['ms', 1e-3], ['µs', 1e-6]]) if (seconds >= 0.9995 * size) return `${short(seconds / size)} ${unit}`;
    return `${short(seconds * 1e9)} ns`;
  };

  // ---- the words that a request wants, on the 32 banks: a cache line, and a row of the banks, is 32 words long
  function bankGrid(room, request, { rowName, sectors, parts = 1 }) {
    const R = root.tilewiseRules, drawing = new Drawing(room);
    const wanted = new Map();  // word -> lanes
    for (const lane of R.every) {
      const at = request.address[lane];
      if (at === null) continue;
      for (let word = Math.floor(at / R.WORD); word <= Math.floor((at + request.bytes - 1) / R.WORD); word++) {
        if (!wanted.has(word)) wanted.set(word, []);
        wanted.get(word).push(lane);
      }
    }
    const words = Array.from(wanted.keys());
    const rows = Array.from(new Set(words.map((word) => Math.floor(word / R.BANKS)))).sort((a, b) => a - b);
    const wide = room >= 620, names = wide ? 74 : 38;
    const cell = Math.min(22, Math.floor((room - names - 2) * 2 / R.BANKS) / 2), tall = cell >= 17 ? 18 : 14;
    const numbered = cell >= 17, x = (bank) => names + bank * cell;
    drawing.text(names - 6, 13, wide ? 'bank' : rowName, 'end small');
    for (const bank of numbered ? R.every : [0, 8, 16, 24, 31]) drawing.text(x(bank) + cell / 2, 13, bank, 'mid small faint');
    let y = 20;
    for (const row of rows) {
      drawing.text(names - 6, y + Math.min(13, tall - 2), wide ? `${rowName} ${count(row)}` : row, 'end small');
      if (sectors) {
        for (let sector = 0; sector < 4; sector++) {
          const touched = words.some((word) => Math.floor(word / 8) === row * 4 + sector);
          drawing.rect(x(sector * 8), y, cell * 8, tall, touched ? 'sector touched' : 'sector');
        }
      } else drawing.rect(x(0), y, cell * R.BANKS, tall, 'sector touched');
      for (let bank = 0; bank < R.BANKS; bank++) {
        const lanes = wanted.get(row * R.BANKS + bank);
        if (!lanes) continue;
        const part = Math.floor(lanes[0] * parts / R.LANES);
        drawing.rect(x(bank) + 0.5, y + 0.5, cell - 1, tall - 1, `part${part}`);
        if (numbered) drawing.text(x(bank) + cell / 2, y + 13, lanes[0], 'mid small');
      }
      y += tall + (sectors ? 3 : 1);
    }
    const depth = R.wordsPerBank(request), most = Math.max(...depth, 1), high = 44;
    y += 8;
    drawing.text(names - 6, y + high / 2, wide ? 'words' : '', 'end small').text(names - 6, y + high / 2 + 13, wide ? 'per bank' : '', 'end small');
    for (let bank = 0; bank < R.BANKS; bank++) {
      const bar = high * depth[bank] / most;
      if (depth[bank]) drawing.rect(x(bank) + 1, y + 14 + high - bar, cell - 2, bar, depth[bank] === most && most > 1 ? 'bar hot' : 'bar');
      if (numbered && depth[bank]) drawing.text(x(bank) + cell / 2, y + 10 + high - bar, depth[bank], 'mid small');
    }
    drawing.line([[x(0), y + 14 + high], [x(R.BANKS), y + 14 + high]], 'axis');
    return drawing;
  }

  // ---- states: numbers within their limits, choices that there are
  const limit = (value, state) => (typeof value === 'function' ? value(state) : value);
  function valid(spec, wanted) {
    const state = {};
    for (const control of spec.controls) {
      let value = wanted[control.key] === undefined ? control.value : wanted[control.key];
      if (control.type === 'choice') {
        if (!control.choices.some(([choice]) => String(choice) === String(value))) value = control.value;
        state[control.key] = typeof control.value === 'number' ? Number(value) : String(value);
      } else {
        value = Number(value);
        if (!Number.isFinite(value)) value = control.value;
        const low = limit(control.min, state), high = limit(control.max, state), step = control.step || 1;
        if (step !== 'any') value = low + Math.round((value - low) / step) * step;
        state[control.key] = Math.min(high, Math.max(low, value));
      }
    }
    return state;
  }
  const written = (state) => Object.entries(state).map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join('&');
  const read = (text) => Object.fromEntries((text || '').split('&').filter(Boolean).map((pair) => {
    const [key, value] = pair.split('=');
    let decoded = '';
    try { decoded = decodeURIComponent(value || ''); } catch (e) { /* not ours: as if it were not there */ }
    return [key, decoded];
  }));

  root.tilewiseExplorers = { define, known, Drawing, bankGrid, count, some, short, time, valid, written, read, escaped };
  if (typeof document === 'undefined') return;

  // ---- on the page
  function element(name, properties, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(properties || {})) {
      if (key in made && key !== 'list') made[key] = value; else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  }
  function scrolling(name, ...children) {  // can be reached by keyboard, since it may scroll
    return element('div', { className: 'explorer-scrolls', tabIndex: 0, role: 'region', 'aria-label': name }, ...children);
  }
  function tableOf({ caption, head, rows }) {
    const made = element('table', { className: 'explorer-table' }, element('caption', { textContent: caption }),
      element('thead', {}, element('tr', {}, ...head.map((text) => element('th', { textContent: text, scope: 'col' })))));
    const body = element('tbody', {});
    for (const row of rows) {
      body.append(element('tr', {}, ...row.map((cell, i) => (i === 0 ? element('th', { scope: 'row' }, cell) : element('td', {}, cell)))));
    }
    made.append(body);
    return made;
  }

  // A control and what it needs to show a state: [element, show(state)].
  function controlOf(spec, control, section, change) {
    const id = `${section.id}-${control.key}`;
    const unit = control.unit ? ` (${control.unit})` : '';
    const label = element('label', { htmlFor: id, textContent: control.label + unit });
    const set = (value) => change({ [control.key]: value });
    if (control.type === 'choice') {
      const select = element('select', { id }, ...control.choices.map(([value, text]) => element('option', { value, textContent: text })));
      select.addEventListener('change', () => set(select.value));
      return [element('div', { className: 'explorer-control' }, label, select), (state) => { select.value = state[control.key]; }];
    }
    const slider = element('input', { type: 'range', id: control.type === 'step' ? id : id + '-slider' });
    slider.addEventListener('input', () => set(slider.value));
    const limits = (input, state) => {
      input.min = limit(control.min, state);
      input.max = limit(control.max, state);
      input.step = control.step || 1;
    };
    if (control.type === 'step') {
      const by = (name, text, amount) => {
        const button = element('button', { type: 'button', textContent: text, className: name });
        button.addEventListener('click', () => set(Number(slider.value) + amount));
        return button;
      };
      const back = by('back', 'Back', -1), next = by('next', 'Next', 1);
      return [element('div', { className: 'explorer-control explorer-step' }, label, element('div', {}, back, slider, next)), (state) => {
        limits(slider, state);
        slider.value = state[control.key];
        // Not `disabled`, which would take the focus from who steps by keyboard.
        back.setAttribute('aria-disabled', state[control.key] <= Number(slider.min));
        next.setAttribute('aria-disabled', state[control.key] >= Number(slider.max));
      }];
    }
    const field = element('input', { type: 'number', id, inputMode: control.step === 'any' ? 'decimal' : 'numeric' });
    field.addEventListener('change', () => set(field.value));
    const made = element('div', { className: 'explorer-control' }, label, field);
    if (control.step !== 'any') {
      slider.setAttribute('aria-label', `${control.label}, slider`);
      made.append(slider);
    }
    return [made, (state) => {
      for (const input of [field, slider]) {
        limits(input, state);
        input.value = state[control.key];
      }
    }];
  }

  function wholeOf(spec, section) {
    const start = valid(spec, read(section.dataset.state));
    let state = start;
    const title = element('p', { className: 'explorer-title', id: section.id + '-title' }, element('b', { textContent: spec.title }));
    const picture = element('div', { className: 'explorer-picture-room' });
    const says = element('p', { className: 'explorer-says', role: 'status' });
    const facts = element('dl', { className: 'explorer-facts' });
    const more = element('details', {}, element('summary', { textContent: spec.tableTitle || 'As a table' }));
    const rows = element('div', {});
    more.append(rows);

    function show() {
      const seen = spec.view(state, Math.max(260, picture.clientWidth || 640));
      picture.innerHTML = seen.picture;
      says.textContent = seen.says;
      facts.replaceChildren(...seen.facts.map(([name, value]) => element('div', {}, element('dt', { textContent: name }), element('dd', { textContent: value }))));
      more.hidden = !seen.table;
      if (seen.table) rows.replaceChildren(scrolling(seen.table.caption, tableOf(seen.table)));
      controls.forEach(([made, update], i) => {
        const { when } = spec.controls[i];
        made.hidden = Boolean(when) && !when(state);
        update(state);
      });
    }
    function change(changes, remember = true) {
      state = valid(spec, { ...state, ...changes });
      show();
      if (!remember) return;
      try { history.replaceState(null, '', `#${section.id}?${written(state)}`); } catch (e) { /* an address that may not change */ }
    }
    const controls = spec.controls.map((control) => controlOf(spec, control, section, change));
    const presets = element('div', { className: 'explorer-presets' }, ...(spec.presets || []).map(([text, to]) => {
      const button = element('button', { type: 'button', textContent: text });
      button.addEventListener('click', () => change({ ...valid(spec, {}), ...to }));
      return button;
    }));
    section.setAttribute('aria-labelledby', title.id);
    section.replaceChildren(title, presets, element('div', { className: 'explorer-controls' }, ...controls.map(([made]) => made)), picture, says, facts, more);
    show();
    let width = picture.clientWidth;
    new ResizeObserver(() => {
      if (picture.clientWidth === width || !picture.clientWidth) return;
      width = picture.clientWidth;
      show();
    }).observe(picture);
    return (wanted) => change({ ...start, ...wanted }, false);
  }

  const mounted = new Map();
  function followAddress() {
    const [id, text] = location.hash.slice(1).split('?');
    const section = text !== undefined && document.getElementById(id);
    if (!section || !mounted.has(section)) return;
    for (let at = section; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true;
    mounted.get(section)(read(text));
    section.scrollIntoView();
  }
  function begin() {
    document.querySelectorAll('section.explorer[data-explorer]').forEach((section) => {
      const spec = known[section.dataset.explorer];
      if (spec) mounted.set(section, spec.mount ? spec.mount(section) : wholeOf(spec, section));
    });
    followAddress();
    addEventListener('hashchange', followAddress);
  }
  Object.assign(root.tilewiseExplorers, { element, scrolling, tableOf });
  if (document.readyState === 'complete') begin(); else document.addEventListener('DOMContentLoaded', begin);
})(typeof window === 'undefined' ? globalThis : window);
