// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace firetower::diagnosis {

// The place that a frame has to have for a signature.
enum class Where : uint8_t { kAny, kKernel, kUser };

// A known pathology: how it looks in stacks, its cause, and what to do.
struct Signature {
  std::string name;                // "kernel-spin-lock"
  std::vector<std::string> types;  // profile types by name; `event` stands for all of them
  // From the root on, each stack that matches has a frame for each step, in this order, with others
  // between them. A step is a list of alternatives: function names, in which `*` stands for any
  // characters.
  std::vector<std::vector<std::string>> stack;
  Where where = Where::kAny;
  std::vector<std::string> comms;  // only of processes with one of these names; empty: of all
  double at_least_percent = 0;     // of the total, for it to be told
  std::string cause;
  std::string next;     // what to do, or to look at
  std::string confirm;  // what else would show it; may be empty
};

// Parses a table: {"version": 1, "signatures": [...]}. It is read strictly: an unknown member, a
// wrong type or a missing part is kInvalid, which says which signature and which part it is. At
// most 1,000 signatures and 64 KiB of text.
Result<std::vector<Signature>> ParseSignatures(std::string_view json);

// The table that comes with the program.
const std::vector<Signature>& BuiltInSignatures();

// Tells whether a name matches a pattern, in which `*` stands for any characters.
bool MatchesPattern(std::string_view pattern, std::string_view name);

}  // namespace firetower::diagnosis
