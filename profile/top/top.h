// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "profile/profile.h"

namespace firetower::profile {

// A row is a function, or one of its source lines.
enum class TopBy : uint8_t { kFunction, kLine };

struct TopRow {
  std::string function = {};  // Profile::FrameName
  std::string mapping = {};   // file name of the binary, may be empty
  std::string file = {};      // kLine only: of the source; empty, and line 0, where it is not known
  int64_t line = 0;
  int64_t self = 0;         // value of samples that are its own
  int64_t total = 0;        // value of samples it occurs in, counted once a sample
  double self_percent = 0;  // of TopResult::total
  double total_percent = 0;
};

struct TopResult {
  ValueType value_type = {};
  int64_t total = 0;              // over all samples
  size_t functions = 0;           // before the cut to `limit`
  std::vector<TopRow> rows = {};  // by self, then total, falling; then by name
};

// Lists the top functions or lines. OwnFrames tells which one a sample is the own of. `value_index`
// must be below sample_types().size(); limit 0 means all.
TopResult Top(const Profile& profile, uint32_t value_index, size_t limit = 0,
              TopBy by = TopBy::kFunction);

}  // namespace firetower::profile
