# SPDX-License-Identifier: Apache-2.0
if(FIRETOWER_SANITIZE)
  # Lines for the reports and no more: a machine that has no cache builds them in two thirds of the time.
  add_compile_options(-O1 -g1)
  add_compile_options(-fsanitize=${FIRETOWER_SANITIZE} -fno-sanitize-recover=all
                      $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  add_link_options(-fsanitize=${FIRETOWER_SANITIZE})
endif()
if(FIRETOWER_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()
