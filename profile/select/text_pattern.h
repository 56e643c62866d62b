// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/result.h"

namespace firetower::profile {

// A regular expression (RE2) that some part of a text may match, as pprof's filters do. Immutable;
// may be shared between threads.
class TextPattern {
 public:
  static constexpr size_t kMaxBytes = 8 << 10;

  // kInvalid: the expression is not valid, or is too long; the message calls it `name`.
  static Result<TextPattern> Create(std::string_view name, std::string_view text);
  // One that is not set: it must not be asked.
  TextPattern() = default;

  bool is_set() const { return compiled_ != nullptr; }
  bool Matches(std::string_view text) const;

 private:
  struct Compiled;  // an RE2, hidden from this header
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace firetower::profile
