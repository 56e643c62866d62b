// SPDX-License-Identifier: Apache-2.0
// The compiler's side is cmd/internal/pgo/pprof.go of Go: it takes "samples/count" or
// "cpu/nanoseconds", edges by (caller, line after the caller's first one, callee), and refuses a
// profile in which no function has a first line.
#include "profile/select/pgo.h"

#include <fmt/core.h>

#include <limits>
#include <utility>
#include <vector>

#include "profile/builder.h"

namespace firetower::profile {
namespace {

bool IsNamed(std::string_view path, std::string_view wanted) {
  return path == wanted || (path.ends_with(wanted) && path.size() > wanted.size() &&
                            path[path.size() - wanted.size() - 1] == '/');
}

// The samples of each mapping, by its innermost frame there, and whether its code has lines.
struct MappingUse {
  int64_t samples = 0;
  bool has_lines = false;
};

std::vector<MappingUse> UsesOf(const Profile& profile, uint32_t value) {
  std::vector<MappingUse> uses(profile.mapping_count());
  std::vector<uint32_t> seen(profile.mapping_count(), std::numeric_limits<uint32_t>::max());
  for (uint32_t i = 0; i < profile.sample_count(); ++i) {
    const Sample sample = profile.sample(i);
    for (const uint32_t index : sample.locations) {
      const Location location = profile.location(index);
      if (location.mapping == kNoMapping) continue;
      MappingUse& use = uses[location.mapping];
      for (const Line& line : location.lines)
        use.has_lines = use.has_lines || profile.function(line.function).start_line > 0;
      if (std::exchange(seen[location.mapping], i) != i)
        use.samples = SaturatingAdd(use.samples, sample.values[value]);
    }
  }
  return uses;
}

constexpr std::string_view kWhatToDo =
    "run the agents with --symbols=full, or name the frames here with --symbols full where the "
    "binary or its debug file is";

Result<uint32_t> ChooseMapping(const Profile& profile, const std::vector<MappingUse>& uses,
                               std::string_view binary) {
  uint32_t chosen = kNoMapping;
  bool is_there = false;
  for (uint32_t i = 0; i < uses.size(); ++i) {
    const std::string_view path = profile.string(profile.mapping(i).filename);
    if (!binary.empty() && !IsNamed(path, binary)) continue;
    is_there = true;
    if (!uses[i].has_lines) continue;
    if (chosen == kNoMapping || uses[i].samples > uses[chosen].samples) chosen = i;
  }
  if (chosen != kNoMapping) return chosen;
  if (!binary.empty() && !is_there) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("no binary '{}' is in this profile; 'top functions -o wide' shows "
                             "which are",
                             binary));
  }
  return Error(ErrorCode::kUnsupported,
               fmt::format("{} no first lines of functions, which the Go compiler needs: {}",
                           binary.empty() ? std::string("this profile has")
                                          : fmt::format("the frames of {} have", binary),
                           kWhatToDo));
}

class PgoBuilder {
 public:
  PgoBuilder(const Profile& from, uint32_t mapping)
      : from_(from),
        mapping_(mapping),
        builder_(Meta(from.meta()), {.max_samples = std::numeric_limits<uint32_t>::max(),
                                     .max_bytes = std::numeric_limits<size_t>::max()}) {
    Mapping only = from.mapping(mapping);
    only.filename = builder_.AddString(from.string(only.filename));
    only.build_id = builder_.AddString(from.string(only.build_id));
    new_mapping_ = builder_.AddMapping(only);
    for (uint32_t i = 0; i < from.location_count(); ++i) places_.push_back(PlaceOf(i));
  }

  Profile Build() && {
    std::vector<uint32_t> stack;
    for (uint32_t i = 0; i < from_.sample_count(); ++i) {
      const Sample sample = from_.sample(i);
      stack.clear();
      for (const uint32_t location : sample.locations) {
        if (places_[location] != kGone) stack.push_back(places_[location]);
      }
      if (!stack.empty()) builder_.AddSample(stack, sample.values);
    }
    return std::move(builder_).Build();
  }

 private:
  static constexpr uint32_t kGone = std::numeric_limits<uint32_t>::max();

  uint32_t PlaceOf(uint32_t index) {
    const Location location = from_.location(index);
    if (location.mapping != mapping_ || location.lines.empty()) return kGone;
    std::vector<Line> lines;
    for (const Line& line : location.lines) {
      const Function& function = from_.function(line.function);
      const StringId linker = function.system_name != 0 ? function.system_name : function.name;
      const std::string_view name = from_.string(linker);
      lines.push_back(
          {builder_.AddFunction(name, name, from_.string(function.filename), function.start_line),
           0, line.line});
    }
    return builder_.AddLocation(new_mapping_, location.address, lines);
  }

  const Profile& from_;
  const uint32_t mapping_;
  ProfileBuilder builder_;
  uint32_t new_mapping_ = 0;
  std::vector<uint32_t> places_;  // by location
};

}  // namespace

Result<GoPgo> ForGoPgo(const Profile& profile, std::string_view binary) {
  const uint32_t samples = profile.FindValueIndex("samples");
  if (samples == profile.sample_types().size() ||
      profile.FindValueIndex("cpu") == profile.sample_types().size()) {
    return Error(ErrorCode::kUnsupported, "only CPU profiles tell a compiler what is hot");
  }
  const std::vector<MappingUse> uses = UsesOf(profile, samples);
  ASSIGN_OR_RETURN(const uint32_t mapping, ChooseMapping(profile, uses, binary));
  GoPgo pgo;
  pgo.binary = profile.string(profile.mapping(mapping).filename);
  pgo.samples = uses[mapping].samples;
  pgo.profile = PgoBuilder(profile, mapping).Build();
  return pgo;
}

}  // namespace firetower::profile
