// SPDX-License-Identifier: Apache-2.0
// ProfileBuilder, once its samples pass the limit.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/builder.h"
#include "profile/table/frame_name.h"
#include "profile/tree/coarse_samples.h"

namespace firetower::profile {
namespace {

// Half of the limit is for the tree, the rest for the tables that stay: names and locations.
size_t TreeBytes(size_t max_bytes) { return max_bytes / 2; }
// Beyond this share of the limit, sets of labels are merged.
size_t LabelBytes(size_t max_bytes) { return max_bytes / 8; }

}  // namespace

bool ProfileBuilder::BeginCoarse() {
  const size_t width = meta_.sample_types.size();
  if (std::any_of(values_.begin(), values_.end(), [](int64_t value) { return value < 0; }))
    return false;
  coarse_ = ClonedPtr<CoarseSamples>(
      std::make_unique<CoarseSamples>(width, TreeBytes(limits_.max_bytes)));
  const StackPool stacks = std::exchange(stacks_, {}).TakePool();
  const uint32_t no_labels = labels_.Intern({});
  for (uint32_t i = 0; i < samples_.size(); ++i) {
    coarse_stack_.clear();
    for (const uint32_t location : stacks.Get(samples_[i].stack))
      coarse_stack_.push_back(CoarseLocation(location));
    const uint32_t labels = samples_[i].labels;
    saturated_values_ +=
        coarse_->Add(std::span<const uint32_t>(coarse_stack_), {values_.data() + i * width, width},
                     labels == no_labels ? CoarseSamples::kNoLabels : labels);
  }
  samples_ = {};
  first_samples_ = {};
  other_samples_ = {};
  values_ = {};
  return true;
}

// Looks at label_scratch_ for the labels.
bool ProfileBuilder::AddCoarse(std::span<const uint32_t> locations,
                               std::span<const int64_t> values) {
  if (std::ranges::any_of(values, [](int64_t value) { return value < 0; })) return false;
  coarse_stack_.clear();
  for (const uint32_t location : locations) coarse_stack_.push_back(CoarseLocation(location));
  saturated_values_ +=
      coarse_->Add(std::span<const uint32_t>(coarse_stack_), values, CoarseLabels());
  return true;
}

uint32_t ProfileBuilder::CoarseLabels() {
  if (label_scratch_.empty()) return CoarseSamples::kNoLabels;
  const std::span<const Label> labels(label_scratch_);
  if (labels_.bytes() < LabelBytes(limits_.max_bytes)) return labels_.Intern(labels);
  const uint32_t known = labels_.Find(labels);
  return known == IdSet::kNone ? CoarseSamples::kNoLabels : known;
}

// Interns what all locations of one function have in common: its address says nothing in a graph.
uint32_t ProfileBuilder::InternCoarse(const Location& location) {
  if (location.lines.empty()) {
    // Beyond this share of the limit, addresses without names are merged.
    const bool has_room = locations_.bytes() < limits_.max_bytes / 4;
    return has_room ? locations_.Intern(location) : InternModule(location.mapping);
  }
  std::vector<Line> lines;
  for (const Line& line : location.lines) lines.push_back({.function = line.function});
  // Without a mapping the address tells a frame of the kernel.
  const bool needs_address = location.mapping == kNoMapping && location.address >> 63 != 0;
  return locations_.Intern({.mapping = location.mapping,
                            .address = needs_address ? location.address : 0,
                            .is_folded = location.is_folded,
                            .lines = lines});
}

// Interns the frame that replaces all nameless frames of a binary: `[libfoo.so]`.
uint32_t ProfileBuilder::InternModule(uint32_t mapping) {
  std::string_view path = "unknown";
  if (mapping != kNoMapping) path = string(mappings_.Get(mapping).filename);
  std::string name(path.substr(path.rfind('/') + 1));
  if (!name.starts_with('[')) name = fmt::format("[{}]", name);
  const Line line{.function = AddFunction(name, name, "")};
  return locations_.Intern({.mapping = mapping, .address = 0, .lines = {&line, 1}});
}

uint32_t ProfileBuilder::CoarseLocation(uint32_t location) {
  while (coarse_locations_.size() <= location) coarse_locations_.push_back(IdSet::kNone);
  if (coarse_locations_[location] != IdSet::kNone) return coarse_locations_[location];
  const Location whole = locations_.Get(location);
  const uint32_t known = IsOtherFrame(*this, whole) ? CoarseSamples::kOther : InternCoarse(whole);
  coarse_locations_[location] = known;
  return known;
}

bool ProfileBuilder::Recount() {
  if (!coarse_ || coarse_->is_recounting()) return false;
  coarse_->Fit(TreeBytes(limits_.max_bytes));
  if (!coarse_->is_pruned()) return false;
  coarse_->Recount();
  return true;
}

std::optional<double> ProfileBuilder::FitCoarse() {
  if (!coarse_) return std::nullopt;
  coarse_->Fit(TreeBytes(limits_.max_bytes));
  return coarse_->max_hidden_share();
}

int64_t ProfileBuilder::Total(uint32_t value_index) const {
  if (coarse_) return coarse_->Total(value_index);
  int64_t total = 0;
  for (size_t i = value_index; i < values_.size(); i += meta_.sample_types.size())
    total = SaturatingAdd(total, values_[i]);
  return total;
}

// Copies the parts that samples use into a builder without limits.
Profile ProfileBuilder::BuildCoarse() {
  ProfileBuilder built(std::move(meta_), {.max_samples = UINT32_MAX, .max_bytes = SIZE_MAX});
  const Line other_line{.function =
                            built.AddFunction(kOtherName, kOtherSystemName, /*filename=*/"")};
  const uint32_t other = built.AddLocation(kNoMapping, 0, {&other_line, 1});
  std::vector<uint32_t> locations(locations_.size(), IdSet::kNone);
  std::vector<Line> lines;
  const auto copy = [&](uint32_t id) {
    if (id == CoarseSamples::kOther) return other;
    if (locations[id] != IdSet::kNone) return locations[id];
    const Location from = locations_.Get(id);
    lines.clear();
    for (const Line& line : from.lines) {
      const Function& function = functions_.Get(line.function);
      lines.push_back(
          {.function = built.AddFunction(string(function.name), string(function.system_name),
                                         string(function.filename), function.start_line)});
    }
    uint32_t mapping = kNoMapping;
    if (from.mapping != kNoMapping) {
      Mapping copied = mappings_.Get(from.mapping);
      copied.filename = built.AddString(string(copied.filename));
      const bool has_id = !IsCutText(copied.build_id);
      copied.build_id = has_id ? built.AddString(string(copied.build_id)) : 0;
      mapping = built.AddMapping(copied);
    }
    locations[id] = built.AddLocation(mapping, from.address, lines, from.is_folded);
    return locations[id];
  };
  std::vector<uint32_t> stack;
  std::vector<Label> labels;
  coarse_->Fit(TreeBytes(limits_.max_bytes));
  coarse_->ForEach([&](const CoarseSamples::Emitted& sample) {
    stack.clear();
    for (const uint32_t location : sample.leaf_first) stack.push_back(copy(location));
    labels.clear();
    if (sample.labels != CoarseSamples::kNoLabels) {
      for (Label label : labels_.pool().Get(sample.labels)) {
        label.key = built.AddString(string(label.key));
        label.string_value = built.AddString(string(label.string_value));
        label.unit = built.AddString(string(label.unit));
        labels.push_back(label);
      }
    }
    built.AddSample(stack, sample.values, labels);
  });
  return std::move(built).Build();
}

}  // namespace firetower::profile
