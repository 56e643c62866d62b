# SPDX-License-Identifier: Apache-2.0
# go_program(NAME FOLDER folder SOURCES a.go… [CGO] FLAGS flag…): tests/go/NAME in the build tree, for
# tests that read what Go's own toolchain writes. Nothing without a Go that knows generics: they skip.
find_program(GO_PROGRAM NAMES go PATHS /usr/local/go/bin)
set(GO_MINOR 0)
if(GO_PROGRAM)
  execute_process(COMMAND ${GO_PROGRAM} env GOVERSION OUTPUT_VARIABLE go_version)
  if(go_version MATCHES "^go1[.]([0-9]+)")
    set(GO_MINOR ${CMAKE_MATCH_1})
  endif()
endif()

add_custom_target(go_programs)

function(go_program name)
  if(GO_MINOR LESS 18)
    return()
  endif()
  cmake_parse_arguments(G "CGO" "FOLDER" "SOURCES;FLAGS" ${ARGN})
  get_filename_component(folder ${G_FOLDER} ABSOLUTE)
  list(TRANSFORM G_SOURCES PREPEND ${folder}/)
  set(output ${CMAKE_BINARY_DIR}/tests/go/${name})
  set(cgo 0)
  if(G_CGO)
    set(cgo 1)
  endif()
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E env --unset=GOFLAGS GO111MODULE=off GOTOOLCHAIN=local
            CGO_ENABLED=${cgo} CC=cc ${GO_PROGRAM} build -trimpath ${G_FLAGS} -o ${output} .
    WORKING_DIRECTORY ${folder} DEPENDS ${G_SOURCES} COMMENT "Go ${name}" VERBATIM)
  add_custom_target(go_${name} DEPENDS ${output})
  add_dependencies(go_programs go_${name})
endfunction()
