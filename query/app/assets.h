// SPDX-License-Identifier: Apache-2.0
// The web application as it is bundled (cmake/web.cmake) and embedded (cmake/embed_files.cmake).
#pragma once

#include <string_view>

namespace firetower::query {

extern const std::string_view kAppScript;
extern const std::string_view kAppStyle;

}  // namespace firetower::query
