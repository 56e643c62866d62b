// SPDX-License-Identifier: Apache-2.0
#include "profile/merge.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace firetower::profile {
namespace {

std::string Describe(const std::vector<ValueType>& types) {
  std::string text;
  for (const ValueType& type : types) {
    text += fmt::format("{}{}/{}", text.empty() ? "" : " ", type.type, type.unit);
  }
  return text.empty() ? "none" : text;
}

// Mapped sizes differ by the padding of the last page.
constexpr uint64_t kPageMask = 0xFFF;

}  // namespace

Status Merger::Add(const Profile& profile) {
  const Meta& meta = profile.meta();
  if (!builder_) {
    builder_.emplace(Meta(meta), limits_);
    builder_->meta().comments.clear();
  } else {
    const Meta& sum = builder_->meta();
    if (sum.sample_types != meta.sample_types) {
      return Error(ErrorCode::kInvalid,
                   fmt::format("cannot merge profiles of sample types {} and {}",
                               Describe(sum.sample_types), Describe(meta.sample_types)));
    }
    if (sum.period_type != meta.period_type) {
      return Error(
          ErrorCode::kInvalid,
          fmt::format("cannot merge profiles of period types {}/{} and {}/{}", sum.period_type.type,
                      sum.period_type.unit, meta.period_type.type, meta.period_type.unit));
    }
  }
  MergeMeta(meta);
  RETURN_IF_ERROR(AddSamples(profile));
  ++count_;
  return OkStatus();
}

void Merger::MergeMeta(const Meta& meta) {
  Meta& sum = builder_->meta();
  if (count_ > 0) {
    int64_t end = std::max(SaturatingAdd(sum.time_nanos, sum.duration_nanos),
                           SaturatingAdd(meta.time_nanos, meta.duration_nanos));
    sum.time_nanos = std::min(sum.time_nanos, meta.time_nanos);
    sum.duration_nanos = SaturatingAdd(end, sum.time_nanos > 0 ? -sum.time_nanos : 0);
    // Of different rates the finer one is shown; the values themselves are already scaled.
    if (sum.period == 0 || (meta.period > 0 && meta.period < sum.period)) sum.period = meta.period;
    if (sum.default_sample_type != meta.default_sample_type) sum.default_sample_type.clear();
    if (sum.drop_frames != meta.drop_frames) sum.drop_frames.clear();
    if (sum.keep_frames != meta.keep_frames) sum.keep_frames.clear();
    if (sum.doc_url != meta.doc_url) sum.doc_url.clear();
  }
  for (const std::string& comment : meta.comments) {
    if (sum.comments.size() >= kMaxComments) break;
    if (std::ranges::find(sum.comments, comment) == sum.comments.end()) {
      sum.comments.push_back(comment);
    }
  }
}

// `move` becomes what an address of `profile` needs added to lie in the merged mapping.
uint32_t Merger::MapMapping(const Profile& profile, uint32_t index, uint64_t* move) {
  *move = 0;
  if (index == kNoMapping) return kNoMapping;
  Mapping mapping = profile.mapping(index);
  mapping.filename = builder_->AddString(profile.string(mapping.filename));
  mapping.build_id = builder_->AddString(profile.string(mapping.build_id));
  // As pprof merges: the build id names a binary best, else its path. A mapping with neither is
  // only ever equal to itself.
  uint64_t name = mapping.build_id != 0 ? mapping.build_id : uint64_t{mapping.filename} << 32;
  uint64_t size = (mapping.memory_limit - mapping.memory_start + kPageMask) & ~kPageMask;
  std::array<uint64_t, 5> key{name, mapping.file_offset, size, mapping.flags,
                              name == 0 ? mapping.memory_start : 0};
  uint32_t known = mapping_keys_.Find(key);
  if (known == IdSet::kNone) {
    mapping_keys_.Intern(std::span<const uint64_t>(key));
    merged_mappings_.emplace_back(builder_->AddMapping(mapping), mapping.memory_start);
    return merged_mappings_.back().first;
  }
  *move = merged_mappings_[known].second - mapping.memory_start;
  return merged_mappings_[known].first;
}

Status Merger::AddSamples(const Profile& profile) {
  std::vector<std::pair<uint32_t, uint64_t>> mappings(profile.mapping_count());
  for (uint32_t i = 0; i < mappings.size(); ++i) {
    mappings[i].first = MapMapping(profile, i, &mappings[i].second);
  }
  std::vector<StringId> strings(profile.string_count());
  for (StringId i = 0; i < strings.size(); ++i) strings[i] = builder_->AddString(profile.string(i));
  std::vector<uint32_t> functions(profile.function_count());
  for (uint32_t i = 0; i < functions.size(); ++i) {
    Function from = profile.function(i);
    from.name = strings[from.name];
    from.system_name = strings[from.system_name];
    from.filename = strings[from.filename];
    functions[i] = builder_->AddFunction(from);
  }
  std::vector<uint32_t> locations(profile.location_count());
  std::vector<Line> lines;
  for (uint32_t i = 0; i < locations.size(); ++i) {
    Location from = profile.location(i);
    lines.assign(from.lines.begin(), from.lines.end());
    for (Line& line : lines) line.function = functions[line.function];
    auto [mapping, move] = from.mapping == kNoMapping ? std::pair<uint32_t, uint64_t>(kNoMapping, 0)
                                                      : mappings[from.mapping];
    locations[i] = builder_->AddLocation(mapping, from.address + move, lines, from.is_folded);
  }
  std::vector<uint32_t> stack;
  std::vector<Label> labels;
  for (uint32_t i = 0; i < profile.sample_count(); ++i) {
    Sample from = profile.sample(i);
    stack.clear();
    for (uint32_t location : from.locations) stack.push_back(locations[location]);
    labels.assign(from.labels.begin(), from.labels.end());
    for (Label& label : labels) {
      label.key = strings[label.key];
      label.string_value = strings[label.string_value];
      label.unit = strings[label.unit];
    }
    if (!builder_->AddSample(stack, from.values, labels)) {
      return Error(ErrorCode::kExhausted,
                   fmt::format("the merged profile passes its limit of {} stacks or {} bytes",
                               limits_.max_samples, limits_.max_bytes));
    }
  }
  return OkStatus();
}

Profile Merger::Finish() && {
  if (!builder_) return Profile();
  return std::move(*builder_).Build();
}

Result<Profile> Merge(std::span<const Profile* const> profiles) {
  Merger merger;
  for (const Profile* profile : profiles) RETURN_IF_ERROR(merger.Add(*profile));
  return std::move(merger).Finish();
}

}  // namespace firetower::profile
