# SPDX-License-Identifier: Apache-2.0
# embed_files(TARGET OUTPUT x.cc HEADER path.h NAMESPACE ns FILES kName=path…): files as constants of type
# std::string_view, which the header declares. Run with -P it writes that source.
set(EMBED_FILES_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(embed_files target)
  cmake_parse_arguments(E "" "OUTPUT;HEADER;NAMESPACE" "FILES" ${ARGN})
  string(JOIN "|" files ${E_FILES})
  set(paths ${E_FILES})
  list(TRANSFORM paths REPLACE "^[^=]*=" "")
  add_custom_command(OUTPUT ${E_OUTPUT}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${E_OUTPUT} -DHEADER=${E_HEADER} -DNAMESPACE=${E_NAMESPACE}
            "-DFILES=${files}" -P ${EMBED_FILES_SCRIPT}
    DEPENDS ${paths} ${EMBED_FILES_SCRIPT} VERBATIM)
  target_sources(${target} PRIVATE ${E_OUTPUT})
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  file(WRITE ${OUTPUT}.new "// Made by cmake/embed_files.cmake.\n"
    "// Longer than the standard asks of every compiler; GCC and Clang take it.\n"
    "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n\n")
  string(REPLACE "|" ";" files "${FILES}")
  foreach(file IN LISTS files)
    string(FIND "${file}" "=" at)
    string(SUBSTRING "${file}" 0 ${at} name)
    math(EXPR at "${at} + 1")
    string(SUBSTRING "${file}" ${at} -1 path)
    file(READ ${path} text)
    if(text MATCHES "\\)FILE\"")
      message(FATAL_ERROR "${path} ends its own literal")
    endif()
    file(APPEND ${OUTPUT}.new "const std::string_view ${name} = R\"FILE(${text})FILE\";\n")
  endforeach()
  file(APPEND ${OUTPUT}.new "\n}  // namespace ${NAMESPACE}\n")
  file(RENAME ${OUTPUT}.new ${OUTPUT})
endif()
