// main() of every test program. Catch2 3 brings its own in a library; Catch2 2 is compiled here, once for all.
#if (defined(TILEWISE_CATCH2) && TILEWISE_CATCH2 < 3) || (!defined(TILEWISE_CATCH2) && !__has_include(<catch2/catch_all.hpp>))
#define CATCH_CONFIG_MAIN
// The simulator explains a bad memory access itself: leave its signal handlers alone.
#define CATCH_CONFIG_NO_POSIX_SIGNALS
#include <catch2/catch.hpp>
#endif
