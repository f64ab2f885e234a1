// Catch2, version 3 or 2, whichever the distribution has. Include this and nothing else of Catch2.
#pragma once

// CMake says which version it found; without CMake, the headers that are there decide.
#ifndef TILEWISE_CATCH2
#if __has_include(<catch2/catch_all.hpp>)
#define TILEWISE_CATCH2 3
#else
#define TILEWISE_CATCH2 2
#endif
#endif

#define CATCH_CONFIG_FAST_COMPILE  // a check that throws ends its test case
#if TILEWISE_CATCH2 >= 3
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
