# SPDX-License-Identifier: Apache-2.0
# Warnings for our own targets only; third-party headers come in as SYSTEM.
add_library(firetower_warnings INTERFACE)
target_compile_options(firetower_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
# GCC 13 and newer say so of an optional string that is assigned, without cause.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  target_compile_options(firetower_warnings INTERFACE -Wno-maybe-uninitialized)
endif()
# A frame pointer in every binary of ours: the watch must be able to watch itself cheaply.
add_compile_options(-fno-omit-frame-pointer)
if(FIRETOWER_TIDY)
  find_program(CLANG_TIDY NAMES clang-tidy-14 clang-tidy-19 clang-tidy REQUIRED)
endif()
