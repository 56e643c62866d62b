# SPDX-License-Identifier: Apache-2.0
# fuzz_target(NAME SOURCES x_fuzz.cc DEPS target… CORPUS folder): a libFuzzer binary, and a ctest
# entry that runs it over its corpus and FIRETOWER_FUZZ_RUNS inputs more.
set(FIRETOWER_FUZZ_RUNS 100000 CACHE STRING "Inputs a fuzz target is run with under ctest")

add_custom_target(fuzzers)

function(fuzz_target name)
  cmake_parse_arguments(F "" "CORPUS" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${F_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${F_DEPS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  firetower_target(${name})
  add_dependencies(fuzzers ${name})
  get_filename_component(corpus ${F_CORPUS} ABSOLUTE)
  # New finds go to the build tree, never into the seeds.
  set(found ${CMAKE_BINARY_DIR}/fuzz/corpus/${name})
  file(MAKE_DIRECTORY ${found})
  add_test(NAME fuzz.${name} COMMAND ${name} -runs=${FIRETOWER_FUZZ_RUNS} -rss_limit_mb=2048
           -timeout=10 -print_final_stats=1 ${found} ${corpus})
  set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT 1800)
endfunction()
