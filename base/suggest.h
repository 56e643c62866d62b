// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace firetower {

// Returns the candidate nearest to a misspelt `word`, or "" if none is near. At most a third of its
// letters may differ; insertions, deletions and changes count. Costs |word| × |candidate| per
// candidate; words longer than 64 bytes get no suggestion.
std::string_view NearestName(std::string_view word, std::span<const std::string_view> candidates);

// Returns the end of an error message, "; did you mean 'X'?", or "" when no candidate is near.
std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace firetower
