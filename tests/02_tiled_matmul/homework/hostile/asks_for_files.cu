// Asks the compiler which files there are.
// gains: 0 which files there are
// unchecked: 0
#include "homework.cuh"
#if __has_include("/etc/passwd")
#error it is there
#endif
