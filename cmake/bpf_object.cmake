# SPDX-License-Identifier: Apache-2.0
# bpf_object(NAME SOURCE x.bpf.c): clang-compiled CO-RE object and its libbpf skeleton,
# as an interface library NAME_skel (header NAME.skel.h) that depends on both.
find_program(BPF_CLANG NAMES clang-14 clang REQUIRED)
find_program(BPF_TOOL NAMES bpftool PATHS /usr/sbin REQUIRED)

function(bpf_object name)
  cmake_parse_arguments(B "" "SOURCE" "" ${ARGN})
  get_filename_component(source ${B_SOURCE} ABSOLUTE)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.bpf.o)
  set(skeleton ${CMAKE_CURRENT_BINARY_DIR}/${name}.skel.h)
  add_custom_command(OUTPUT ${object}
    COMMAND ${BPF_CLANG} -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_x86
            -Wall -Wextra -Werror -Wno-unused-parameter -Wno-missing-declarations
            -I${CMAKE_SOURCE_DIR} -idirafter /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}
            -MD -MF ${object}.d -MT ${object} -c ${source} -o ${object}
    DEPENDS ${source} DEPFILE ${object}.d COMMENT "BPF ${name}" VERBATIM)
  add_custom_command(OUTPUT ${skeleton}
    COMMAND sh -c "${BPF_TOOL} gen skeleton ${object} name ${name}_bpf > ${skeleton}.new && mv ${skeleton}.new ${skeleton}"
    DEPENDS ${object} COMMENT "BPF skeleton ${name}" VERBATIM)
  add_custom_target(${name}_skel_files DEPENDS ${skeleton})
  add_library(${name}_skel INTERFACE)
  add_dependencies(${name}_skel ${name}_skel_files)
  target_include_directories(${name}_skel SYSTEM INTERFACE ${CMAKE_CURRENT_BINARY_DIR})
  target_link_libraries(${name}_skel INTERFACE bpf)
endfunction()
