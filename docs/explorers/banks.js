// What one request for shared memory costs: the banks, padding, the swizzle, wide words (lessons 03 and 04).
'use strict';
(function (root) {
  const R = root.tilewiseRules, { define, bankGrid, count, some } = root.tilewiseExplorers;
  const typeOf = { 4: 'float', 8: 'float2', 16: 'float4' };

  define({
    name: 'banks',
    title: 'Try it: a warp and the banks of shared memory',
    tableTitle: 'Lane by lane',
    controls: [
      { key: 'where', label: 'The 32 lanes are', type: 'choice', value: 'c32', choices: [
        ['r32', 'on one row'], ['r16', 'on two rows, 16 on each'], ['r8', 'on four rows, 8 on each'], ['c32', 'on one column'],
        ['c16', 'on two columns, 16 on each'], ['c8', 'on four columns, 8 on each'], ['one', 'all on one element']] },
      { key: 'words', label: 'Row length', unit: 'words', type: 'number', value: 32, min: 1, max: 128 },
      { key: 'pad', label: 'Padding per row', unit: 'words', type: 'number', value: 0, min: 0, max: 8 },
      { key: 'swizzle', label: 'Where column j of row i lies', type: 'choice', value: 0, choices: [[0, 'at column j'], [1, 'at column j ^ i (XOR swizzle)']] },
      { key: 'column', label: 'First column', unit: 'elements', type: 'number', value: 0, min: 0, max: 31 },
      { key: 'bytes', label: 'An element is a', type: 'choice', value: 4, choices: [[4, 'float, 4 bytes'], [8, 'float2, 8 bytes'], [16, 'float4, 16 bytes']] },
      { key: 'active', label: 'Lanes that take part', type: 'number', value: 32, min: 1, max: 32 },
    ],
    presets: [
      ['tile[32][32], a row', { where: 'r32' }], ['tile[32][32], a column', { where: 'c32' }], ['tile[32][33], a column', { where: 'c32', pad: 1 }],
      ['Swizzled, a column', { where: 'c32', swizzle: 1 }], ['16 x 16 tile, padded', { where: 'c16', words: 16, pad: 1 }],
      ['float4, a column, rows of 36', { where: 'c32', pad: 4, bytes: 16 }],
    ],
    view(state, room) {
      const request = R.sharedRequest(state), parts = state.bytes / 4, length = state.words + state.pad;
      const taking = request.address.filter((at) => at !== null).length;
      if (!R.aligned(request)) {
        const says = `Rows of ${some(length, 'word')} don't work here: a ${typeOf[state.bytes]} has to begin at a multiple of ${state.bytes} bytes, and in the second row it wouldn't. `
          + 'The kernel ends with an error; the simulator calls it misaligned.';
        return { picture: bankGrid(room, request, { rowName: 'row', sectors: false, parts }).markup(says),
          says, facts: [['Passes', 'none: misaligned']], table: null };
      }
      const load = R.wavefronts(request, true), store = R.wavefronts(request, false);
      const ideal = R.idealWavefronts(request, true), depth = Math.max(...R.wordsPerBank(request));
      const outside = state.column + Math.max(...R.every.slice(0, state.active).map((lane) => R.place(state.where, lane)[1])) + 1 > state.words / parts;
      const swizzled = state.swizzle && R.swizzlePeriod(state) < 32 ? ` (The row's number counts modulo ${R.swizzlePeriod(state)} here, so that no word leaves its row.)` : '';
      const says = (load === store ? `A load or a store takes ${some(load, 'pass', 'passes')} (wavefronts)` : `A load takes ${some(load, 'pass', 'passes')} (wavefronts), a store ${store}`)
        + (load > ideal ? `, where ${ideal} would do without conflicts: the busiest bank has ${count(depth)} different words to give.` : ', and there are no bank conflicts.') + swizzled
        + (outside ? ' (The lanes reach past the end of a row, into the next.)' : '');
      return {
        picture: bankGrid(room, request, { rowName: 'row', sectors: false, parts }).markup(says),
        says,
        facts: [['Load', some(load, 'pass', 'passes')], ['Store', some(store, 'pass', 'passes')], ['Without conflicts', some(ideal, 'pass', 'passes')],
          ['Bytes asked for', `${count(taking * state.bytes)} bytes`], ['32 rows take', `${count(32 * length * R.WORD)} bytes`]],
        table: {
          caption: 'The picture as a table: where each lane\'s element lies in shared memory',
          head: ['Lane', 'Row', 'Column', 'Byte', 'First bank'],
          rows: R.every.map((lane) => {
            const at = request.address[lane], [i, j] = R.place(state.where, lane);
            return at === null ? [String(lane), 'takes no part', '', '', ''] : [lane, i, j + state.column, at, Math.floor(at / R.WORD) % R.BANKS].map(count);
          }),
        },
      };
    },
  });
})(typeof window === 'undefined' ? globalThis : window);
