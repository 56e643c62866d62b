# SPDX-License-Identifier: Apache-2.0
if(FIRETOWER_SANITIZE)
  add_compile_options(-fsanitize=${FIRETOWER_SANITIZE} -fno-sanitize-recover=all -Wno-maybe-uninitialized)
  add_link_options(-fsanitize=${FIRETOWER_SANITIZE})
endif()
# In every test's environment; only programs built with TSan look at it.
set(FIRETOWER_TSAN_OPTIONS TSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/cmake/tsan.supp)
if(FIRETOWER_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()
