// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"

namespace firetower::profile {

// A function beside another one, and the value of the samples in which the two follow each other.
struct Neighbour {
  std::string function = {};
  std::string module = {};  // the binary's path; may be empty
  int64_t value = 0;
};

// A function with its callers and callees, as `go tool pprof -peek` shows it.
struct PeekedFunction {
  std::string function = {};
  std::string module = {};
  int64_t self = 0;
  int64_t total = 0;
  // By value, falling, then by name. Recursion counts once a sample. Callers have `total` together,
  // less what has none; callees `total` less `self`, and more where one calls several.
  std::vector<Neighbour> callers = {};
  std::vector<Neighbour> callees = {};
};

struct Peeked {
  ValueType value_type = {};
  int64_t total = 0;                           // over all samples
  std::vector<PeekedFunction> functions = {};  // by total, falling, then by name
};

// Returns the functions whose name, file or binary `function` (RE2) matches in some part, at most
// `limit` (0: all). `value_index` must be below sample_types().size(). kInvalid: the expression is
// not valid.
Result<Peeked> Peek(const Profile& profile, uint32_t value_index, const std::string& function,
                    size_t limit = 0);

}  // namespace firetower::profile
