// SPDX-License-Identifier: Apache-2.0
#include "profile/builder.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/hash.h"
#include "base/json.h"
#include "profile/table/frame_name.h"
#include "profile/tree/coarse_samples.h"

namespace firetower::profile {
namespace {

// Eight bytes at a time: every text of every profile passes here.
bool IsAscii(std::string_view text) {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  uint64_t seen = 0;
  size_t at = 0;
  for (; at + sizeof(seen) <= text.size(); at += sizeof(seen)) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof(word));
    seen |= word;
  }
  for (; at < text.size(); ++at) seen |= static_cast<unsigned char>(text[at]);
  return (seen & kHighBits) == 0;
}

}  // namespace

ProfileBuilder::ProfileBuilder(Meta meta) : ProfileBuilder(std::move(meta), Limits{}) {}

ProfileBuilder::ProfileBuilder(Meta meta, Limits limits) : meta_(std::move(meta)), limits_(limits) {
  strings_.Intern(std::span<const char>());  // id 0 is the empty string
}

ProfileBuilder::ProfileBuilder(const ProfileBuilder& other) = default;
ProfileBuilder::ProfileBuilder(ProfileBuilder&& other) noexcept = default;
ProfileBuilder& ProfileBuilder::operator=(const ProfileBuilder& other) = default;
ProfileBuilder& ProfileBuilder::operator=(ProfileBuilder&& other) noexcept = default;
ProfileBuilder::~ProfileBuilder() = default;

StringId ProfileBuilder::AddString(std::string_view text) {
  // A coarse profile keeps to its limit: of names past it only `other` is left.
  if (coarse_ && strings_.bytes() > limits_.max_bytes / 2) {
    const StringId known = strings_.Find(std::span(text.data(), text.size()));
    if (known != IdSet::kNone) return known;
    cut_text_ = strings_.Intern(std::span(kOtherName.data(), kOtherName.size()));
    return cut_text_;
  }
  if (IsAscii(text)) return strings_.Intern(std::span(text.data(), text.size()));
  std::string valid = ToValidUtf8(text);
  return strings_.Intern(std::span<const char>(valid.data(), valid.size()));
}

void ProfileBuilder::Reserve(const Sizes& sizes) {
  size_t samples = std::min<size_t>(sizes.samples, limits_.max_samples);
  strings_.Reserve(sizes.strings, sizes.string_bytes);
  functions_.Reserve(sizes.functions);
  locations_.Reserve(sizes.locations);
  stacks_.Reserve(samples, sizes.frames, sizes.locations);
  samples_.reserve(samples);
  first_samples_.reserve(samples);
  values_.reserve(samples * meta_.sample_types.size());
}

std::string_view ProfileBuilder::string(StringId id) const {
  std::span<const char> text = strings_.pool().Get(id);
  return {text.data(), text.size()};
}

void ProfileBuilder::CheckMapping(const Mapping& mapping) const {
  CHECK(mapping.filename < strings_.size() && mapping.build_id < strings_.size());
}

uint32_t ProfileBuilder::AddMapping(const Mapping& mapping) {
  CheckMapping(mapping);
  return mappings_.Intern(mapping);
}

uint32_t ProfileBuilder::AddOpenMapping(const Mapping& mapping) {
  CheckMapping(mapping);
  return mappings_.AddOpen(mapping);
}

void ProfileBuilder::SetMapping(uint32_t open_mapping, const Mapping& mapping) {
  CHECK(open_mapping < mappings_.size());
  CheckMapping(mapping);
  mappings_.Replace(open_mapping, mapping);
}

uint32_t ProfileBuilder::AddFunction(const Function& function) {
  CHECK(function.name < strings_.size() && function.system_name < strings_.size() &&
        function.filename < strings_.size());
  return functions_.Intern(function);
}

uint32_t ProfileBuilder::AddFunction(std::string_view name, std::string_view system_name,
                                     std::string_view filename, int64_t start_line) {
  return AddFunction(Function{.name = AddString(name),
                              .system_name = AddString(system_name),
                              .filename = AddString(filename),
                              .start_line = start_line});
}

void ProfileBuilder::CheckLocation(const Location& location) const {
  CHECK(location.mapping == kNoMapping || location.mapping < mappings_.size());
  for (const Line& line : location.lines) CHECK(line.function < functions_.size());
}

uint32_t ProfileBuilder::AddLocation(uint32_t mapping, uint64_t address,
                                     std::span<const Line> lines, bool is_folded) {
  const Location location{
      .mapping = mapping, .address = address, .is_folded = is_folded, .lines = lines};
  CheckLocation(location);
  return coarse_ ? InternCoarse(location) : locations_.Intern(location);
}

uint32_t ProfileBuilder::AddOpenLocation() { return locations_.AddOpen(); }

void ProfileBuilder::SetLocation(uint32_t open_location, uint32_t mapping, uint64_t address,
                                 std::span<const Line> lines) {
  CHECK(open_location < locations_.size());
  const Location location{.mapping = mapping, .address = address, .lines = lines};
  CheckLocation(location);
  locations_.Set(open_location, location);
}

Label ProfileBuilder::StringLabel(std::string_view key, std::string_view value) {
  return {.key = AddString(key), .string_value = AddString(value)};
}

Label ProfileBuilder::NumberLabel(std::string_view key, int64_t number, std::string_view unit) {
  return {.key = AddString(key), .number = number, .unit = AddString(unit), .is_number = 1};
}

// Looks at label_scratch_ for the labels.
bool ProfileBuilder::HasRoomFor(std::span<const uint32_t> locations) const {
  if (samples_.size() < limits_.max_samples && bytes() < limits_.max_bytes) return true;
  // At a limit, existing samples may still grow in value.
  uint32_t stack = stacks_.Find(locations);
  uint32_t labels = labels_.Find(label_scratch_);
  if (stack == IdSet::kNone || labels == IdSet::kNone) return false;
  return FindSample({.stack = stack, .labels = labels}) != IdSet::kNone;
}

namespace {

uint32_t HashOf(uint32_t stack, uint32_t labels) {
  return static_cast<uint32_t>(HashWord(kHashSeed, uint64_t{stack} << 32 | labels));
}

}  // namespace

uint32_t ProfileBuilder::FindSample(const Profile::SampleRecord& record) const {
  if (record.stack >= first_samples_.size()) return IdSet::kNone;
  const uint32_t first = first_samples_[record.stack];
  if (samples_[first].labels == record.labels) return first;
  return other_samples_.Find(HashOf(record.stack, record.labels), [&](uint32_t id) {
    const Profile::SampleRecord& other = samples_[id];
    return other.stack == record.stack && other.labels == record.labels;
  });
}

void ProfileBuilder::AppendSample(const Profile::SampleRecord& record,
                                  std::span<const int64_t> values) {
  const uint32_t id = sample_count();
  samples_.push_back(record);
  values_.append(values);
  if (record.stack == first_samples_.size()) {
    first_samples_.push_back(id);  // stacks are made for samples only, and counted alike
  } else {
    other_samples_.Insert(HashOf(record.stack, record.labels), id);
  }
}

bool ProfileBuilder::AddSample(std::span<const uint32_t> locations, std::span<const int64_t> values,
                               std::span<const Label> labels) {
  size_t width = meta_.sample_types.size();
  CHECK(values.size() == width);
  for (uint32_t location : locations) CHECK(location < locations_.size());
  for (const Label& label : labels) {
    CHECK(label.key < strings_.size() && label.string_value < strings_.size() &&
          label.unit < strings_.size());
  }
  // One order, so that equal sets are equal bytes whatever order they came in.
  label_scratch_.assign(labels.begin(), labels.end());
  std::ranges::stable_sort(label_scratch_, {}, &Label::key);
  const bool has_room = !coarse_ && HasRoomFor(locations);
  if (coarse_ || (!has_room && limits_.coarsen && BeginCoarse())) {
    if (AddCoarse(locations, values)) return true;
    ++dropped_samples_;
    return false;
  }
  if (!has_room) {
    ++dropped_samples_;
    return false;
  }
  const Profile::SampleRecord record{
      .stack = stacks_.Intern(locations),
      .labels = labels_.Intern(std::span<const Label>(label_scratch_))};
  const uint32_t id = FindSample(record);
  if (id == IdSet::kNone) {
    last_sample_ = sample_count();
    AppendSample(record, values);
    return true;
  }
  last_sample_ = id;
  int64_t* sum = values_.data() + id * width;
  for (size_t i = 0; i < width; ++i) {
    int64_t exact = 0;
    if (__builtin_add_overflow(sum[i], values[i], &exact)) {
      exact = SaturatingAdd(sum[i], values[i]);
      ++saturated_values_;
    }
    sum[i] = exact;
  }
  return true;
}

size_t ProfileBuilder::bytes() const {
  return strings_.bytes() + mappings_.bytes() + functions_.bytes() + locations_.bytes() +
         stacks_.bytes() + labels_.bytes() + samples_.bytes() + first_samples_.bytes() +
         other_samples_.bytes() + values_.bytes();
}

Profile ProfileBuilder::Build() && {
  if (coarse_) return BuildCoarse();
  Profile built;
  built.meta_ = std::move(meta_);
  built.strings_ = std::move(strings_).TakePool();
  built.mappings_ = std::move(mappings_).TakeRecords();
  built.functions_ = std::move(functions_).TakeRecords();
  built.lines_ = locations_.TakeLines();
  built.locations_ = locations_.TakeRecords();
  built.stacks_ = std::move(stacks_).TakePool();
  built.labels_ = std::move(labels_).TakePool();
  built.samples_ = std::move(samples_);
  built.values_ = std::move(values_);
  return built;
}

Meta CpuMeta(int64_t hertz, int64_t time_nanos, int64_t duration_nanos) {
  Meta meta;
  meta.sample_types = {{"samples", "count"}, {"cpu", "nanoseconds"}};
  meta.default_sample_type = "cpu";
  meta.period_type = {"cpu", "nanoseconds"};
  meta.period = hertz > 0 ? 1'000'000'000 / hertz : 0;
  meta.time_nanos = time_nanos;
  meta.duration_nanos = duration_nanos;
  return meta;
}

}  // namespace firetower::profile
