# SPDX-License-Identifier: Apache-2.0
include(GoogleTest)

# Our warnings, clang-tidy when asked for, and includes from the repository root.
function(firetower_target name)
  target_link_libraries(${name} PRIVATE firetower_warnings)
  if(FIRETOWER_TIDY)
    set_target_properties(${name} PROPERTIES
      CXX_CLANG_TIDY "${CLANG_TIDY};--quiet;--warnings-as-errors=*")
  endif()
endfunction()

# Links programs that only tests run with the fast linker; shipped ones are tested as they are shipped.
function(link_fast name)
  if(FIRETOWER_LINKER AND FIRETOWER_LINKER_PROGRAM)
    target_link_options(${name} PRIVATE -fuse-ld=${FIRETOWER_LINKER})
  endif()
endfunction()

# module(NAME SOURCES a.cc… DEPS target… [PRIVATE_DEPS target…]): the static library of one folder.
function(module name)
  cmake_parse_arguments(M "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  if(M_SOURCES)
    add_library(${name} STATIC ${M_SOURCES})
    target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
    target_link_libraries(${name} PUBLIC ${M_DEPS} PRIVATE ${M_PRIVATE_DEPS})
    firetower_target(${name})
    if(FIRETOWER_FUZZ)
      target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${CMAKE_SOURCE_DIR})
    target_link_libraries(${name} INTERFACE ${M_DEPS})
  endif()
endfunction()

# program(NAME SOURCES a.cc… DEPS target…): a binary in bin/.
function(program name)
  cmake_parse_arguments(P "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${P_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${P_DEPS})
  firetower_target(${name})
  if(CMAKE_CURRENT_SOURCE_DIR MATCHES "^${CMAKE_SOURCE_DIR}/tests/")
    link_fast(${name})
  endif()
endfunction()

# Reads GoogleTest and the standard headers that most tests include once for all tests: they take half of a test's
# compile time. GCC alone, since ccache does not share clang's precompiled headers between clones.
function(precompile_test_headers name)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  if(NOT TARGET test_headers)
    file(WRITE ${CMAKE_BINARY_DIR}/test_headers.cc "int main() {}\n")
    add_executable(test_headers EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/test_headers.cc)  # -fPIE, like the tests
    target_link_libraries(test_headers PRIVATE GTest::gtest GTest::gmock)
    set_target_properties(test_headers PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    firetower_target(test_headers)
    target_compile_options(test_headers PRIVATE -O0 -fpch-preprocess)
    target_precompile_headers(test_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h> <chrono> <filesystem> <fstream> <functional>
      <map> <memory> <mutex> <optional> <set> <span> <string> <string_view> <thread> <utility> <vector>)
  endif()
  target_compile_options(${name} PRIVATE -fpch-preprocess)
  target_precompile_headers(${name} REUSE_FROM test_headers)
endfunction()

# The targets that sanitizers run: unit tests and the tests of the BPF programs' logic.
add_custom_target(tests_unit)

# unit_test(NAME SOURCES a_test.cc… DEPS target… [LABEL unit] [TIMEOUT seconds]): GoogleTest cases,
# one ctest entry each.
function(unit_test name)
  cmake_parse_arguments(T "" "LABEL;TIMEOUT" "SOURCES;DEPS" ${ARGN})
  if(NOT T_LABEL)
    set(T_LABEL unit)
  endif()
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 120)
  endif()
  add_executable(${name} ${T_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  # Only files that use the path of the tree get it, because their objects cannot be shared between clones.
  foreach(source ${T_SOURCES})
    file(READ ${source} text)
    if(text MATCHES "FIRETOWER_(SOURCE|BINARY)_DIR")
      set_source_files_properties(${source} PROPERTIES COMPILE_DEFINITIONS
        "FIRETOWER_SOURCE_DIR=\"${CMAKE_SOURCE_DIR}\";FIRETOWER_BINARY_DIR=\"${CMAKE_BINARY_DIR}\"")
    endif()
  endforeach()
  target_link_libraries(${name} PRIVATE ${T_DEPS} GTest::gtest GTest::gmock GTest::gtest_main)
  firetower_target(${name})
  link_fast(${name})
  # Optimizing test code takes as long as all else; what it tests is optimized as ever.
  target_compile_options(${name} PRIVATE -O0)
  if(NOT "${T_SOURCES}" MATCHES "[.]c(;|$)")
    precompile_test_headers(${name})
  endif()
  if(T_LABEL MATCHES "^(unit|bpf)$")
    add_dependencies(tests_unit ${name})
  endif()
  # PRE_TEST: cases are listed when ctest runs, so that a build needs no sanitized start-up.
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST
    PROPERTIES LABELS ${T_LABEL} TIMEOUT ${T_TIMEOUT})
endfunction()
