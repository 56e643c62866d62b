# SPDX-License-Identifier: Apache-2.0
# fuzz_target(NAME SOURCES x_fuzz.cc DEPS target… CORPUS folder): a libFuzzer binary, and a ctest
# entry that runs it from its corpus on. Where coverage is measured, the corpus alone is run.
add_custom_target(fuzzers)

function(fuzz_target name)
  cmake_parse_arguments(F "" "CORPUS" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${F_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${F_DEPS})
  firetower_target(${name})
  add_dependencies(fuzzers ${name})
  get_filename_component(corpus ${F_CORPUS} ABSOLUTE)
  if(FIRETOWER_FUZZ)
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_test(NAME fuzz.${name} COMMAND ${CMAKE_SOURCE_DIR}/tests/fuzz/run $<TARGET_FILE:${name}> ${corpus})
  else()
    target_sources(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/fuzz/replay.cc)
    add_test(NAME fuzz.${name} COMMAND ${name} ${corpus})
  endif()
  set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT 1800)
endfunction()
