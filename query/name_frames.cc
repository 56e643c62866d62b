// SPDX-License-Identifier: Apache-2.0
#include "query/name_frames.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profile/builder.h"
#include "symbolizer/name_memo.h"

namespace firetower::query {
namespace {

using profile::Mapping;

class Naming {
 public:
  Naming(const profile::Profile& from, symbolizer::ObjectFinder& objects, bool lines)
      : from_(from), objects_(objects), lines_(lines), builder_(from.meta()) {}

  NamedProfile Run() {
    for (profile::StringId i = 0; i < from_.string_count(); ++i) {
      strings_.push_back(builder_.AddString(from_.string(i)));
    }
    for (uint32_t i = 0; i < from_.mapping_count(); ++i) AddMapping(i);
    for (uint32_t i = 0; i < from_.location_count(); ++i) AddLocation(from_.location(i));
    for (uint32_t i = 0; i < from_.sample_count(); ++i) AddSample(from_.sample(i));
    for (const Target& target : targets_) {
      if (target.table == nullptr) continue;
      builder_.SetMapping(target.mapping, target.value);
    }
    result_.profile = std::move(builder_).Build();
    return std::move(result_);
  }

 private:
  struct Target {
    const symbolizer::SymbolTable* table = nullptr;  // null: its frames stay as they are
    uint32_t mapping = 0;
    Mapping value;
    bool has_file_offsets = false;  // else addresses are the object's own
    std::string file;
  };

  bool NeedsNames(const Mapping& mapping) const {
    if (mapping.build_id == 0) return false;
    return !mapping.has_functions() || (lines_ && (mapping.flags & Mapping::kHasLineNumbers) == 0);
  }

  void AddMapping(uint32_t index) {
    Target target;
    target.value = from_.mapping(index);
    const bool needs_names = NeedsNames(target.value);
    target.file = from_.string(target.value.filename);
    // Only what spans everything has the object's own addresses (daemon/export/window.cc).
    target.has_file_offsets =
        target.value.memory_start != 0 || target.value.memory_limit != ~uint64_t{0};
    if (needs_names) {
      target.table =
          objects_.Find(from_.string(target.value.build_id), target.file, target.has_file_offsets);
      ++(target.table == nullptr ? result_.mappings_missing : result_.mappings_named);
    }
    target.value.filename = strings_[target.value.filename];
    target.value.build_id = strings_[target.value.build_id];
    target.mapping = builder_.AddOpenMapping(target.value);
    if (target.table != nullptr) {
      target.value.memory_start = target.value.file_offset = 0;
      target.value.memory_limit = ~uint64_t{0};
      target.value.flags |= Mapping::kHasFunctions;
    }
    targets_.push_back(std::move(target));
  }

  void AddLocation(const profile::Location& from) {
    if (from.mapping != profile::kNoMapping && targets_[from.mapping].table != nullptr) {
      if (std::optional<uint32_t> named = AddNamed(from, targets_[from.mapping])) {
        locations_.push_back(*named);
        return;
      }
    }
    AddAsItIs(from, from.address);
  }

  void AddAsItIs(const profile::Location& from, uint64_t address) {
    lines_scratch_.clear();
    for (profile::Line line : from.lines) {
      profile::Function function = from_.function(line.function);
      function.name = strings_[function.name];
      function.system_name = strings_[function.system_name];
      function.filename = strings_[function.filename];
      line.function = builder_.AddFunction(function);
      lines_scratch_.push_back(line);
    }
    const uint32_t mapping =
        from.mapping == profile::kNoMapping ? from.mapping : targets_[from.mapping].mapping;
    locations_.push_back(builder_.AddLocation(mapping, address, lines_scratch_, from.is_folded));
  }

  // Nothing where the names that are there are as good.
  std::optional<uint32_t> AddNamed(const profile::Location& from, Target& target) {
    const Mapping& mapping = from_.mapping(from.mapping);
    const uint64_t offset = from.address - mapping.memory_start + mapping.file_offset;
    std::optional<uint64_t> elf_vaddr = from.address;
    if (target.has_file_offsets) elf_vaddr = target.table->FileOffsetToVaddr(offset);
    frames_.clear();
    if (elf_vaddr) target.table->FindFrames(*elf_vaddr, frames_);
    lines_scratch_.clear();
    for (const symbolizer::SourceFrame& frame : frames_) {
      const uint32_t function = builder_.AddFunction(memo_.Demangled(frame.name), frame.name,
                                                     frame.file, frame.start_line);
      lines_scratch_.push_back({.function = function, .column = frame.column, .line = frame.line});
    }
    if (frames_.empty()) {
      if (!from.lines.empty()) return std::nullopt;
      const std::string text =
          symbolizer::FormatUnknown(target.file.substr(target.file.rfind('/') + 1), offset);
      lines_scratch_.push_back({.function = builder_.AddFunction(text, text, ""), .line = 0});
    } else if (!frames_.front().file.empty()) {
      target.value.flags |=
          Mapping::kHasFilenames | Mapping::kHasLineNumbers | Mapping::kHasInlineFrames;
    } else if (frames_.size() > 1) {
      target.value.flags |= Mapping::kHasInlineFrames;
    }
    return builder_.AddLocation(target.mapping, elf_vaddr.value_or(offset), lines_scratch_,
                                from.is_folded);
  }

  void AddSample(const profile::Sample& from) {
    stack_.clear();
    for (uint32_t location : from.locations) stack_.push_back(locations_[location]);
    labels_.assign(from.labels.begin(), from.labels.end());
    for (profile::Label& label : labels_) {
      label.key = strings_[label.key];
      label.string_value = strings_[label.string_value];
      label.unit = strings_[label.unit];
    }
    builder_.AddSample(stack_, from.values, labels_);
  }

  const profile::Profile& from_;
  symbolizer::ObjectFinder& objects_;
  const bool lines_;
  profile::ProfileBuilder builder_;
  NamedProfile result_;
  symbolizer::NameMemo memo_;
  std::vector<profile::StringId> strings_;
  std::vector<Target> targets_;      // by mapping
  std::vector<uint32_t> locations_;  // ours
  // Scratch.
  std::vector<symbolizer::SourceFrame> frames_;
  std::vector<profile::Line> lines_scratch_;
  std::vector<uint32_t> stack_;
  std::vector<profile::Label> labels_;
};

}  // namespace

NamedProfile NameFrames(const profile::Profile& from, symbolizer::ObjectFinder& objects,
                        bool lines) {
  return Naming(from, objects, lines).Run();
}

}  // namespace firetower::query
