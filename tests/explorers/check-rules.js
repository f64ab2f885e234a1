// node check-rules.js REPORT.json VECTORS.json...: the explorers' rules on what the simulator wrote; every number is compared. And the
// report that the site shows as an example (docs/explorers/example.js) is the one that the simulator writes now; --write puts it there.
// Without node, tests/checks/check-site.py --rules runs the same in a browser.
'use strict';
(function (root) {
  // Compares rule(vector), an object, with the members of the same names in each vector.
  function compareAll(vectors, rule, said, name) {
    let numbers = 0;
    for (const vector of vectors) {
      const found = rule(vector);
      for (const [key, value] of Object.entries(found)) {
        numbers++;
        const wanted = vector[key];
        const same = typeof value === 'number' && !Number.isInteger(value) ? Math.abs(value - wanted) <= 1e-12 * Math.abs(wanted) : value === wanted;
        if (same) continue;
        const { rowPtr, columns, ...rest } = vector;
        said.push(`${name}: ${key} is ${value} by the page's rule, ${wanted} on the simulator, for ${JSON.stringify(rest)}`);
      }
    }
    return numbers;
  }

  // Returns {lines, said}: how much was compared, and what differs.
  root.checkRules = function (all) {
    const R = root.tilewiseRules, lines = [], said = [];
    const byName = Object.fromEntries(Object.values(R.DEVICES).map((device) => [device.name, device]));
    const rules = {
      request: (v) => {
        const request = R.globalRequest(v);
        return { sectors: R.sectorsOf(request).length, tagPasses: R.tagPasses(request), dataPasses: R.dataPasses(request) };
      },
      banks: (v) => {
        const request = R.sharedRequest(v);
        return { load: R.wavefronts(request, true), loadIdeal: R.idealWavefronts(request, true), store: R.wavefronts(request, false),
          storeIdeal: R.idealWavefronts(request, false) };
      },
      lanes: (v) => {
        const request = { bytes: v.bytes, address: v.elements.map((element) => (element < 0 ? null : element * v.bytes)) };
        return { sectors: R.sectorsOf(request).length, tagPasses: R.tagPasses(request), dataPasses: R.dataPasses(request), load: R.wavefronts(request, true),
          loadIdeal: R.idealWavefronts(request, true), store: R.wavefronts(request, false), storeIdeal: R.idealWavefronts(request, false) };
      },
      atomics: (v) => ({ sectors: R.atomicSectors({ bytes: R.WORD, address: v.elements.map((element) => (element < 0 ? null : element * R.WORD)) }) }),
      tiles: (v) => ({ fetched: R.wordsOfTiles(v.tile, v.n / v.tile), direct: R.wordsWithoutTiles(v.tile, v.n) }),
      shuffles: (v) => ({ values: `[${R.shuffleSums(v.lanes)[v.step].join(',')}]` }),
      csr: (v) => {
        const { requests, sectors, lanes } = R.countCsr(v, v.lanes);
        return { requests, sectors, words: lanes };
      },
      devices: (v) => ({ ...R.DEVICES[v.key], name: R.DEVICES[v.key].name }),
      occupancy: (v) => R.occupancy(R.DEVICES[v.device], v),
      occupancyOfRuntime: (v) => ({ blocks: R.occupancy(byName[v.device], v).blocks }),
      bounds: (v) => R.bounds(R.DEVICES[v.device], v).all,
    };
    const least = { request: 300, banks: 300, lanes: 300, atomics: 300, tiles: 9, shuffles: 18, csr: 300, occupancy: 300, occupancyOfRuntime: 300, bounds: 300, devices: Object.keys(R.DEVICES).length };
    for (const [name, vectors] of Object.entries(all)) {
      if (!rules[name]) { said.push(`${name}: no rule for these vectors`); continue; }
      if (vectors.length < least[name]) said.push(`${name}: ${vectors.length} vectors, fewer than ${least[name]}`);
      const before = said.length;
      let of;
      if (name === 'devices') {  // the simulator's short names, and every card that there is
        const known = vectors.map((v) => v.key);
        for (const key of Object.keys(R.DEVICES)) if (!known.includes(key)) said.push(`devices: the simulator has no ${key}`);
        vectors.filter((v) => !R.DEVICES[v.key]).forEach((v) => said.push(`devices: the page has no ${v.key}`));
        of = compareAll(vectors.filter((v) => R.DEVICES[v.key]), rules.devices, said, name);
      } else of = compareAll(vectors, rules[name], said, name);
      lines.push(`${name}: ${vectors.length} vectors, ${of} numbers compared, ${said.length - before} differ`);
    }
    return { lines, said };
  };

  // What of a report the site shows as an example: without the counters of the whole launch, and with files as they are in the repository.
  root.exampleOf = (report) => report.map(({ counters, as_compiled, derived, ...launch }) => ({ ...launch,
    lines: launch.lines.map((line) => ({ ...line, file: line.file.replace(/^.*?(?=chapters\/)/, '') })) }));
  root.exampleText = (report) => '// Written by tests/explorers/check-rules.sh --write: the report of `explorer_vectors example`.\n'
    + `window.tilewiseExampleReport = ${JSON.stringify(root.exampleOf(report), null, 1)};\n`;

  if (typeof require !== 'function' || typeof process === 'undefined') return;
  const fs = require('fs'), path = require('path');
  require(path.join(__dirname, '../../docs/explorers/rules.js'));
  const write = process.argv[2] === '--write', files = process.argv.slice(write ? 3 : 2);
  if (files.length < 2) {
    console.error('usage: node check-rules.js [--write] REPORT.json VECTORS.json...');
    process.exit(2);
  }
  let wrong = 0;
  const example = path.join(__dirname, '../../docs/explorers/example.js'), text = root.exampleText(JSON.parse(fs.readFileSync(files[0], 'utf8')));
  if (write) fs.writeFileSync(example, text);
  if (!fs.existsSync(example) || fs.readFileSync(example, 'utf8') !== text) {
    console.log('docs/explorers/example.js is not what the simulator reports now: tests/explorers/check-rules.sh --write EXPLORER_VECTORS');
    wrong++;
  }
  for (const file of files.slice(1)) {
    const { lines, said } = root.checkRules(JSON.parse(fs.readFileSync(file, 'utf8')));
    console.log([path.basename(file), ...lines, ...said.slice(0, 20), ...(said.length > 20 ? [`... and ${said.length - 20} more`] : [])].join('\n  '));
    wrong += said.length;
  }
  process.exit(wrong ? 1 : 0);
})(typeof window === 'undefined' ? globalThis : window);
