# SPDX-License-Identifier: Apache-2.0
option(FIRETOWER_TESTS "Build unit tests, test programs and benches" ON)
option(FIRETOWER_FUZZ "Build the libFuzzer targets (needs clang)" OFF)
option(FIRETOWER_TIDY "Run clang-tidy beside the compiler" OFF)
option(FIRETOWER_COVERAGE "Instrument for line coverage" OFF)
set(FIRETOWER_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them")
set(FIRETOWER_LINKER "" CACHE STRING "Linker for programs of ours, as -fuse-ld= takes it; the compiler's own where it is missing")
find_program(FIRETOWER_LINKER_PROGRAM ld.${FIRETOWER_LINKER})

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Paths below the tree are taken relative, so that every clone of it shares one cache.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
