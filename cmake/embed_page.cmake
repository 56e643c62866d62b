# SPDX-License-Identifier: Apache-2.0
# embed_page(TARGET OUTPUT x.cc TEMPLATE a.html STYLE a.css SCRIPTS a.js…): the page's files as the
# constants of profile/flame/page_parts.h in a source of TARGET; the scripts become one, in this order.
# Run with -P it writes that source.
set(EMBED_PAGE_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(embed_page target)
  cmake_parse_arguments(E "" "OUTPUT;TEMPLATE;STYLE" "SCRIPTS" ${ARGN})
  string(JOIN "|" scripts ${E_SCRIPTS})
  add_custom_command(OUTPUT ${E_OUTPUT}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${E_OUTPUT} -DTEMPLATE=${E_TEMPLATE} -DSTYLE=${E_STYLE}
            "-DSCRIPTS=${scripts}" -P ${EMBED_PAGE_SCRIPT}
    DEPENDS ${E_TEMPLATE} ${E_STYLE} ${E_SCRIPTS} ${EMBED_PAGE_SCRIPT}
    COMMENT "Page ${E_TEMPLATE}" VERBATIM)
  target_sources(${target} PRIVATE ${E_OUTPUT})
endfunction()

# The base64 of hexadecimal digits, three bytes at a time.
function(base64_of_hex hex out)
  set(alphabet ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  set(text "")
  string(LENGTH "${hex}" length)
  math(EXPR last "${length} - 1")
  foreach(at RANGE 0 ${last} 6)
    string(SUBSTRING "${hex}" ${at} 6 group)
    string(LENGTH "${group}" digits)
    string(SUBSTRING "${group}000000" 0 6 group)
    math(EXPR value "0x${group}")
    # Two digits make two characters, four make three, six make four; the rest is padding.
    math(EXPR characters "${digits} / 2 + 1")
    foreach(character RANGE 3)
      if(character LESS characters)
        math(EXPR index "(${value} >> (18 - 6 * ${character})) & 63")
        string(SUBSTRING "${alphabet}" ${index} 1 letter)
        string(APPEND text ${letter})
      else()
        string(APPEND text "=")
      endif()
    endforeach()
  endforeach()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

function(append_constant name text)
  if(text MATCHES "\\)PAGE\"")
    message(FATAL_ERROR "${name} ends its own literal")
  endif()
  file(APPEND ${OUTPUT}.new "const std::string_view ${name} = R\"PAGE(${text})PAGE\";\n")
endfunction()

function(append_hash name text)
  string(SHA256 hex "${text}")
  base64_of_hex(${hex} base64)
  append_constant(${name} "sha256-${base64}")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  file(READ ${TEMPLATE} template)
  file(READ ${STYLE} style)
  string(REPLACE "|" ";" scripts "${SCRIPTS}")
  set(script "")
  foreach(path IN LISTS scripts)
    file(READ ${path} text)
    string(APPEND script "${text}")
  endforeach()
  string(TOLOWER "${style}${script}" lower)
  # The elements they stand in would end, and a carriage return would change the hash.
  if(lower MATCHES "</s(cript|tyle)|<!--|\r")
    message(FATAL_ERROR "the page's style or script holds ${CMAKE_MATCH_0}")
  endif()
  file(WRITE ${OUTPUT}.new "// Made by cmake/embed_page.cmake.\n#include \"profile/flame/page_parts.h\"\n\n")
  file(APPEND ${OUTPUT}.new "namespace firetower::profile {\n\n")
  append_constant(kPageTemplate "${template}")
  append_constant(kPageStyle "${style}")
  append_constant(kPageScript "${script}")
  append_hash(kPageStyleHash "${style}")
  append_hash(kPageScriptHash "${script}")
  file(APPEND ${OUTPUT}.new "\n}  // namespace firetower::profile\n")
  file(RENAME ${OUTPUT}.new ${OUTPUT})
endif()
