# SPDX-License-Identifier: Apache-2.0
if(FIRETOWER_SANITIZE)
  add_compile_options(-fsanitize=${FIRETOWER_SANITIZE} -fno-sanitize-recover=all -Wno-maybe-uninitialized)
  add_link_options(-fsanitize=${FIRETOWER_SANITIZE})
endif()
if(FIRETOWER_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()
