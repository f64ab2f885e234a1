// The arithmetic behind the explorers: what a request costs, how many blocks fit, how long a kernel takes at least. Functions
// of numbers, without a page, so that the same file runs in a test: tests/explorers compares every rule here with what the
// simulator counts.
'use strict';
(function (root) {
  const LANES = 32, SECTOR = 32, LINE = 128, BANKS = 32, WORD = 4;
  const every = Array.from({ length: LANES }, (_, lane) => lane);

  const sorted = (numbers) => Array.from(new Set(numbers)).sort((a, b) => a - b);
  const upwards = (value, step) => Math.ceil(value / step) * step;

  // A request is {bytes, address}: `bytes` of one lane, and 32 addresses, null for a lane that takes no part.

  function unitsOf(request, size, lanes) {
    const units = [];
    for (const lane of lanes || every) {
      const at = request.address[lane];
      if (at === null) continue;
      for (let unit = Math.floor(at / size); unit <= Math.floor((at + request.bytes - 1) / size); unit++) units.push(unit);
    }
    return sorted(units);
  }
  const sectorsOf = (request) => unitsOf(request, SECTOR);
  const linesOf = (request) => unitsOf(request, LINE);
  const wordsOf = (request, lanes) => unitsOf(request, WORD, lanes);

  // Different words that each bank is asked for.
  function wordsPerBank(request, lanes) {
    const depth = new Array(BANKS).fill(0);
    for (const word of wordsOf(request, lanes)) depth[word % BANKS]++;
    return depth;
  }
  const busiest = (request, lanes) => Math.max(...wordsPerBank(request, lanes));

  // An atomic instruction is counted with as many sectors as its most wanted word in each has lanes.
  function atomicSectors(request) {
    let total = 0;
    for (const sector of sectorsOf(request)) {
      const wanted = new Map();
      for (const at of request.address) if (at !== null && Math.floor(at / SECTOR) === sector) wanted.set(at, (wanted.get(at) || 0) + 1);
      total += Math.max(0, ...wanted.values());
    }
    return total;
  }

  // ---- L1: the tag stage finds lines, one in each of four banks of tags per pass; the data stage has the 32 banks

  function parity(bits) {
    let odd = 0;
    for (let rest = bits; rest !== 0; rest &= rest - 1) odd ^= 1;
    return odd;
  }
  function tagBank(line) {  // found on an H200, see docs/architecture.md
    const low = line % 0x10000000;
    return parity(low & 0x5ef7ab5) | parity(low & 0xebad5da) << 1;
  }
  function tagPasses(request) {
    const lines = [0, 0, 0, 0];
    for (const line of linesOf(request)) lines[tagBank(line)]++;
    return Math.max(...lines);
  }
  const partsOf = (bytes) => (bytes <= 4 ? 1 : bytes / 4);
  const lanesOfPart = (parts, part) => every.slice(part * LANES / parts, (part + 1) * LANES / parts);
  function dataPasses(request) {  // 8 bytes go in halves of the warp, 16 bytes in quarters
    const parts = partsOf(request.bytes);
    let passes = 0;
    for (let part = 0; part < parts; part++) passes += busiest(request, lanesOfPart(parts, part));
    return passes;
  }

  // ---- shared memory

  // Neighbours at a distance of 1 or 2 want the same, so two parts of the warp may go together. `half`: 'lower' for lanes 0 to
  // 15 of a load of 16 bytes, where idle lanes count as they do on an H200.
  function neighboursAgree(request, lanes, half) {
    const active = (lane) => request.address[lane] !== null;
    if (half === 'lower' && !active(31)) return true;
    return [1, 2].some((distance) => lanes.every((lane) => {
      const other = lane ^ distance;
      if (active(lane) !== active(other)) return half !== 'lower';
      return !active(lane) || request.address[lane] === request.address[other];
    }));
  }
  function sumOfPasses(request, isLoad, pass) {
    const taking = every.filter((lane) => request.address[lane] !== null);
    if (request.bytes <= 4) return pass(every);
    if (isLoad && request.bytes === 16 && taking.length && taking.every((lane) => request.address[lane] === request.address[taking[0]])) {
      return taking.length <= 16 ? 1 : 2;
    }
    const groups = request.bytes <= 8 ? [[every, 'all']] : [[every.slice(0, 16), 'lower'], [every.slice(16), 'upper']];
    let passes = 0;
    for (const [group, half] of groups) {
      if (isLoad && neighboursAgree(request, group, half) && busiest(request, group) <= 1) passes += pass(group);
      else passes += pass(group.slice(0, group.length / 2)) + pass(group.slice(group.length / 2));
    }
    return passes;
  }
  const wavefronts = (request, isLoad) => sumOfPasses(request, isLoad, (lanes) => busiest(request, lanes));
  const idealWavefronts = (request, isLoad) =>
    sumOfPasses(request, isLoad, (lanes) => (lanes.some((lane) => request.address[lane] !== null) ? 1 : 0));

  // ---- who asks for what: the 32 lanes on one row, on two rows of 16, on one column, ...

  const PLACES = { r32: [32, false], r16: [16, false], r8: [8, false], c32: [32, true], c16: [16, true], c8: [8, true], one: [0, false] };
  function place(where, lane) {  // [row, column]
    const [length, down] = PLACES[where];
    if (!length) return [0, 0];
    const along = lane % length, over = Math.floor(lane / length);
    return down ? [along, over] : [over, along];
  }

  // Global memory: an array of `row` elements per row, whose lanes are `stride` elements apart within a row.
  function globalRequest({ where, stride, offset, bytes, row, active }) {
    return { bytes, address: every.map((lane) => {
      if (lane >= active) return null;
      const [i, j] = place(where, lane);
      return (offset + i * row + j * stride) * bytes;
    }) };
  }

  // Shared memory: rows of `words` words and `pad` more; an element has bytes / 4 words. With the swizzle, column j of row i lies
  // at column j ^ (i mod P), and P is the largest power of two that divides the row's length in elements.
  function swizzlePeriod({ words, bytes }) {
    const elements = Math.floor(words * WORD / bytes);
    return Math.max(1, elements & -elements);
  }
  function sharedRequest(state) {
    const { where, words, pad, swizzle, column, bytes, active } = state;
    const period = swizzlePeriod(state);
    return { bytes, address: every.map((lane) => {
      if (lane >= active) return null;
      const [i, along] = place(where, lane);
      const j = along + column;
      return i * (words + pad) * WORD + (swizzle ? j ^ (i % period) : j) * bytes;
    }) };
  }
  const aligned = (request) => request.address.every((at) => at === null || at % request.bytes === 0);

  // ---- CSR: what the loads of spmv_scalar and spmv_vector ask for. rowPtr has one element more than there are rows.

  // Calls one(array, step, address) for each load of one warp; `lanesPerRow` is 0 for one thread per row.
  function warpOfCsr({ rowPtr, columns }, lanesPerRow, warp, one) {
    const rows = rowPtr.length - 1, per = lanesPerRow || 1;
    const rowOf = every.map((lane) => Math.floor((warp * LANES + lane) / per));
    const request = (active, index) => every.map((lane) => (active[lane] ? index(lane) * WORD : null));
    const some = (active) => active.some(Boolean);
    let active = rowOf.map((row) => row < rows);
    if (!some(active)) return;
    one('row_ptr', -1, request(active, (lane) => rowOf[lane]));
    const e = rowOf.map((row, lane) => (active[lane] ? rowPtr[row] + (lanesPerRow ? lane % per : 0) : 0));
    one('row_ptr', -1, request(active, (lane) => rowOf[lane] + 1));
    for (let step = 0; some(active); step++) {
      active = active.map((was, lane) => was && e[lane] < rowPtr[rowOf[lane] + 1]);
      if (!some(active)) return;
      one('values', step, request(active, (lane) => e[lane]));
      one('col_index', step, request(active, (lane) => e[lane]));
      one('x', step, request(active, (lane) => columns[e[lane]]));
      active.forEach((is, lane) => { if (is) e[lane] += per; });
    }
  }
  const warpsOfCsr = ({ rowPtr }, lanesPerRow) => Math.ceil((rowPtr.length - 1) * (lanesPerRow || 1) / LANES);
  function countCsr(matrix, lanesPerRow) {
    const sum = { requests: 0, sectors: 0, lanes: 0 };
    for (let warp = 0; warp < warpsOfCsr(matrix, lanesPerRow); warp++) {
      warpOfCsr(matrix, lanesPerRow, warp, (array, step, address) => {
        sum.requests++;
        sum.sectors += sectorsOf({ bytes: WORD, address }).length;
        sum.lanes += address.filter((at) => at !== null).length;
      });
    }
    return sum;
  }

  // ---- steps: what the lanes have after each `sum += __shfl_down_sync(0xffffffff, sum, apart, lanes)` when lane i begins with i + 1. A
  // lane whose partner would lie outside of the group gets its own value.
  function shuffleSums(lanes) {
    const all = [Array.from({ length: lanes }, (_, lane) => lane + 1)];
    for (let apart = lanes / 2; apart >= 1; apart /= 2) {
      const last = all[all.length - 1];
      all.push(last.map((value, lane) => value + (lane + apart < lanes ? last[lane + apart] : value)));
    }
    return all;
  }
  // Words of A and B that a block of tile x tile threads fetches for so many tiles, and that it would load, without tiles, for so many
  // products of each thread.
  const wordsOfTiles = (tile, tiles) => 2 * tile * tile * tiles;
  const wordsWithoutTiles = (tile, products) => 2 * tile * tile * products;

  // ---- the cards, as the simulator knows them (common/simulator/base/devices.cpp and rates.cpp): a test compares. Rates are
  // per clock and SM where nothing else is said; shared memory is in bytes.
  const KiB = 1024;
  const card = (name, cc, sms, clock, threads, blocks, shared, optIn, reserved, granule, fp32, dram, l2) => ({
    name, cc, sms, clock, threads, blocks, shared: shared * KiB, optIn: optIn * KiB, reserved, granule, fp32, dram, l2,
    registers: 65536, blockThreads: 1024, fp32PerLane: cc === '10.0' ? 2 : 1, issue: 4, memoryIssue: 1, passes: 1 });
  //                     SMs  clock/Hz  threads blocks shared opt-in reserved granule FMA  DRAM bytes/s        L2 bytes
  const DEVICES = {
    v100: card('V100', '7.0', 80, 1.53e9, 2048, 32, 96, 96, 0, 256, 64, 2e3 * 877000 * 4096 / 8, 6 * KiB * KiB),
    t4: card('T4', '7.5', 40, 1.59e9, 1024, 16, 64, 64, 0, 256, 64, 2e3 * 5001000 * 256 / 8, 4 * KiB * KiB),
    a100: card('A100', '8.0', 108, 1.41e9, 2048, 32, 164, 163, KiB, 128, 64, 2e3 * 1593000 * 5120 / 8, 40 * KiB * KiB),
    rtx3090: card('RTX 3090', '8.6', 82, 2.1e9, 1536, 16, 100, 99, KiB, 128, 128, 2e3 * 9751000 * 384 / 8, 6 * KiB * KiB),
    l4: card('L4', '8.9', 58, 2.04e9, 1536, 24, 100, 99, KiB, 128, 128, 2e3 * 6251000 * 192 / 8, 48 * KiB * KiB),
    rtx4090: card('RTX 4090', '8.9', 128, 3.105e9, 1536, 24, 100, 99, KiB, 128, 128, 2e3 * 10501000 * 384 / 8, 72 * KiB * KiB),
    h100: card('H100', '9.0', 132, 1.98e9, 2048, 32, 228, 227, KiB, 128, 128, 2e3 * 2619000 * 5120 / 8, 50 * KiB * KiB),
    h200: card('H200', '9.0', 132, 1.98e9, 2048, 32, 228, 227, KiB, 128, 128, 2e3 * 3201000 * 6016 / 8, 60 * KiB * KiB),
    b200: card('B200', '10.0', 148, 1.965e9, 2048, 32, 228, 227, KiB, 128, 128, 2e3 * 3996000 * 8192 / 8, 126 * KiB * KiB),
  };

  // Blocks of `threads` threads that an SM holds. registers: per thread, 0 for unknown; shared: bytes per block.
  function occupancy(device, { threads, registers, shared }) {
    const warps = Math.ceil(threads / LANES), maxWarps = device.threads / LANES;
    const none = { blocks: 0, warps: 0, maxWarps, limit: 'nothing fits', byBlocks: 0, byThreads: 0, byRegisters: 0, byShared: 0 };
    if (threads <= 0 || threads > device.blockThreads) return none;
    const byBlocks = device.blocks, byThreads = Math.floor(maxWarps / warps);
    let byRegisters = device.blocks, byShared = device.blocks;
    if (registers > 0) {  // each of the four schedulers has a quarter of the registers, handed to warps 256 at a time
      const perWarp = upwards(registers * LANES, 256);
      byRegisters = Math.floor(Math.floor(device.registers / 4 / perWarp) * 4 / warps);
    }
    if (shared > device.optIn) byShared = 0;
    else if (shared + device.reserved > 0) byShared = Math.floor(device.shared / upwards(shared + device.reserved, device.granule));
    const blocks = Math.min(byBlocks, byThreads, byRegisters, byShared);
    const limit = blocks === 0 ? 'nothing fits' : blocks === byThreads ? 'threads' : blocks === byBlocks ? 'blocks'
      : blocks === byRegisters ? 'registers' : 'shared memory';
    return { blocks, warps: blocks * warps, maxWarps, limit, byBlocks, byThreads, byRegisters, byShared };
  }

  // ---- the roofline. Work: flop, bytes of DRAM, warp instructions of the load/store unit, passes through L1 and shared memory.
  function peaks(device) {
    const all = device.sms * device.clock;
    return { flops: 2 * device.fp32 * all, dram: device.dram, shared: BANKS * WORD * all, issue: device.issue * all,
      memoryIssue: device.memoryIssue * all, passes: device.passes * all };
  }
  // Seconds that each part of the card needs at least.
  function bounds(device, { flop, bytes, requests, passes }) {
    const peak = peaks(device);
    const instructions = requests + flop / 2 / device.fp32PerLane / LANES;
    const all = { FP32: flop / peak.flops, DRAM: bytes / peak.dram, issue: instructions / peak.issue,
      'load/store': requests / peak.memoryIssue, 'L1 data': passes / peak.passes };
    const by = Object.keys(all).reduce((a, b) => (all[b] > all[a] ? b : a));
    return { all, by, seconds: all[by] };
  }

  root.tilewiseRules = { LANES, SECTOR, LINE, BANKS, WORD, PLACES, DEVICES, every, sectorsOf, linesOf, wordsOf, wordsPerBank, atomicSectors, tagBank, tagPasses,
    dataPasses, wavefronts, idealWavefronts, place, globalRequest, sharedRequest, swizzlePeriod, aligned, warpOfCsr, warpsOfCsr, countCsr, shuffleSums, wordsOfTiles, wordsWithoutTiles,
    occupancy, peaks, bounds };
})(typeof window === 'undefined' ? globalThis : window);
