// SPDX-License-Identifier: Apache-2.0
// The members of a speedscope file (www.speedscope.app/file-format-schema.json), as they are in the
// JSON. decode.cc interprets them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/import.h"
#include "profile/table/pool.h"

namespace firetower::profile {

// A number. JSON has only one kind; whole numbers are kept exactly.
struct SpeedscopeNumber {
  bool is_whole = false;
  int64_t whole = 0;
  double real = 0;
};

struct SpeedscopeFrame {
  std::string name = {};
  std::string file = {};
  int64_t line = 0;
  int64_t column = 0;
};

// An event: a frame is entered or left.
struct SpeedscopeEvent {
  bool enters = false;
  uint32_t frame = 0;
  SpeedscopeNumber at = {};
};

struct SpeedscopeProfile {
  std::string type = {};  // sampled or evented
  std::string name = {};
  std::string unit = {};
  Pool<uint32_t> samples = {};  // frames, root first
  std::vector<SpeedscopeNumber> weights = {};
  std::vector<SpeedscopeEvent> events = {};
};

struct SpeedscopeFile {
  std::string exporter = {};
  std::vector<SpeedscopeFrame> frames = {};
  std::vector<SpeedscopeProfile> profiles = {};
};

// Reads a file and ignores unknown members. kCorrupt: the text is no JSON, or a member contradicts
// the schema. Indices of frames are not checked.
Result<SpeedscopeFile> ReadSpeedscopeJson(std::string_view text, const ImportLimits& limits);

}  // namespace firetower::profile
