// What one request for global memory touches: sectors, cache lines, banks of L1 (lessons 01 and 05).
'use strict';
(function (root) {
  const R = root.tilewiseRules, { define, bankGrid, count, some } = root.tilewiseExplorers;
  const whereFew = [['r32', 'on one row'], ['r16', 'on two rows, 16 on each'], ['r8', 'on four rows, 8 on each'],
    ['c32', 'on one column'], ['c16', 'on two columns, 16 on each'], ['c8', 'on four columns, 8 on each'], ['one', 'all on one element']];
  const manyRows = (state) => !['r32', 'one'].includes(state.where);

  define({
    name: 'request',
    title: 'Try it: what one request touches',
    tableTitle: 'Lane by lane',
    controls: [
      { key: 'where', label: 'The 32 lanes are', type: 'choice', value: 'r32', choices: whereFew },
      { key: 'stride', label: 'Stride', unit: 'elements', type: 'number', value: 1, min: 1, max: 64, when: (state) => state.where !== 'c32' && state.where !== 'one' },
      { key: 'row', label: 'Row length', unit: 'elements', type: 'number', value: 4096, min: 1, max: 8192, when: manyRows },
      { key: 'offset', label: 'Offset', unit: 'elements', type: 'number', value: 0, min: 0, max: 64 },
      { key: 'bytes', label: 'An element has', type: 'choice', value: 4,
        choices: [[1, '1 byte (char)'], [2, '2 bytes (half)'], [4, '4 bytes (float)'], [8, '8 bytes (float2, double)'], [16, '16 bytes (float4)']] },
      { key: 'active', label: 'Lanes that take part', type: 'number', value: 32, min: 1, max: 32 },
    ],
    presets: [
      ['Neighbours', { where: 'r32', stride: 1 }], ['Stride 2', { where: 'r32', stride: 2 }], ['One word late', { where: 'r32', offset: 1 }],
      ['A column, rows of 4096', { where: 'c32', row: 4096 }], ['A column, rows of 4097', { where: 'c32', row: 4097 }], ['float4', { bytes: 16 }],
    ],
    view(state, room) {
      const request = R.globalRequest(state), sectors = R.sectorsOf(request).length, lines = R.linesOf(request).length;
      const tags = R.tagPasses(request), data = R.dataPasses(request);
      const moved = sectors * R.SECTOR, used = new Set(request.address.filter((at) => at !== null)).size * state.bytes;
      const parts = state.bytes <= 4 ? 1 : state.bytes / 4;
      const says = `${some(state.active, 'lane')} x ${some(state.bytes, 'byte')} = ${some(state.active * state.bytes, 'byte')} asked for. They touch ${some(sectors, 'sector')} `
        + `of 32 bytes in ${some(lines, 'cache line')}, so ${some(moved, 'byte')} move, of which ${Math.round(100 * used / moved)} % are used. `
        + `In L1 that takes ${some(tags, 'tag pass', 'tag passes')} and ${some(data, 'data pass', 'data passes')}.`;
      return {
        picture: bankGrid(room, request, { rowName: 'line', sectors: true, parts }).markup(says),
        says,
        facts: [['Sectors', count(sectors)], ['Bytes moved', `${count(moved)} bytes`], ['Of these used', `${Math.round(100 * used / moved)} %`],
          ['Cache lines', count(lines)], ['Tag passes', count(tags)], ['Data passes', count(data)]],
        table: {
          caption: 'The picture as a table: where each lane\'s element lies in the array, which begins at a multiple of 8 MB (tag passes may differ elsewhere)',
          head: ['Lane', 'Element', 'Byte', 'Sector', 'Line', 'Bank'],
          rows: R.every.map((lane) => {
            const at = request.address[lane];
            if (at === null) return [String(lane), 'takes no part', '', '', '', ''];
            return [lane, at / state.bytes, at, Math.floor(at / R.SECTOR), Math.floor(at / R.LINE), Math.floor(at / R.WORD) % R.BANKS].map(count);
          }),
        },
      };
    },
  });
})(typeof window === 'undefined' ? globalThis : window);
