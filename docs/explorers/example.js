// Written by tests/explorers/check-rules.sh --write: the report of `explorer_vectors example`.
window.tilewiseExampleReport = [
 {
  "kernel": "transpose_strided_write(float const*, float*, int, int)",
  "grid": [
   3,
   8,
   1
  ],
  "block": [
   32,
   8,
   1
  ],
  "dynamic_shared_bytes": 0,
  "static_shared_bytes": 0,
  "occupancy": {
   "blocks_per_sm": 8,
   "warps_per_sm": 64,
   "limit": "threads",
   "registers_per_thread": 12,
   "local_bytes_per_thread": 0
  },
  "bound": {
   "device": "H200",
   "seconds": 3.636363636363636e-8,
   "by": "L1 tags",
   "all": {
    "L1 tags": 3.636363636363636e-8,
    "load/store": 8.080808080808081e-9,
    "L1 data": 4.0404040404040405e-9,
    "L2": 4.0404040404040405e-9,
    "issue": 2.0202020202020203e-9
   },
   "not_a_bound": {
    "bytes_in_flight_with_one_load_per_thread": 1024,
    "bytes_in_flight_that_dram_needs": 12218.12
   }
  },
  "lines": [
   {
    "file": "chapters/04_transpose/transpose.cuh",
    "line": 58,
    "memory": "global",
    "access": "load",
    "bytes_per_thread": 4,
    "instructions": 192,
    "threads": 6144,
    "instructions_with_idle_threads": 0,
    "sectors": 768,
    "sectors_ideal": 768,
    "l1_tag_passes": 192,
    "l1_data_passes": 192,
    "worst_request": {
     "address": 512,
     "lanes": "0 4 8 12 16 20 24 28 32 36 40 44 48 52 56 60 64 68 72 76 80 84 88 92 96 100 104 108 112 116 120 124"
    }
   },
   {
    "file": "chapters/04_transpose/transpose.cuh",
    "line": 58,
    "memory": "global",
    "access": "store",
    "bytes_per_thread": 4,
    "instructions": 192,
    "threads": 6144,
    "instructions_with_idle_threads": 0,
    "sectors": 6144,
    "sectors_ideal": 768,
    "l1_tag_passes": 1536,
    "l1_data_passes": 6144,
    "diagnosis": "32 sectors where 4 would do: neighbouring threads are 256 bytes apart; 32 passes through L1's banks, 8 if they were 65 words apart",
    "worst_request": {
     "address": 25600,
     "lanes": "0 256 512 768 1024 1280 1536 1792 2048 2304 2560 2816 3072 3328 3584 3840 4096 4352 4608 4864 5120 5376 5632 5888 6144 6400 6656 6912 7168 7424 7680 7936"
    }
   }
  ],
  "findings": []
 },
 {
  "kernel": "void transpose_tile<32>(float const*, float*, int, int)",
  "grid": [
   3,
   2,
   1
  ],
  "block": [
   32,
   32,
   1
  ],
  "dynamic_shared_bytes": 0,
  "static_shared_bytes": 4096,
  "occupancy": {
   "blocks_per_sm": 2,
   "warps_per_sm": 64,
   "limit": "threads",
   "registers_per_thread": 14,
   "local_bytes_per_thread": 0
  },
  "bound": {
   "device": "H200",
   "seconds": 5.494949494949495e-7,
   "by": "L1 data",
   "all": {
    "L1 data": 5.494949494949495e-7,
    "load/store": 6.464646464646465e-8,
    "L1 tags": 3.2323232323232324e-8,
    "issue": 1.6161616161616162e-8,
    "L2": 1.6161616161616162e-8
   },
   "not_a_bound": {
    "bytes_in_flight_with_one_load_per_thread": 4096,
    "bytes_in_flight_that_dram_needs": 12218.12
   }
  },
  "lines": [
   {
    "file": "chapters/04_transpose/transpose.cuh",
    "line": 93,
    "memory": "global",
    "access": "load",
    "bytes_per_thread": 4,
    "instructions": 192,
    "threads": 6144,
    "instructions_with_idle_threads": 0,
    "sectors": 768,
    "sectors_ideal": 768,
    "l1_tag_passes": 192,
    "l1_data_passes": 192,
    "worst_request": {
     "address": 512,
     "lanes": "0 4 8 12 16 20 24 28 32 36 40 44 48 52 56 60 64 68 72 76 80 84 88 92 96 100 104 108 112 116 120 124"
    }
   },
   {
    "file": "chapters/04_transpose/transpose.cuh",
    "line": 93,
    "memory": "shared",
    "access": "store",
    "bytes_per_thread": 4,
    "instructions": 192,
    "threads": 6144,
    "instructions_with_idle_threads": 0,
    "wavefronts": 192,
    "wavefronts_ideal": 192,
    "worst_request": {
     "address": 0,
     "lanes": "0 4 8 12 16 20 24 28 32 36 40 44 48 52 56 60 64 68 72 76 80 84 88 92 96 100 104 108 112 116 120 124"
    }
   },
   {
    "file": "chapters/04_transpose/transpose.cuh",
    "line": 100,
    "memory": "global",
    "access": "store",
    "bytes_per_thread": 4,
    "instructions": 192,
    "threads": 6144,
    "instructions_with_idle_threads": 0,
    "sectors": 768,
    "sectors_ideal": 768,
    "l1_tag_passes": 192,
    "l1_data_passes": 192,
    "worst_request": {
     "address": 25600,
     "lanes": "0 4 8 12 16 20 24 28 32 36 40 44 48 52 56 60 64 68 72 76 80 84 88 92 96 100 104 108 112 116 120 124"
    }
   },
   {
    "file": "chapters/04_transpose/transpose.cuh",
    "line": 100,
    "memory": "shared",
    "access": "load",
    "bytes_per_thread": 4,
    "instructions": 192,
    "threads": 6144,
    "instructions_with_idle_threads": 0,
    "wavefronts": 6144,
    "wavefronts_ideal": 192,
    "diagnosis": "32-way bank conflict: stride 32 words",
    "worst_request": {
     "address": 0,
     "lanes": "0 128 256 384 512 640 768 896 1024 1152 1280 1408 1536 1664 1792 1920 2048 2176 2304 2432 2560 2688 2816 2944 3072 3200 3328 3456 3584 3712 3840 3968"
    }
   }
  ],
  "findings": []
 },
 {
  "kernel": "void transpose_padded<32>(float const*, float*, int, int)",
  "grid": [
   3,
   2,
   1
  ],
  "block": [
   32,
   32,
   1
  ],
  "dynamic_shared_bytes": 0,
  "static_shared_bytes": 4224,
  "occupancy": {
   "blocks_per_sm": 2,
   "warps_per_sm": 64,
   "limit": "threads",
   "registers_per_thread": 14,
   "local_bytes_per_thread": 0
  },
  "bound": {
   "device": "H200",
   "seconds": 6.464646464646465e-8,
   "by": "load/store",
   "all": {
    "load/store": 6.464646464646465e-8,
    "L1 data": 4.8484848484848486e-8,
    "L1 tags": 3.2323232323232324e-8,
    "issue": 1.6161616161616162e-8,
    "L2": 1.6161616161616162e-8
   },
   "not_a_bound": {
    "bytes_in_flight_with_one_load_per_thread": 4096,
    "bytes_in_flight_that_dram_needs": 12218.12
   }
  },
  "lines": [
   {
    "file": "chapters/04_transpose/transpose.cuh",
    "line": 121,
    "memory": "global",
    "access": "load",
    "bytes_per_thread": 4,
    "instructions": 192,
    "threads": 6144,
    "instructions_with_idle_threads": 0,
    "sectors": 768,
    "sectors_ideal": 768,
    "l1_tag_passes": 192,
    "l1_data_passes": 192,
    "worst_request": {
     "address": 512,
     "lanes": "0 4 8 12 16 20 24 28 32 36 40 44 48 52 56 60 64 68 72 76 80 84 88 92 96 100 104 108 112 116 120 124"
    }
   },
   {
    "file": "chapters/04_transpose/transpose.cuh",
    "line": 121,
    "memory": "shared",
    "access": "store",
    "bytes_per_thread": 4,
    "instructions": 192,
    "threads": 6144,
    "instructions_with_idle_threads": 0,
    "wavefronts": 192,
    "wavefronts_ideal": 192,
    "worst_request": {
     "address": 0,
     "lanes": "0 4 8 12 16 20 24 28 32 36 40 44 48 52 56 60 64 68 72 76 80 84 88 92 96 100 104 108 112 116 120 124"
    }
   },
   {
    "file": "chapters/04_transpose/transpose.cuh",
    "line": 126,
    "memory": "global",
    "access": "store",
    "bytes_per_thread": 4,
    "instructions": 192,
    "threads": 6144,
    "instructions_with_idle_threads": 0,
    "sectors": 768,
    "sectors_ideal": 768,
    "l1_tag_passes": 192,
    "l1_data_passes": 192,
    "worst_request": {
     "address": 25600,
     "lanes": "0 4 8 12 16 20 24 28 32 36 40 44 48 52 56 60 64 68 72 76 80 84 88 92 96 100 104 108 112 116 120 124"
    }
   },
   {
    "file": "chapters/04_transpose/transpose.cuh",
    "line": 126,
    "memory": "shared",
    "access": "load",
    "bytes_per_thread": 4,
    "instructions": 192,
    "threads": 6144,
    "instructions_with_idle_threads": 0,
    "wavefronts": 192,
    "wavefronts_ideal": 192,
    "worst_request": {
     "address": 0,
     "lanes": "0 132 264 396 528 660 792 924 1056 1188 1320 1452 1584 1716 1848 1980 2112 2244 2376 2508 2640 2772 2904 3036 3168 3300 3432 3564 3696 3828 3960 4092"
    }
   }
  ],
  "findings": []
 }
];
