// A sum over the lanes of a warp by shuffles, step by step (lesson 06).
'use strict';
(function (root) {
  const { shuffleSums } = root.tilewiseRules, { define, Drawing, count, some } = root.tilewiseExplorers;
  const stepsOf = (lanes) => Math.log2(lanes);

  function picture({ lanes, step }, room) {
    const names = room >= 620 ? 92 : 0, cell = Math.min(44, Math.floor((room - names - 2) / lanes)), high = 24, gap = 30;
    const drawing = new Drawing(room), values = shuffleSums(lanes), x = (lane) => names + lane * cell;
    const written = cell >= 24;
    for (let lane = 0; lane < lanes; lane += cell >= 17 ? 1 : 4) drawing.text(x(lane) + cell / 2, 13, lane, 'mid small faint');
    if (names) drawing.text(0, 13, 'lane', 'small faint');
    values.forEach((row, s) => {
      const y = 20 + s * (high + gap), apart = lanes >> s, shown = s <= step;
      if (names) drawing.text(0, y + 16, s === 0 ? 'at first' : `apart = ${apart}`, shown ? 'small' : 'small faint');
      row.forEach((value, lane) => {
        const useful = lane < apart;
        drawing.rect(x(lane) + 1, y, cell - 2, high, !shown ? 'word' : useful ? (s === step && s > 0 ? 'part1' : 'part0') : 'sector');
        if (shown && written) drawing.text(x(lane) + cell / 2, y + 16, value, useful ? 'mid small' : 'mid small faint');
        if (shown && s > 0 && useful) {
          drawing.line([[x(lane + apart) + cell / 2, y - gap], [x(lane) + cell / 2 + 3, y - 1]], s === step ? 'way now' : 'way');
          drawing.line([[x(lane) + cell / 2, y - gap], [x(lane) + cell / 2, y - 1]], s === step ? 'way now' : 'way');
        }
      });
    });
    return drawing;
  }

  define({
    name: 'reduction',
    title: 'Step through it: a sum by shuffles',
    tableTitle: 'The values as a table',
    controls: [
      { key: 'lanes', label: 'Lanes per row', type: 'choice', value: 8, choices: [[4, '4'], [8, '8'], [16, '16'], [32, '32, a whole warp']] },
      { key: 'step', label: 'Step', type: 'step', value: 1, min: 0, max: (state) => stepsOf(state.lanes) },
    ],
    view(state, room) {
      const { lanes, step } = state, values = shuffleSums(lanes), apart = lanes >> step, total = lanes * (lanes + 1) / 2;
      const says = step === 0
        ? `Each of ${lanes} lanes has a part of the sum; here lane i has i + 1. Together they are ${count(total)}.`
        : step < stepsOf(lanes)
          ? `Lanes 0 to ${apart - 1} add what the lane ${apart} further on has. The rest add, too, because all lanes take part in a shuffle, but their sums (grey) aren't used.`
          : `Lane 0 adds what lane 1 has, and now it has the sum of all ${lanes}: ${count(total)}. ${some(step, 'shuffle')} and additions, where one lane alone would add ${lanes - 1} times.`;
      return {
        picture: picture(state, room).markup(says),
        says,
        facts: [['Step', `${step} of ${stepsOf(lanes)}`], ['Apart', step ? some(apart, 'lane') : 'not yet'], ['Lane 0 has', count(values[step][0])],
          ['Of the sum', `${Math.round(100 * values[step][0] / total)} %`], ['Shared memory', '0 bytes']],
        table: {
          caption: 'What each lane has after each step',
          head: ['Lane', 'at first', ...values.slice(1, step + 1).map((_, s) => `apart = ${lanes >> (s + 1)}`)],
          rows: values[0].map((_, lane) => [String(lane), ...values.slice(0, step + 1).map((row) => count(row[lane]))]),
        },
      };
    },
  });
})(typeof window === 'undefined' ? globalThis : window);
