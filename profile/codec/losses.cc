// SPDX-License-Identifier: Apache-2.0
#include "profile/codec/losses.h"

#include <fmt/core.h>

#include <cstdint>

#include "base/json.h"

namespace firetower::profile {

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
