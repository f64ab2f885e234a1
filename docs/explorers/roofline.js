// The roofline of a card and a kernel on it, with the bounds of the other parts (lesson 08).
'use strict';
(function (root) {
  const R = root.tilewiseRules, { define, Drawing, short, time } = root.tilewiseExplorers;
  const PARTS = { FP32: 'FP32 arithmetic', DRAM: 'DRAM', issue: 'issuing instructions', 'load/store': 'the load/store unit', 'L1 data': 'the banks of L1 and shared memory' };
  const workOf = (state) => ({ flop: state.gflop * 1e9, bytes: state.gb * 1e9, requests: state.requests * 1e6, passes: state.passes * 1e6 });

  // A product of N x N matrices: 2 N^3 FLOP, and each word of the three matrices to or from DRAM once.
  const product = (N, requestsPerFma, passesPerFma) => ({ gflop: 2 * N ** 3 / 1e9, gb: 3 * N ** 2 * 4 / 1e9,
    requests: Math.round(requestsPerFma * N ** 3 / 32 / 1e6), passes: Math.round(passesPerFma * N ** 3 / 32 / 1e6), took: 0 });

  const X = [-2, 4], Y = [9, 15];  // decades of FLOP per byte and of FLOP/s
  function picture(device, peak, work, bound, state, room) {
    const left = 66, width = Math.min(room, 760), high = Math.max(230, Math.min(340, width * 0.55)), drawing = new Drawing(room);
    const x = (intensity) => left + (width - left - 10) * (Math.min(X[1], Math.max(X[0], Math.log10(intensity))) - X[0]) / (X[1] - X[0]);
    const y = (rate) => 10 + high * (Y[1] - Math.min(Y[1], Math.max(Y[0], Math.log10(rate)))) / (Y[1] - Y[0]);
    for (let decade = X[0]; decade <= X[1]; decade++) {
      drawing.line([[x(10 ** decade), 10], [x(10 ** decade), 10 + high]], 'grid');
      if (width >= 500 || decade % 2 === 0) drawing.text(x(10 ** decade), high + 26, short(10 ** decade), decade === X[1] ? 'end small' : 'mid small');
    }
    for (let decade = Y[0]; decade <= Y[1]; decade++) {
      drawing.line([[left, y(10 ** decade)], [width - 10, y(10 ** decade)]], 'grid');
      drawing.text(left - 6, y(10 ** decade) + 4, short(10 ** decade / 1e9), 'end small');
    }
    drawing.text(left + 4, high + 44, 'FLOP per byte of DRAM', 'small').text(left + 6, 24, 'GFLOP/s', 'small');
    const knee = peak.flops / peak.dram;
    drawing.line([[x(10 ** X[0]), y(peak.dram * 10 ** X[0])], [x(knee), y(peak.flops)], [x(10 ** X[1]), y(peak.flops)]], 'roof');
    drawing.text(left + 6, y(peak.flops) - 6, `peak ${short(peak.flops / 1e9, 5)} GFLOP/s`, 'small faint');
    if (width >= 500) drawing.text(x(knee) + 8, y(peak.flops) + 17, `balance ${short(knee)}`, 'small faint');
    if (work.bytes > 0 && work.flop > 0) {
      const intensity = work.flop / work.bytes;
      drawing.line([[x(intensity), 10], [x(intensity), 10 + high]], 'way');
      const shown = [], parts = Object.entries(bound.all).filter(([, seconds]) => seconds > 0 && work.flop / seconds < 10 ** Y[1]).sort((a, b) => b[1] - a[1]);
      for (const [part, seconds] of parts) {
        const at = y(work.flop / seconds), beside = at + (Math.abs(at - y(peak.flops)) < 8 ? -7 : 4);  // not on the roof
        const near = shown.find((other) => Math.abs(other.beside - beside) < 13);
        if (near) near.names.push(part); else shown.push({ beside, names: [part] });
      }
      for (const { beside, names } of shown) {
        if (x(intensity) > width * 0.6) drawing.text(x(intensity) - 10, beside, names.join(', '), 'end small');
        else drawing.text(x(intensity) + 10, beside, names.join(', '), 'small');
      }
      for (const [part, seconds] of parts.reverse()) drawing.dot(x(intensity), y(work.flop / seconds), part === bound.by ? 6 : 4, part === bound.by ? 'point hot' : 'point');
      if (state.took > 0) drawing.line([[x(intensity) - 9, y(work.flop / (state.took / 1e3))], [x(intensity) + 9, y(work.flop / (state.took / 1e3))]], 'roof');
    }
    return drawing;
  }

  define({
    name: 'roofline',
    title: 'Try it: place a kernel under the roof',
    tableTitle: 'The least time on all cards',
    controls: [
      { key: 'device', label: 'Card', type: 'choice', value: 'h200', choices: Object.entries(R.DEVICES).map(([key, device]) => [key, device.name]) },
      { key: 'gflop', label: 'Arithmetic', unit: 'GFLOP', type: 'number', step: 'any', value: 0.067108864, min: 0, max: 1e9 },
      { key: 'gb', label: 'To and from DRAM', unit: 'GB', type: 'number', step: 'any', value: 0.805306368, min: 0, max: 1e9 },
      { key: 'requests', label: 'Loads and stores', unit: 'million warp instructions', type: 'number', step: 'any', value: 6.291456, min: 0, max: 1e9 },
      { key: 'passes', label: 'Passes through L1 and shared memory', unit: 'million', type: 'number', step: 'any', value: 4.194304, min: 0, max: 1e9 },
      { key: 'took', label: 'It took', unit: 'ms; 0: not measured', type: 'number', step: 'any', value: 0, min: 0, max: 1e9 },
    ],
    presets: [
      ['vector_add, 67 million', { gflop: 2 ** 26 / 1e9, gb: 12 * 2 ** 26 / 1e9, requests: 3 * 2 ** 26 / 32 / 1e6, passes: 2 * 2 ** 26 / 32 / 1e6 }],
      ['naive_matmul, 4096', product(4096, 2, 2)], ['The same, row on x', product(4096, 2, 33)], ['tiled_matmul, 4096', product(4096, 1.375, 1.625)],
    ],
    view(state, room) {
      const device = R.DEVICES[state.device], peak = R.peaks(device), work = workOf(state), bound = R.bounds(device, work);
      const intensity = work.bytes > 0 ? work.flop / work.bytes : Infinity, balance = peak.flops / peak.dram;
      const share = state.took > 0 ? bound.seconds * 1e3 / state.took : 0;
      const says = bound.seconds > 0
        ? `At least ${time(bound.seconds)} on the ${device.name}, because of ${PARTS[bound.by]}.`
          + (work.flop > 0 && work.bytes > 0 ? ` ${short(intensity)} FLOP per byte is ${intensity < balance ? 'left' : 'right'} of the balance (${short(balance)}): of DRAM and arithmetic alone, ${intensity < balance ? 'DRAM' : 'arithmetic'} decides.` : '')
          + (share > 1 ? ` But it took ${state.took} ms, less than it can: something is counted wrong.` : share > 0 ? ` That is ${Math.round(100 * share)} % of the ${state.took} ms it took.` : '')
        : 'No work: put in what the kernel does.';
      return {
        picture: picture(device, peak, work, bound, state, room).markup(says),
        says,
        facts: [...Object.entries(bound.all).sort((a, b) => b[1] - a[1]).map(([part, seconds]) => [part, time(seconds)]),
          ['Peak of arithmetic', `${short(peak.flops / 1e9, 5)} GFLOP/s`], ['Peak of DRAM', `${short(peak.dram / 1e9, 4)} GB/s`]],
        table: {
          caption: 'At least, and because of what. L2, the tags of L1, FP64 and tensor cores are left out here; the simulator counts them.',
          head: ['Card', 'At least', 'Because of'],
          rows: Object.values(R.DEVICES).map((card) => {
            const there = R.bounds(card, work);
            return [card.name, time(there.seconds), there.seconds > 0 ? PARTS[there.by] : ''];
          }),
        },
      };
    },
  });
})(typeof window === 'undefined' ? globalThis : window);
