// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "profile/builder.h"
#include "profile/codec/folded.h"
#include "profile/codec/speedscope/json.h"
#include "profile/import.h"

namespace firetower::profile {
namespace {

// An evented profile's stacks are as deep as its events go, whatever their number.
constexpr size_t kMaxDepth = 4096;

// A unit of the format, with our own unit and the factor between them.
struct Unit {
  std::string_view name;
  std::string_view type;
  std::string_view unit;
  int64_t factor;
};
constexpr Unit kUnits[] = {
    {"none", "samples", "count", 1},
    {"nanoseconds", "time", "nanoseconds", 1},
    {"microseconds", "time", "nanoseconds", 1'000},
    {"milliseconds", "time", "nanoseconds", 1'000'000},
    {"seconds", "time", "nanoseconds", 1'000'000'000},
    {"bytes", "space", "bytes", 1},
};

// In our unit; false when it does not fit.
bool Scale(const SpeedscopeNumber& number, int64_t factor, int64_t* out) {
  if (number.is_whole) return !__builtin_mul_overflow(number.whole, factor, out);
  const double scaled = std::round(number.real * static_cast<double>(factor));
  if (!(std::fabs(scaled) < 0x1p63)) return false;
  *out = static_cast<int64_t>(scaled);
  return true;
}

class SpeedscopeDecoder {
 public:
  SpeedscopeDecoder(const SpeedscopeFile& file, const ImportLimits& limits)
      : file_(file),
        limits_(limits),
        ours_(file.exporter.starts_with("firetower@")),
        builder_(Meta{},
                 {.max_samples = limits.max_entries, .max_bytes = limits.max_profile_bytes}) {}

  Result<Profile> Decode() {
    std::vector<uint32_t> types;
    std::vector<int64_t> factors;
    for (size_t i = 0; i < file_.profiles.size(); ++i) {
      RETURN_IF_ERROR(AddType(i, &types, &factors));
    }
    for (const SpeedscopeFrame& frame : file_.frames) locations_.push_back(AddFrame(frame));
    values_.resize(builder_.meta().sample_types.size());
    for (number_ = 0; number_ < file_.profiles.size(); ++number_) {
      const SpeedscopeProfile& profile = file_.profiles[number_];
      type_ = types[number_];
      factor_ = factors[number_];
      labels_.clear();
      if (!ours_ && file_.profiles.size() > 1) {
        labels_.push_back(builder_.StringLabel(
            "profile", profile.name.empty() ? std::to_string(number_ + 1) : profile.name));
      }
      RETURN_IF_ERROR(profile.type == "sampled" ? AddSamples(profile) : AddEvents(profile));
    }
    if (builder_.saturated_values() > 0) {
      return Error(ErrorCode::kExhausted, "speedscope: the weights of a stack pass 2^63");
    }
    return std::move(builder_).Build();
  }

 private:
  Error Corrupt(std::string_view what, size_t number, std::string_view why) const {
    return {ErrorCode::kCorrupt,
            fmt::format("speedscope: profile {}, {} {}: {}", number_ + 1, what, number, why)};
  }

  Status AddType(size_t number, std::vector<uint32_t>* types, std::vector<int64_t>* factors) {
    const SpeedscopeProfile& profile = file_.profiles[number];
    if (profile.type != "sampled" && profile.type != "evented") {
      return Error(
          ErrorCode::kCorrupt,
          fmt::format("speedscope: profile {}: its type must be sampled or evented", number + 1));
    }
    const auto* unit = std::ranges::find(kUnits, std::string_view(profile.unit), &Unit::name);
    if (unit == std::end(kUnits)) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("speedscope: profile {}: its unit must be none, nanoseconds, "
                               "microseconds, milliseconds, seconds or bytes",
                               number + 1));
    }
    ValueType type{std::string(unit->type), std::string(unit->unit)};
    factors->push_back(unit->factor);
    const size_t slash = profile.name.find('/');
    if (ours_ && slash != std::string::npos) {
      type = {profile.name.substr(0, slash), profile.name.substr(slash + 1)};
      factors->back() = 1;  // the weights are as they were
    }
    std::vector<ValueType>& all = builder_.meta().sample_types;
    auto known = std::ranges::find(all, type);
    types->push_back(static_cast<uint32_t>(known - all.begin()));
    if (known == all.end()) all.push_back(std::move(type));
    return OkStatus();
  }

  // A file called [kernel… is how EncodeSpeedscope says that a frame is the kernel's.
  uint32_t AddFrame(const SpeedscopeFrame& frame) {
    const bool kernel = frame.file.starts_with("[kernel");
    std::string_view name = frame.name.empty() ? std::string_view("(anonymous)") : frame.name;
    Line line{.function = builder_.AddFunction(name, name, kernel ? "" : frame.file),
              .column = static_cast<uint32_t>(frame.column),
              .line = frame.line};
    uint32_t mapping = kNoMapping;
    if (kernel) {
      mapping = builder_.AddMapping(
          {.filename = builder_.AddString(frame.file), .flags = Mapping::kHasFunctions});
    }
    return builder_.AddLocation(mapping, 0, {&line, 1});
  }

  Status AddSample(std::span<const uint32_t> leaf_first, int64_t value) {
    std::ranges::fill(values_, 0);
    values_[type_] = value;
    if (builder_.AddSample(leaf_first, values_, labels_)) return OkStatus();
    return Error(ErrorCode::kExhausted,
                 fmt::format("speedscope: more than {} stacks or {} bytes", limits_.max_entries,
                             limits_.max_profile_bytes));
  }

  Status AddSamples(const SpeedscopeProfile& profile) {
    if (profile.weights.size() != profile.samples.size()) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("speedscope: profile {}: {} weights for {} samples", number_ + 1,
                               profile.weights.size(), profile.samples.size()));
    }
    std::vector<uint32_t> stack;
    for (uint32_t i = 0; i < profile.samples.size(); ++i) {
      std::span<const uint32_t> frames = profile.samples.Get(i);
      stack.clear();
      for (size_t at = frames.size(); at-- > 0;) {
        if (frames[at] >= locations_.size()) return NoFrame("sample", i, frames[at]);
        stack.push_back(locations_[frames[at]]);
      }
      int64_t value = 0;
      if (!Scale(profile.weights[i], factor_, &value)) {
        return Corrupt("sample", size_t{i} + 1, "the weight does not fit in 64 bits");
      }
      RETURN_IF_ERROR(AddSample(stack, value));
    }
    return OkStatus();
  }

  Error NoFrame(std::string_view what, size_t index, uint32_t frame) const {
    return Corrupt(what, index + 1,
                   fmt::format("frame {} is not one of the {}", frame, locations_.size()));
  }

  // The time between two events is spent in the stack that is open then.
  Status AddEvents(const SpeedscopeProfile& profile) {
    std::vector<uint32_t> open;  // root first
    std::vector<uint32_t> stack;
    int64_t last = 0;
    for (size_t i = 0; i < profile.events.size(); ++i) {
      const SpeedscopeEvent& event = profile.events[i];
      int64_t at = 0;
      if (!Scale(event.at, factor_, &at)) {
        return Corrupt("event", i + 1, "the time does not fit in 64 bits");
      }
      if (event.frame >= locations_.size()) return NoFrame("event", i, event.frame);
      int64_t passed = 0;
      if (i > 0 && (__builtin_sub_overflow(at, last, &passed) || passed < 0)) {
        return Corrupt("event", i + 1, "is before the last one");
      }
      if (passed > 0 && !open.empty()) {
        stack.clear();
        for (size_t frame = open.size(); frame-- > 0;) stack.push_back(locations_[open[frame]]);
        RETURN_IF_ERROR(AddSample(stack, passed));
      }
      last = at;
      if (!event.enters) {
        if (open.empty() || open.back() != event.frame) {
          return Corrupt("event", i + 1,
                         fmt::format("leaves frame {}, which is not the innermost", event.frame));
        }
        open.pop_back();
        continue;
      }
      if (open.size() >= kMaxDepth) {
        return Error(ErrorCode::kExhausted,
                     fmt::format("speedscope: profile {}, event {}: more than {} frames deep",
                                 number_ + 1, i + 1, kMaxDepth));
      }
      open.push_back(event.frame);
    }
    if (open.empty()) return OkStatus();
    return Corrupt("event", profile.events.size(),
                   fmt::format("the last one, leaves {} frames open", open.size()));
  }

  const SpeedscopeFile& file_;
  ImportLimits limits_;
  const bool ours_;
  ProfileBuilder builder_;
  std::vector<uint32_t> locations_;  // of each frame
  // Of the profile that is being read.
  size_t number_ = 0;
  uint32_t type_ = 0;
  int64_t factor_ = 1;
  std::vector<Label> labels_;
  std::vector<int64_t> values_;
};

}  // namespace

Result<Profile> DecodeSpeedscope(std::string_view json, const ImportLimits& limits) {
  ASSIGN_OR_RETURN(SpeedscopeFile file, ReadSpeedscopeJson(json, limits));
  return SpeedscopeDecoder(file, limits).Decode();
}

}  // namespace firetower::profile
