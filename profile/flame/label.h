// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace firetower::profile {

// Shortens valid UTF-8 to `max_chars` code points, with "…" at its end. Returns "" where less than
// four letters or digits would be left: they would say nothing.
std::string CutEnd(std::string_view text, size_t max_chars);

// Returns what of a function's name fits into `max_chars` code points: the whole of it, else its
// last two scopes, its last one, this without what stands in < >, and that cut at its end.
// web/flame/names.js has the rules of the page, which knows more languages.
std::string LabelFor(std::string_view name, size_t max_chars);

}  // namespace firetower::profile
