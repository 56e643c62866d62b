// SPDX-License-Identifier: Apache-2.0
// Which columns the lines of a file have, and what kind each line is.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "profile/codec/perf/head.h"
#include "profile/codec/text.h"

namespace firetower::profile {

// Ends messages about columns: what to run instead.
inline constexpr std::string_view kPerfOtherFields =
    "run perf script without -F, or with -F comm,pid,tid,time,period,event,ip,sym,dso, or with -F "
    "-comm where a thread has an odd name";

// With fewer samples than these, all names of a file may look like columns that it does not have.
inline constexpr size_t kPerfFewSamples = 8;

enum class PerfLineKind : uint8_t { kBlank, kComment, kFrame, kSource, kHeader, kSideband, kOther };

// Tells the kind of each line of a file; one for a pass, lines in their order.
class PerfLineSorter {
 public:
  explicit PerfLineSorter(const PerfLayout& layout) : layout_(layout) {}

  PerfLineKind Next(std::string_view line);
  // Returns the columns of the line that was read last, if it is a header.
  const PerfHeader& header() const { return header_; }

 private:
  PerfLineKind KindOf(std::string_view line);

  PerfLayout layout_;
  PerfHeader header_;
  PerfLineKind last_ = PerfLineKind::kBlank;
};

// False when text stands behind the columns that is no frame, no known field and no tracepoint's.
bool IsPerfRestKnown(const PerfHeader& header, bool padded);

// Returns the layout that all lines of `text` have, of several the one with most columns; a number
// is that of a thread sooner than a name. An error names the line that has another.
Result<PerfLayout> FindPerfLayout(std::string_view text);

// True for a text that begins as perf script's do. It is not said yet that it can be read.
bool LooksLikePerfScript(std::string_view text);

}  // namespace firetower::profile
