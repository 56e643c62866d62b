// SPDX-License-Identifier: Apache-2.0
// Field numbers of pprof's messages (github.com/google/pprof/proto/profile.proto).
#pragma once

#include <cstdint>

namespace firetower::profile::pprof_field {

enum Profile : uint32_t {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kString = 6,
  kDropFrames = 7,
  kKeepFrames = 8,
  kTimeNanos = 9,
  kDurationNanos = 10,
  kPeriodType = 11,
  kPeriod = 12,
  kComment = 13,
  kDefaultSampleType = 14,
  kDocUrl = 15,
};

enum ValueType : uint32_t { kType = 1, kUnit = 2 };

enum Sample : uint32_t { kLocationId = 1, kValue = 2, kLabel = 3 };

enum Label : uint32_t { kKey = 1, kStr = 2, kNum = 3, kNumUnit = 4 };

enum Mapping : uint32_t {
  kMappingId = 1,
  kMemoryStart = 2,
  kMemoryLimit = 3,
  kFileOffset = 4,
  kMappingFilename = 5,
  kBuildId = 6,
  kHasFunctions = 7,
  kHasFilenames = 8,
  kHasLineNumbers = 9,
  kHasInlineFrames = 10,
};

enum Location : uint32_t {
  kLocationOwnId = 1,
  kMappingIdOfLocation = 2,
  kLocationAddress = 3,
  kLine = 4,
  kIsFolded = 5,
};

enum Line : uint32_t { kFunctionIdOfLine = 1, kLineNumber = 2, kColumn = 3 };

enum Function : uint32_t {
  kFunctionOwnId = 1,
  kName = 2,
  kSystemName = 3,
  kFilename = 4,
  kStartLine = 5,
};

}  // namespace firetower::profile::pprof_field
