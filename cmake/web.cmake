# SPDX-License-Identifier: Apache-2.0
# Bundles web/ with esbuild: FIRETOWER_WEB_BUILD then has app.js, app.css, flame.js and flame.css.
set(FIRETOWER_WEB_BUILD ${CMAKE_BINARY_DIR}/web)
file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/*)
add_custom_command(
  OUTPUT ${FIRETOWER_WEB_BUILD}/app.js ${FIRETOWER_WEB_BUILD}/app.css
         ${FIRETOWER_WEB_BUILD}/flame.js ${FIRETOWER_WEB_BUILD}/flame.css
  COMMAND ${CMAKE_SOURCE_DIR}/web/build ${FIRETOWER_WEB_BUILD}
  DEPENDS ${web_sources}
  COMMENT "Web application" VERBATIM)
# Its files are of no folder's own: who embeds them depends on this target.
add_custom_target(web_bundle DEPENDS ${FIRETOWER_WEB_BUILD}/app.js ${FIRETOWER_WEB_BUILD}/app.css
                                     ${FIRETOWER_WEB_BUILD}/flame.js ${FIRETOWER_WEB_BUILD}/flame.css)
