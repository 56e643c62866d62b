// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace firetower {

// The candidate nearest to a misspelt `word` (at most a third of its letters differ, insertions,
// deletions and changes counted), or "" when none is near. Costs |word| × |candidate| a candidate;
// words longer than 64 bytes get no suggestion.
std::string_view NearestName(std::string_view word, std::span<const std::string_view> candidates);

// "; did you mean 'X'?", or "" when no candidate is near: the tail of an error message.
std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace firetower
