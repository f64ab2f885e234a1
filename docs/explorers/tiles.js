// A block of tiled_matmul, step by step (lesson 02).
'use strict';
(function (root) {
  const R = root.tilewiseRules, { define, Drawing, count, some } = root.tilewiseExplorers;
  const N = 8;  // A, B and C have N x N words
  const stepsOf = (state) => N / state.tile * (state.tile + 1) + 1;

  // What step number `step` does: {t, what, k}
  function at({ tile, step }) {
    if (step >= stepsOf({ tile }) - 1) return { t: N / tile - 1, what: 'store', k: tile - 1 };
    const t = Math.floor(step / (tile + 1)), within = step % (tile + 1);
    return within === 0 ? { t, what: 'fetch', k: -1 } : { t, what: 'multiply', k: within - 1 };
  }
  const LINES = [['fetch', 'As[ty][tx] = A[...];  Bs[ty][tx] = B[...];'], ['fetch', '__syncthreads();  // first barrier'],
    ['multiply', '    sum += As[ty][k] * Bs[k][tx];'], ['second', '__syncthreads();  // second barrier'], ['store', 'C[row * N + col] = sum;']];

  function picture(state, now, room) {
    const { tile } = state, row0 = tile, col0 = N - tile;  // the block's tile of C
    const cell = Math.min(22, Math.floor((room - 44) / (2 * N))), gap = 26, left = 4, side = cell * N;
    const drawing = new Drawing(Math.min(room, left + 2 * side + gap + (room >= 700 ? 330 : 4)));
    const matrix = (name, x, y, kindOf) => {
      drawing.text(x, y - 5, name, 'strong');
      for (let i = 0; i < N; i++) for (let j = 0; j < N; j++) drawing.rect(x + j * cell, y + i * cell, cell - 1, cell - 1, kindOf(i, j));
    };
    const inside = (i, from) => i >= from && i < from + tile, k0 = now.t * tile, top = 18, low = top + side + gap;
    const ofA = (i, j) => {
      if (!inside(i, row0)) return 'word';
      if (inside(j, k0)) return now.what === 'multiply' && j === k0 + now.k ? 'part0 using' : 'part0';
      return j < k0 ? 'was0' : 'word';
    };
    const ofB = (i, j) => {
      if (!inside(j, col0)) return 'word';
      if (inside(i, k0)) return now.what === 'multiply' && i === k0 + now.k ? 'part2 using' : 'part2';
      return i < k0 ? 'was2' : 'word';
    };
    matrix('A', left, low, ofA);
    matrix('B', left + side + gap, top, ofB);
    matrix('C', left + side + gap, low, (i, j) => (inside(i, row0) && inside(j, col0) ? (now.what === 'store' ? 'part1 using' : 'part1') : 'word'));
    if (cell >= 15) {  // how many of the N products a sum has
      const products = now.what === 'store' ? N : k0 + now.k + 1;
      for (let i = 0; i < tile; i++) for (let j = 0; j < tile; j++) drawing.text(left + side + gap + (col0 + j + 0.5) * cell - 0.5, low + (row0 + i + 0.5) * cell + 4, products, 'mid small');
    }
    if (room >= 700) {
      LINES.forEach(([what, text], i) => {
        if (what === now.what || (what === 'second' && now.what === 'multiply' && now.k === tile - 1)) drawing.rect(left + 2 * side + gap + 14, low + 4 + i * 22, 312, 21, 'mark');
        drawing.text(left + 2 * side + gap + 22, low + 19 + i * 22, text, 'code');
      });
    }
    return drawing;
  }

  define({
    name: 'tiles',
    title: 'Step through it: one block of the tiled product',
    controls: [
      { key: 'tile', label: 'Tile', type: 'choice', value: 4, choices: [[2, '2 x 2 threads'], [4, '4 x 4 threads']] },
      { key: 'step', label: 'Step', type: 'step', value: 1, min: 0, max: (state) => stepsOf(state) - 1 },
    ],
    view(state, room) {
      const now = at(state), { tile } = state, threads = tile * tile, products = now.what === 'store' ? N : now.t * tile + now.k + 1;
      const fetched = R.wordsOfTiles(tile, now.t + 1), direct = R.wordsWithoutTiles(tile, products), tiles = N / tile;
      const where = `Tile ${now.t + 1} of ${tiles}`;
      const says = now.what === 'fetch'
        ? `${where}: each of the ${threads} threads fetches one word of A and one of B into shared memory. Then comes the first barrier: no thread reads before all words are there.`
        : now.what === 'multiply'
          ? `${where}, k = ${now.k}: each thread multiplies a word of column ${now.k} of As with one of row ${now.k} of Bs. Each of these words serves ${tile} threads.`
            + (now.k === tile - 1 ? ' Then comes the second barrier: no thread fetches the next tile before all have read this one.' : '')
          : `Each thread stores its sum of ${N} products. The block has fetched ${fetched} words; without tiles it would have been ${direct}, ${tile} times as many.`;
      return {
        picture: picture(state, now, room).markup(says),
        says,
        facts: [['Step', `${state.step + 1} of ${stepsOf(state)}`], ['Fetched from A and B', some(fetched, 'word')],
          ['The naive kernel, so far', some(direct, 'word')], ['Read from shared memory', some(direct, 'word')], ['Products per thread', count(products)]],
        table: null,
      };
    },
  });
})(typeof window === 'undefined' ? globalThis : window);
