// How many blocks an SM holds, and what runs out first (lesson 08).
'use strict';
(function (root) {
  const R = root.tilewiseRules, { define, Drawing, count, some } = root.tilewiseExplorers;
  const LIMITS = { threads: 'the SM has no room for more threads', blocks: 'the SM takes no more blocks, however small', registers: 'the registers are used up',
    'shared memory': 'the shared memory is used up' };

  const withArticle = (name) => (/^[AEFHILMNORSX]/.test(name) ? 'an ' : 'a ') + name;  // letters are spelled: "an aitch"

  function picture(device, o, warpsOfBlock, room) {
    const across = 16, wide = room >= 620, cell = Math.min(22, Math.floor((wide ? room / 2 - 20 : room) / across)), drawing = new Drawing(room);
    drawing.text(0, 13, `${o.maxWarps} places for warps on an SM`, 'small');
    for (let warp = 0; warp < o.maxWarps; warp++) {
      const x = warp % across * cell, y = 20 + Math.floor(warp / across) * cell, block = Math.floor(warp / warpsOfBlock);
      drawing.rect(x, y, cell - 2, cell - 2, warp < o.warps ? `part${block % 4}` : 'sector');
    }
    const x = wide ? room / 2 + 10 : 0, top = wide ? 0 : 20 + Math.ceil(o.maxWarps / across) * cell + 14, room2 = room - x, names = 104;
    const rows = [['threads', o.byThreads], ['blocks', o.byBlocks], ['registers', o.byRegisters], ['shared memory', o.byShared]];
    drawing.text(x, top + 13, 'Blocks that each allows, alone', 'small');
    rows.forEach(([name, blocks], i) => {
      const y = top + 22 + i * 24, longest = room2 - names - 32, length = longest * Math.min(blocks, device.blocks) / device.blocks;
      drawing.text(x + names - 8, y + 13, name, 'end small').rect(x + names, y, Math.max(length, 1), 18, name === o.limit ? 'bar hot' : 'bar');
      drawing.text(x + names + length + 6, y + 13, blocks, 'small');
    });
    return drawing;
  }

  define({
    name: 'occupancy',
    title: 'Try it: what fits on an SM',
    tableTitle: 'The same kernel on all cards',
    controls: [
      { key: 'device', label: 'Card', type: 'choice', value: 'h200', choices: Object.entries(R.DEVICES).map(([key, device]) => [key, `${device.name} (${device.cc})`]) },
      { key: 'threads', label: 'Block', unit: 'threads', type: 'number', value: 256, min: 1, max: 1024 },
      { key: 'registers', label: 'Registers', unit: 'per thread; 0: not known', type: 'number', value: 32, min: 0, max: 255 },
      { key: 'shared', label: 'Shared memory', unit: 'bytes per block', type: 'number', value: 0, min: 0, max: 232448 },
    ],
    presets: [
      ['tiled_matmul, tile 16', { threads: 256, registers: 32, shared: 2048 }], ['Blocks of 32 threads', { threads: 32, registers: 32 }], ['128 registers', { threads: 256, registers: 128 }],
      ['48 KB of shared memory', { threads: 64, shared: 49152 }], ['1,024 threads on a T4', { device: 't4', threads: 1024, registers: 40 }],
    ],
    view(state, room) {
      const device = R.DEVICES[state.device], o = R.occupancy(device, state), share = Math.round(100 * o.warps / o.maxWarps);
      const says = o.blocks
        ? `An SM of ${withArticle(device.name)} holds ${some(o.blocks, 'block')}, ${some(o.warps, 'warp')} of ${o.maxWarps}: an occupancy of ${share} %. It can't be more because ${LIMITS[o.limit]}.`
        : `Not even one such block fits on ${withArticle(device.name)}: ${o.byRegisters === 0 ? 'it has too many registers' : 'it has too much shared memory'}, and the launch is refused.`;
      return {
        picture: picture(device, o, Math.ceil(state.threads / R.LANES), room).markup(says),
        says,
        facts: [['Resident blocks', count(o.blocks)], ['Resident warps', `${o.warps} of ${o.maxWarps}`], ['Occupancy', `${share} %`], ['Limited by', o.limit],
          ['Registers of the SM', `${count(device.registers)}`], ['Shared memory of the SM', `${count(device.shared)} bytes`]],
        table: {
          caption: 'Resident blocks and warps with these blocks',
          head: ['Card', 'Blocks', 'Warps', 'Occupancy', 'Limited by'],
          rows: Object.values(R.DEVICES).map((card) => {
            const there = R.occupancy(card, state);
            return [card.name, count(there.blocks), `${there.warps} of ${there.maxWarps}`, `${Math.round(100 * there.warps / there.maxWarps)} %`, there.limit];
          }),
        },
      };
    },
  });
})(typeof window === 'undefined' ? globalThis : window);
