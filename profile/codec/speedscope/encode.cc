// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "base/json.h"
#include "profile/codec/folded.h"
#include "profile/export.h"
#include "profile/table/interner.h"

namespace firetower::profile {
namespace {

// The schema's words for units.
constexpr std::string_view kUnits[] = {"nanoseconds", "microseconds", "milliseconds", "seconds",
                                       "bytes"};

class SpeedscopeEncoder {
 public:
  explicit SpeedscopeEncoder(const Profile& profile) : profile_(profile) {}

  Result<std::string> Encode() {
    out_ = "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":";
    out_ += fmt::format("\"firetower@{}\"", FIRETOWER_VERSION);
    if (!profile_.sample_types().empty()) {
      out_ += fmt::format(",\"activeProfileIndex\":{}", profile_.DefaultValueIndex());
    }
    out_ += ",\"shared\":{\"frames\":[";
    AddFrames();
    out_ += "]},\"profiles\":[";
    for (uint32_t i = 0; i < profile_.sample_types().size(); ++i) {
      if (i > 0) out_ += ',';
      RETURN_IF_ERROR(AddProfile(i));
    }
    out_ += "]}\n";
    return std::move(out_);
  }

 private:
  // Writes each frame once, and remembers the frames of each location.
  void AddFrames() {
    Interner<char> frames;
    frames_of_location_.resize(profile_.location_count());
    for (uint32_t i = 0; i < profile_.location_count(); ++i) {
      Location location = profile_.location(i);
      for (size_t line = std::max<size_t>(location.lines.size(), 1); line-- > 0;) {
        const std::string text = FrameText(location, line);
        const uint32_t known = frames.size();
        const uint32_t frame = frames.Intern(std::span<const char>(text.data(), text.size()));
        if (frame == known) {
          if (frame > 0) out_ += ',';
          out_ += text;
        }
        if (!frames_of_location_[i].empty()) frames_of_location_[i] += ',';
        frames_of_location_[i] += std::to_string(frame);
      }
    }
  }

  std::string FrameText(const Location& location, size_t line) const {
    std::string out =
        fmt::format("{{\"name\":\"{}\"", JsonEscape(profile_.FrameName(location, line)));
    std::string_view file;
    if (line < location.lines.size()) {
      const Line& at = location.lines[line];
      file = profile_.string(profile_.function(at.function).filename);
      if (!file.empty()) out += fmt::format(",\"file\":\"{}\"", JsonEscape(file));
      if (at.line > 0) out += fmt::format(",\"line\":{}", at.line);
      if (at.column > 0) out += fmt::format(",\"col\":{}", at.column);
    }
    // Nothing else can say it, and readers show it where a file would stand.
    if (file.empty() && profile_.IsKernel(location)) {
      out += fmt::format(",\"file\":\"{}\"", kKernelMapping);
    }
    return out + '}';
  }

  Status AddProfile(uint32_t value_index) {
    const ValueType& type = profile_.sample_types()[value_index];
    const bool known = std::ranges::find(kUnits, type.unit) != std::end(kUnits);
    out_ += fmt::format(
        "{{\"type\":\"sampled\",\"name\":\"{}/"
        "{}\",\"unit\":\"{}\",\"startValue\":0,\"endValue\":{},"
        "\"samples\":[",
        JsonEscape(type.type), JsonEscape(type.unit), known ? type.unit : "none",
        profile_.Total(value_index));
    std::string weights;
    for (uint32_t i = 0; i < profile_.sample_count(); ++i) {
      Sample sample = profile_.sample(i);
      const int64_t value = sample.values[value_index];
      if (value < 0) {
        return Error(ErrorCode::kInvalid,
                     "speedscope's format has no negative values, as a difference has");
      }
      if (value == 0) continue;
      if (!weights.empty()) {
        weights += ',';
        out_ += ',';
      }
      fmt::format_to(std::back_inserter(weights), "{}", value);
      AddStack(sample);
    }
    out_ += fmt::format("],\"weights\":[{}]}}", weights);
    return OkStatus();
  }

  // Root first.
  void AddStack(const Sample& sample) {
    out_ += '[';
    for (size_t at = sample.locations.size(); at-- > 0;) {
      out_ += frames_of_location_[sample.locations[at]];
      if (at > 0) out_ += ',';
    }
    out_ += ']';
  }

  const Profile& profile_;
  std::string out_;
  std::vector<std::string> frames_of_location_;  // "3" or, with inlined calls, "3,7": root first
};

}  // namespace

Result<std::string> EncodeSpeedscope(const Profile& profile) {
  return SpeedscopeEncoder(profile).Encode();
}

}  // namespace firetower::profile
