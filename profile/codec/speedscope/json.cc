// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/speedscope/json.h"

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "profile/codec/text.h"

namespace firetower::profile {
namespace {

using Json = nlohmann::json;

// Nothing that the schema knows is deeper than 6.
constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxProfiles = 4096;

// Which part of the file a list or object is.
enum class Where : uint8_t {
  kFile,
  kShared,
  kFrames,
  kFrame,
  kProfiles,
  kProfile,
  kSamples,
  kSample,
  kWeights,
  kEvents,
  kEvent,
  kOther,
};

constexpr std::string_view kNames[] = {"file",     "shared",  "frames",  "frame",
                                       "profiles", "profile", "samples", "sample",
                                       "weights",  "events",  "event",   "other"};

// The allowed nesting. An empty key means the items of a list.
struct Step {
  Where outer;
  std::string_view key;
  bool is_object;
  Where inner;
};
constexpr Step kSteps[] = {
    {Where::kSamples, "", false, Where::kSample},
    {Where::kEvents, "", true, Where::kEvent},
    {Where::kFrames, "", true, Where::kFrame},
    {Where::kProfiles, "", true, Where::kProfile},
    {Where::kFile, "shared", true, Where::kShared},
    {Where::kFile, "profiles", false, Where::kProfiles},
    {Where::kShared, "frames", false, Where::kFrames},
    {Where::kProfile, "samples", false, Where::kSamples},
    {Where::kProfile, "weights", false, Where::kWeights},
    {Where::kProfile, "events", false, Where::kEvents},
};

bool IsList(Where where) {
  return where == Where::kFrames || where == Where::kProfiles || where == Where::kSamples ||
         where == Where::kSample || where == Where::kWeights || where == Where::kEvents;
}

// Called by the parser for each token; false ends it, the reason being in error().
class Reader final : public nlohmann::json_sax<Json> {
 public:
  explicit Reader(const ImportLimits& limits) : limits_(limits) {}

  Result<SpeedscopeFile> Finish(bool parsed) && {
    if (error_) return *std::move(error_);
    if (!parsed) return Error(ErrorCode::kCorrupt, "speedscope: not JSON");
    if (!has_frames_ || !has_profiles_) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("speedscope: no list '{}': this JSON is of another kind",
                               has_frames_ ? "profiles" : "shared.frames"));
    }
    return std::move(file_);
  }

  bool null() override { return Scalar("null"); }
  bool boolean(bool /*value*/) override { return Scalar("a truth value"); }
  bool binary(Json::binary_t& /*value*/) override { return Scalar("bytes"); }
  bool number_integer(Json::number_integer_t value) override {
    return Number({.is_whole = true, .whole = value, .real = static_cast<double>(value)});
  }
  bool number_unsigned(Json::number_unsigned_t value) override {
    const bool fits = value <= static_cast<uint64_t>(INT64_MAX);
    return Number({.is_whole = fits,
                   .whole = fits ? static_cast<int64_t>(value) : 0,
                   .real = static_cast<double>(value)});
  }
  bool number_float(Json::number_float_t value, const std::string& /*text*/) override {
    return Number({.real = value});
  }
  bool string(std::string& value) override { return Text(value); }
  bool key(std::string& value) override {
    key_ = std::move(value);
    return true;
  }
  bool start_object(size_t /*size*/) override { return Enter(true); }
  bool start_array(size_t /*size*/) override { return Enter(false); }
  bool end_object() override { return Leave(); }
  bool end_array() override { return Leave(); }
  bool parse_error(size_t position, const std::string& /*token*/,
                   const Json::exception& why) override {
    std::string_view text = why.what();
    if (text.starts_with('[')) text.remove_prefix(std::min(text.size(), text.find(']') + 1));
    return Fail(fmt::format("byte {}: {}", position, Excerpt(TrimLeft(text))));
  }

 private:
  bool Fail(std::string why) {
    if (!error_) error_ = Error(ErrorCode::kCorrupt, "speedscope: " + std::move(why));
    return false;
  }
  bool TooMany(std::string_view what, size_t limit) {
    error_ = Error(ErrorCode::kExhausted, fmt::format("speedscope: more than {} {}", limit, what));
    return false;
  }
  Where where() const { return stack_.empty() ? Where::kOther : stack_.back(); }
  std::string_view Name() const { return kNames[static_cast<size_t>(where())]; }
  SpeedscopeProfile& profile() { return file_.profiles.back(); }
  // "profile 2, sample 17": where we are, for people.
  std::string Place() const {
    std::string out;
    if (!file_.profiles.empty()) {
      const SpeedscopeProfile& last = file_.profiles.back();
      out = fmt::format("profile {}, ", file_.profiles.size());
      if (where() == Where::kSample)
        return fmt::format("{}sample {}", out, last.samples.size() + 1);
      if (where() == Where::kWeights)
        return fmt::format("{}weight {}", out, last.weights.size() + 1);
      if (where() == Where::kEvent) return fmt::format("{}event {}", out, last.events.size() + 1);
    }
    if (where() == Where::kFrame) return fmt::format("frame {}", file_.frames.size());
    return out + std::string(Name());
  }

  bool Enter(bool is_object) {
    if (stack_.size() >= kMaxDepth) return TooMany("levels", kMaxDepth);
    if (stack_.empty()) {
      if (!is_object) return Fail("the file is a list, it must be an object");
      stack_.push_back(Where::kFile);
      return true;
    }
    for (const Step& step : kSteps) {
      if (step.outer != where() || (!step.key.empty() && step.key != key_)) continue;
      if (step.is_object != is_object) {
        return Fail(fmt::format("{}: {} must be {}", Place(),
                                kNames[static_cast<size_t>(step.inner)],
                                step.is_object ? "an object" : "a list"));
      }
      return Begin(step.inner);
    }
    // Not a member that we know.
    if (IsList(where())) return Fail(Place() + ": holds a list or an object");
    stack_.push_back(Where::kOther);
    return true;
  }

  bool Begin(Where inner) {
    stack_.push_back(inner);
    switch (inner) {
      case Where::kFrames:
        has_frames_ = true;
        break;
      case Where::kProfiles:
        has_profiles_ = true;
        break;
      case Where::kFrame:
        if (file_.frames.size() >= limits_.max_entries)
          return TooMany("frames", limits_.max_entries);
        file_.frames.emplace_back();
        frame_has_name_ = false;
        break;
      case Where::kProfile:
        if (file_.profiles.size() >= kMaxProfiles) return TooMany("profiles", kMaxProfiles);
        file_.profiles.emplace_back();
        break;
      case Where::kSample:
        sample_.clear();
        break;
      case Where::kEvent:
        event_ = {};
        event_kind_.clear();
        event_has_frame_ = event_has_time_ = false;
        break;
      default:
        break;
    }
    return true;
  }

  bool Leave() {
    if (where() == Where::kSample) {
      if (profile().samples.size() >= limits_.max_entries) {
        return TooMany("samples", limits_.max_entries);
      }
      profile().samples.Append(sample_);
    }
    if (where() == Where::kEvent && !AddEvent()) return false;
    if (where() == Where::kFrame && !frame_has_name_) {
      return Fail(Place() + ": has no name");
    }
    stack_.pop_back();
    return true;
  }

  bool AddEvent() {
    if ((event_kind_ != "O" && event_kind_ != "C") || !event_has_frame_ || !event_has_time_) {
      return Fail(Place() + ": must have a type, O or C, a frame and a time 'at'");
    }
    if (profile().events.size() >= limits_.max_entries) {
      return TooMany("events", limits_.max_entries);
    }
    event_.enters = event_kind_ == "O";
    profile().events.push_back(event_);
    return true;
  }

  // Handles a value that is neither a text nor a number.
  bool Scalar(std::string_view what) {
    if (stack_.empty()) return Fail("the file must be an object");
    return !IsList(where()) || Fail(fmt::format("{}: holds {}", Place(), what));
  }

  bool Number(const SpeedscopeNumber& number) {
    switch (where()) {
      case Where::kSample:
        sample_.emplace_back();
        return FrameIndex(number, &sample_.back());
      case Where::kWeights:
        if (profile().weights.size() >= limits_.max_entries) {
          return TooMany("weights", limits_.max_entries);
        }
        profile().weights.push_back(number);
        return true;
      case Where::kEvent:
        if (key_ == "at") {
          event_.at = number;
          event_has_time_ = true;
        }
        if (key_ != "frame") return true;
        event_has_frame_ = true;
        return FrameIndex(number, &event_.frame);
      case Where::kFrame:
        if (key_ == "line") file_.frames.back().line = number.whole;
        if (key_ == "col") file_.frames.back().column = number.whole;
        return true;
      default:
        return Scalar("a number");
    }
  }

  bool FrameIndex(const SpeedscopeNumber& number, uint32_t* index) {
    if (!number.is_whole || number.whole < 0 || number.whole >= UINT32_MAX) {
      return Fail(Place() + ": a frame is a whole number from 0");
    }
    *index = static_cast<uint32_t>(number.whole);
    return true;
  }

  bool Text(std::string& text) {
    switch (where()) {
      case Where::kFile:
        if (key_ == "exporter") file_.exporter = std::move(text);
        return true;
      case Where::kFrame:
        if (key_ == "name") {
          frame_has_name_ = true;
          file_.frames.back().name = std::move(text);
          return true;
        }
        if (key_ == "file") file_.frames.back().file = std::move(text);
        return true;
      case Where::kProfile:
        if (key_ == "type") profile().type = std::move(text);
        if (key_ == "name") profile().name = std::move(text);
        if (key_ == "unit") profile().unit = std::move(text);
        return true;
      case Where::kEvent:
        if (key_ == "type") event_kind_ = std::move(text);
        return true;
      default:
        return Scalar("a text");
    }
  }

  ImportLimits limits_;
  SpeedscopeFile file_;
  std::optional<Error> error_;
  std::vector<Where> stack_;
  std::string key_;
  bool has_frames_ = false;
  bool has_profiles_ = false;
  // The state of the entry that is being read.
  bool frame_has_name_ = false;
  std::vector<uint32_t> sample_;
  SpeedscopeEvent event_;
  std::string event_kind_;
  bool event_has_frame_ = false;
  bool event_has_time_ = false;
};

}  // namespace

Result<SpeedscopeFile> ReadSpeedscopeJson(std::string_view text, const ImportLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return Error(ErrorCode::kExhausted,
                 fmt::format("speedscope: {} bytes, more than the limit of {}", text.size(),
                             limits.max_bytes));
  }
  Reader reader(limits);
  bool parsed = false;
  try {
    parsed = Json::sax_parse(text.begin(), text.end(), &reader);
  } catch (const std::exception& e) {
    return Error(ErrorCode::kExhausted, fmt::format("speedscope: {}", Excerpt(e.what())));
  }
  return std::move(reader).Finish(parsed);
}

}  // namespace firetower::profile
