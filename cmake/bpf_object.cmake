# SPDX-License-Identifier: Apache-2.0
# bpf_object(NAME SOURCES x.bpf.c...): clang-compiled CO-RE object, of several sources linked into
# one, and its libbpf skeleton, as an interface library NAME_skel (header NAME.skel.h) that depends
# on both.
find_program(BPF_CLANG NAMES clang-14 clang-19 clang REQUIRED)
find_program(BPF_TOOL NAMES bpftool PATHS /usr/sbin REQUIRED)

function(bpf_object name)
  cmake_parse_arguments(B "" "" "SOURCES" ${ARGN})
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.bpf.o)
  set(skeleton ${CMAKE_CURRENT_BINARY_DIR}/${name}.skel.h)
  set(parts)
  foreach(source ${B_SOURCES})
    get_filename_component(path ${source} ABSOLUTE)
    set(part ${CMAKE_CURRENT_BINARY_DIR}/${name}.${source}.o)
    add_custom_command(OUTPUT ${part}
      COMMAND ${BPF_CLANG} -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_x86
              -Wall -Wextra -Werror -Wno-unused-parameter -Wno-missing-declarations
              -I${CMAKE_SOURCE_DIR} -idirafter /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}
              -MD -MF ${part}.d -MT ${part} -c ${path} -o ${part}
      DEPENDS ${path} DEPFILE ${part}.d COMMENT "BPF ${source}" VERBATIM)
    list(APPEND parts ${part})
  endforeach()
  add_custom_command(OUTPUT ${object}
    COMMAND ${BPF_TOOL} gen object ${object} ${parts}
    DEPENDS ${parts} COMMENT "BPF ${name}" VERBATIM)
  add_custom_command(OUTPUT ${skeleton}
    COMMAND sh -c "${BPF_TOOL} gen skeleton ${object} name ${name}_bpf > ${skeleton}.new && mv ${skeleton}.new ${skeleton}"
    DEPENDS ${object} COMMENT "BPF skeleton ${name}" VERBATIM)
  add_custom_target(${name}_skel_files DEPENDS ${skeleton})
  add_library(${name}_skel INTERFACE)
  add_dependencies(${name}_skel ${name}_skel_files)
  target_include_directories(${name}_skel SYSTEM INTERFACE ${CMAKE_CURRENT_BINARY_DIR})
  target_link_libraries(${name}_skel INTERFACE bpf)
endfunction()
