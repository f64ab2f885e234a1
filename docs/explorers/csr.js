// Which lane works on which row of a sparse matrix, and what the loads touch (lesson 06).
'use strict';
(function (root) {
  const R = root.tilewiseRules, { define, Drawing, count, some } = root.tilewiseExplorers;
  const ROWS = 64, COLUMNS = 4096;

  function random(seed) {  // the same numbers in every browser
    let x = seed;
    return () => { x = (Math.imul(x, 1664525) + 1013904223) >>> 0; return x / 2 ** 32; };
  }
  const LENGTHS = {
    alike: (mean) => () => mean,
    uneven: (mean) => { const next = random(mean); return () => Math.floor(next() * (2 * mean + 1)); },
    one: (mean) => (row) => (row === 5 ? Math.min(40 * mean, 400) : mean),
    growing: (mean) => (row) => Math.round(2 * mean * row / (ROWS - 1)),
  };
  function matrixOf({ lengths, mean, spread }) {
    const lengthOf = LENGTHS[lengths](mean), next = random(7), rowPtr = [0], columns = [];
    for (let row = 0; row < ROWS; row++) {
      const length = lengthOf(row);
      for (let j = 0; j < length; j++) {
        columns.push(spread === 'band' ? Math.min(COLUMNS - 1, Math.max(0, row + 512 + j - (length >> 1))) : Math.floor(next() * COLUMNS));
      }
      rowPtr.push(columns.length);
    }
    return { rowPtr, columns };
  }

  // Of one warp, for each step of the loop: which lanes take part, and the sectors of `values` and of x.
  function stepsOf(matrix, lanes, warp) {
    const steps = [];
    R.warpOfCsr(matrix, lanes, warp, (array, step, address) => {
      if (array !== 'values' && array !== 'x') return;
      const sectors = R.sectorsOf({ bytes: R.WORD, address }).length;
      if (array === 'values') steps.push({ address, values: sectors, x: 0 }); else steps[step].x = sectors;
    });
    return steps;
  }

  function picture(state, matrix, steps, room) {
    const wide = room >= 620, names = wide ? 64 : 36, tail = wide ? 110 : 44, per = state.lanes || 1;
    const cell = Math.min(20, Math.floor((room - names - tail) * 2 / R.LANES) / 2), x = (lane) => names + lane * cell;
    const tall = steps.length <= 14 ? 18 : steps.length <= 32 ? 12 : Math.max(1, Math.floor(3600 / steps.length) / 10);
    const drawing = new Drawing(room), numbered = cell >= 15 && tall >= 12;
    drawing.text(names - 6, 13, 'lane', 'end small');
    for (const lane of [0, 8, 16, 24, 31]) drawing.text(x(lane) + cell / 2, 13, lane, 'mid small faint');
    drawing.text(x(R.LANES) + 8, 13, wide ? 'sectors of values' : 'sect.', 'small');
    steps.forEach((step, s) => {
      const y = 20 + s * tall, marked = tall >= 12 || s % Math.ceil(14 / tall) === 0;
      if (marked) drawing.text(names - 6, y + Math.min(12, tall + 2), wide ? `step ${s + 1}` : s + 1, 'end small');
      for (let lane = 0; lane < R.LANES; lane++) {
        const row = Math.floor((state.warp * R.LANES + lane) / per), at = step.address[lane];
        drawing.rect(x(lane), y, cell - (tall > 4 ? 1 : 0), tall - (tall > 4 ? 1 : 0), at === null ? 'sector' : `part${row % 4}`);
        if (at !== null && numbered && (per === 1 || lane % per === 0)) drawing.text(x(lane) + cell / 2, y + tall - 4, row, 'mid small');
      }
      if (marked) drawing.text(x(R.LANES) + 8, y + Math.min(12, tall + 2), step.values, 'small');
    });
    if (!steps.length) drawing.text(names, 34, 'this warp has no nonzeros', 'small');
    return drawing;
  }

  const KERNELS = [0, 2, 4, 8, 16, 32], nameOf = (lanes) => (lanes ? `spmv_vector<${lanes}>` : 'spmv_scalar');
  define({
    name: 'csr',
    title: 'Try it: which lane takes which nonzeros',
    tableTitle: 'All kernels on this matrix',
    controls: [
      { key: 'lengths', label: 'The 64 rows are', type: 'choice', value: 'alike', choices: [['alike', 'all as long'], ['uneven', 'of random length'],
        ['one', 'all as long, but row 5 is 40 times as long'], ['growing', 'longer and longer']] },
      { key: 'mean', label: 'Nonzeros in a row', unit: 'mean', type: 'number', value: 5, min: 1, max: 40 },
      { key: 'spread', label: 'Their columns', type: 'choice', value: 'band', choices: [['band', 'around the diagonal'], ['random', 'anywhere among 4,096']] },
      { key: 'lanes', label: 'Kernel', type: 'choice', value: 0, choices: KERNELS.map((lanes) => [lanes, lanes ? `${lanes} lanes per row` : 'one thread per row']) },
      { key: 'warp', label: 'Warp', type: 'number', value: 0, min: 0, max: (state) => ROWS * (state.lanes || 1) / R.LANES - 1 },
    ],
    presets: [
      ['Short rows, a thread each', { mean: 5, lanes: 0 }], ['Short rows, a warp each', { mean: 5, lanes: 32 }], ['27 nonzeros, a thread each', { mean: 27, lanes: 0 }],
      ['27 nonzeros, 4 lanes', { mean: 27, lanes: 4 }], ['One long row', { lengths: 'one', mean: 5, lanes: 0 }],
    ],
    view(state, room) {
      const matrix = matrixOf(state), steps = stepsOf(matrix, state.lanes, state.warp), sum = R.countCsr(matrix, state.lanes);
      const slots = steps.length * R.LANES, work = steps.reduce((all, step) => all + step.address.filter((at) => at !== null).length, 0);
      const mean = (n) => n.toFixed(1);
      const says = steps.length
        ? `Warp ${state.warp} needs ${some(steps.length, 'step')}, and of its 32 lanes ${mean(work / steps.length)} have work in a step: ${Math.round(100 - 100 * work / slots)} % of its time is idle lanes. `
          + `A load of values touches ${mean(steps.reduce((all, step) => all + step.values, 0) / steps.length)} sectors, one of x ${mean(steps.reduce((all, step) => all + step.x, 0) / steps.length)}.`
        : `Warp ${state.warp} has no nonzeros.`;
      return {
        picture: picture(state, matrix, steps, room).markup(says),
        says: says + ' Neighbouring rows have different colours.',
        facts: [['Load requests, all warps', count(sum.requests)], ['Sectors', count(sum.sectors)], ['Sectors per request', mean(sum.sectors / sum.requests)],
          ['Lanes at work', `${mean(sum.lanes / sum.requests)} of 32`], ['Nonzeros', count(matrix.columns.length)]],
        table: {
          caption: 'What the loads of each kernel ask for on this matrix, row_ptr and x included',
          head: ['Kernel', 'Warps', 'Requests', 'Sectors', 'Lanes at work'],
          rows: KERNELS.map((lanes) => {
            const all = R.countCsr(matrix, lanes);
            return [nameOf(lanes), count(R.warpsOfCsr(matrix, lanes)), count(all.requests), count(all.sectors), mean(all.lanes / all.requests)];
          }),
        },
      };
    },
  });
})(typeof window === 'undefined' ? globalThis : window);
