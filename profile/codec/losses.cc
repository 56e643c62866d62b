// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/losses.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/json.h"
#include "profile/diff.h"
#include "profile/format.h"

namespace firetower::profile {
namespace {

// perf ends each line, and each sample that has a stack with an empty one. Samples without stacks,
// and what is no sample, are one line each.
bool EndsInsideSample(std::string_view text) {
  if (text.empty()) return false;
  if (!text.ends_with('\n')) return true;
  text.remove_suffix(1);
  std::string_view last = text.substr(text.rfind('\n') + 1);
  const bool is_sample_line = last.find_first_not_of(" \t\r") != std::string_view::npos &&
                              !last.starts_with('#') &&
                              last.find("PERF_RECORD_") == std::string_view::npos;
  // Frames begin with a tab, and nothing else does.
  return is_sample_line && text.find("\n\t") != std::string_view::npos;
}

// Names the keys of labels; a difference is told by its form, not by its label.
std::vector<std::string_view> LabelKeys(const Profile& profile, bool units_alone) {
  std::vector<bool> is_key(profile.string_count());
  std::vector<std::string_view> keys;
  for (uint32_t i = 0; i < profile.sample_count(); ++i) {
    for (const Label& label : profile.sample(i).labels) {
      if (is_key[label.key] || (units_alone && label.unit == 0)) continue;
      is_key[label.key] = true;
      const std::string_view key = profile.string(label.key);
      if (key != kBaseLabel) keys.push_back(key);
    }
  }
  return keys;
}

uint32_t CountOfZeros(const Profile& profile) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < profile.sample_count(); ++i) {
    count +=
        std::ranges::all_of(profile.sample(i).values, [](int64_t value) { return value == 0; });
  }
  return count;
}

std::string NamesOf(const std::vector<std::string_view>& names) {
  constexpr size_t kMostNamed = 6;
  const std::span<const std::string_view> named(names.data(), std::min(names.size(), kMostNamed));
  std::string text = fmt::format("{}", fmt::join(named, ", "));
  if (named.size() < names.size()) text += fmt::format(" and {} more", names.size() - named.size());
  return text;
}

}  // namespace

std::string ExportLosses(const Profile& profile, std::string_view format) {
  if (format == FormatName(Format::kPprof)) return "";
  const bool is_json = format == FormatName(Format::kJson);
  const bool is_picture = format == "svg" || format == "html";
  const Meta& meta = profile.meta();
  std::vector<std::string> losses;
  const auto add = [&](bool is_lost, std::string what) {
    if (is_lost) losses.push_back(std::move(what));
  };
  const std::vector<std::string_view> keys = LabelKeys(profile, is_json);
  add(!keys.empty(), fmt::format("{} ({})", is_json ? "units of labels" : "labels", NamesOf(keys)));
  add(!is_json && !meta.comments.empty(), fmt::format("comments ({})", meta.comments.size()));
  // Pictures do what both say.
  add(!is_picture && !meta.drop_frames.empty(), "drop_frames");
  add(!is_picture && !meta.keep_frames.empty(), "keep_frames");
  add(!meta.doc_url.empty(), "doc_url");
  // Without it the last one is shown.
  const bool shows_last = profile.DefaultValueIndex() + 1 >= meta.sample_types.size();
  add(is_json && !shows_last, "default_sample_type");
  const uint32_t zeros = is_json || is_picture ? 0 : CountOfZeros(profile);
  add(zeros > 0, fmt::format("stacks whose values are 0 ({})", zeros));
  return fmt::format("{}", fmt::join(losses, ", "));
}

void AddNoteOfPprof(const PprofLosses& losses, std::vector<std::string>* notes) {
  if (notes == nullptr) return;
  std::string note;
  const auto add = [&](uint64_t count, std::string_view what) {
    if (count > 0) note += fmt::format("{}{} {}", note.empty() ? "" : "; ", count, what);
  };
  add(losses.unknown_fields, "fields that profile.proto does not have are left out");
  add(losses.wrong_types, "fields are left out: profile.proto gives them another type");
  add(losses.label_numbers, "labels have a text and a number: the number is left out, as in pprof");
  add(losses.columns, "columns of lines are left out: they are not of 32 bits");
  add(losses.texts, "texts are not UTF-8: U+FFFD stands for the bytes that are none");
  if (!note.empty()) notes->push_back(std::move(note));
}

void AddNoteOfText(std::string_view text, std::vector<std::string>* notes) {
  if (notes == nullptr || IsValidUtf8(text)) return;
  notes->push_back("it is not all UTF-8: U+FFFD stands for the bytes that are none");
}

void AddNoteOfCut(std::string_view text, std::vector<std::string>* notes) {
  if (notes == nullptr || !EndsInsideSample(text)) return;
  notes->push_back(fmt::format(
      "{}, without an empty line: if it was cut, its last stack is too short", kCutNote));
}

void AddNoteOfThreads(const Profile& profile, std::vector<std::string>* notes) {
  if (notes == nullptr) return;
  bool has_thread = false;
  for (uint32_t i = 0; i < profile.sample_count(); ++i) {
    for (const Label& label : profile.sample(i).labels) {
      const std::string_view key = profile.string(label.key);
      if (key == "comm" || key == "pid") return;
      has_thread = has_thread || key == "tid";
    }
  }
  if (!has_thread) return;
  notes->push_back(
      "the number in front of each sample is read as its thread (tid); if perf script -F printed "
      "the process (pid), run it again with -F +comm,+pid,+tid");
}

}  // namespace firetower::profile
