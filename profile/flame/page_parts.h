// SPDX-License-Identifier: Apache-2.0
// The page of web/flame as it is bundled (cmake/web.cmake) and embedded (cmake/embed_page.cmake).
#pragma once

#include <string_view>

namespace firetower::profile {

extern const std::string_view kPageTemplate;  // with {{name}} where something is to be filled in
extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;
// Hashes in the form of a Content-Security-Policy: "sha256-…".
extern const std::string_view kPageStyleHash;
extern const std::string_view kPageScriptHash;

}  // namespace firetower::profile
