// SPDX-License-Identifier: Apache-2.0
// Parts of a profile by its functions, with the names and the meaning that they have in
// `go tool pprof`.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"
#include "profile/select/label_filter.h"
#include "profile/select/text_pattern.h"

namespace firetower::profile {

// Regular expressions (RE2) that match some part of a frame's function, file of source or binary;
// empty: not set.
struct StackFilterTexts {
  std::string focus = {};   // only stacks with such a frame
  std::string ignore = {};  // only stacks without one
  std::string hide = {};    // without these frames
  std::string show = {};    // with these frames alone
  // Only samples whose labels match, or do not (profile/select/label_filter.h).
  std::string tag_focus = {};
  std::string tag_ignore = {};
  std::string show_from = {};  // from the outermost of these frames on
  // Turns stacks around first, so that `show_from` begins at the innermost such frame and goes on
  // to its callers.
  bool invert = false;
};

// Immutable; may be shared between threads.
class StackFilter {
 public:
  // kInvalid: an expression is not valid, or is too long; the message names it by its pprof name.
  static Result<StackFilter> Create(const StackFilterTexts& texts);
  StackFilter() = default;

  // True: it leaves every profile as it is.
  bool empty() const { return empty_; }

  // Tells whether labels of that key decide which samples are kept.
  bool AsksForLabel(std::string_view key) const {
    return tag_focus_.AsksFor(key) || tag_ignore_.AsksFor(key);
  }

  // Returns the part of a profile. Whether a stack is focused or ignored is decided by all of its
  // frames, hidden ones, too. A stack without any frame left is dropped.
  Profile Apply(const Profile& profile) const;
  // Tells for each sample whether focus and ignore keep it, those of labels too.
  std::vector<bool> Kept(const Profile& profile) const;

 private:
  enum Rule : uint8_t { kFocus, kIgnore, kHide, kShow, kShowFrom, kRules };
  class Work;

  LabelFilter tag_focus_, tag_ignore_;
  std::array<TextPattern, kRules> patterns_;
  bool invert_ = false;
  bool empty_ = true;
};

}  // namespace firetower::profile
