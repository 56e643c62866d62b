// SPDX-License-Identifier: Apache-2.0
#include "profile/merge.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <string>

#include "base/check.h"
#include "profile/codec/pprof/reader.h"
#include "profile/copy.h"
#include "profile/diff.h"
#include "profile/type.h"

namespace firetower::profile {
namespace {

std::string Describe(const std::vector<ValueType>& types) {
  std::string text;
  for (const ValueType& type : types) {
    text += fmt::format("{}{}/{}", text.empty() ? "" : " ", type.type, type.unit);
  }
  return text.empty() ? "none" : text;
}

// Products of two int64 fit.
__extension__ typedef __int128 Int128;

// Mapped sizes differ by the padding of the last page.
constexpr uint64_t kPageMask = 0xFFF;

// Texts that a sum has only where all profiles have the same.
struct SharedText {
  std::string Meta::*text;
  std::string_view name;
};
constexpr SharedText kSharedTexts[] = {{&Meta::default_sample_type, "default_sample_type"},
                                       {&Meta::drop_frames, "drop_frames"},
                                       {&Meta::keep_frames, "keep_frames"},
                                       {&Meta::doc_url, "doc_url"}};

// A start of 0 is unknown: then there is no span, and the durations add up, as in pprof.
void MergeTimes(const Meta& meta, Meta* sum) {
  if (sum->time_nanos == 0 || meta.time_nanos == 0) {
    sum->time_nanos = std::max(sum->time_nanos, meta.time_nanos);
    sum->duration_nanos = SaturatingAdd(sum->duration_nanos, meta.duration_nanos);
    return;
  }
  const int64_t end = std::max(SaturatingAdd(sum->time_nanos, sum->duration_nanos),
                               SaturatingAdd(meta.time_nanos, meta.duration_nanos));
  sum->time_nanos = std::min(sum->time_nanos, meta.time_nanos);
  sum->duration_nanos = SaturatingAdd(end, sum->time_nanos > 0 ? -sum->time_nanos : 0);
}

}  // namespace

Merger::Merger(ProfileBuilder::Limits limits) : limits_(limits) {}
Merger::~Merger() = default;

Status Merger::Add(const Profile& profile) { return AddSource(profile); }

Status Merger::AddPprof(std::string_view bytes, const PprofDecodeLimits& limits) {
  RETURN_IF_ERROR(ReadPprof(bytes, limits));
  return AddRead();
}

Status Merger::ReadPprof(std::string_view bytes, const PprofDecodeLimits& limits) {
  ASSIGN_OR_RETURN(std::string_view raw, InflatePprof(bytes, limits, &inflated_));
  if (!reader_) reader_ = std::make_unique<PprofReader>();
  return reader_->Read(raw, limits);
}

PprofLosses Merger::read_losses() const { return reader_ ? reader_->FindLosses() : PprofLosses(); }

std::vector<std::string_view> Merger::cleared_fields() const {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < std::size(kSharedTexts); ++i) {
    if ((cleared_ >> i & 1) != 0) names.push_back(kSharedTexts[i].name);
  }
  return names;
}

Status Merger::AddRead() { return AddSource(*reader_); }

Status Merger::Subtract(const Profile& profile, std::span<const Scale> scales) {
  CHECK(builder_ && (scales.empty() || scales.size() == profile.sample_types().size()));
  RETURN_IF_ERROR(CheckTypes(profile.meta()));
  const Label base = builder_->StringLabel(kBaseLabel, kBaseLabelValue);
  // For each sample type: the sum of the values so far, and the sum of what was written for them.
  std::vector<Int128> seen(scales.size());
  std::vector<Int128> written(scales.size());
  return Copy(profile, [&](std::vector<int64_t>& values, std::vector<Label>& labels) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (!scales.empty()) {
        seen[i] += values[i];
        const Int128 sum = seen[i] * scales[i].to / scales[i].from;
        values[i] = static_cast<int64_t>(sum - written[i]);
        written[i] = sum;
      }
      // -2^63 has no counterpart.
      values[i] = -std::max(values[i], -std::numeric_limits<int64_t>::max());
    }
    labels.push_back(base);
    return true;
  });
}

// Tells whether a profile has some of the sum's values, the first ones.
bool Merger::IsNarrower(const Meta& meta) const {
  const std::vector<ValueType>& some = meta.sample_types;
  return !some.empty() && some.size() < types_.size() &&
         std::ranges::equal(some, std::span(types_).first(some.size()));
}

Status Merger::CheckTypes(const Meta& meta) const {
  const Meta& sum = builder_->meta();
  if (sum.sample_types != meta.sample_types && !IsNarrower(meta)) {
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
  return OkStatus();
}

template <typename Source>
Status Merger::AddSource(Source& source) {
  const Meta& meta = source.meta();
  if (!builder_) {
    Meta first = meta;
    if (IsNarrower(meta)) first.sample_types = types_;
    builder_.emplace(std::move(first), limits_);
    builder_->meta().comments.clear();
  } else {
    RETURN_IF_ERROR(CheckTypes(meta));
    if (count_ == 0) {  // of a recount
      const std::vector<ValueType> types = builder_->meta().sample_types;
      builder_->meta() = meta;
      builder_->meta().sample_types = types;
      builder_->meta().comments.clear();
    }
  }
  MergeMeta(meta);
  const std::vector<ValueType>& types = builder_->meta().sample_types;
  if (left_out_.empty() && !leaves_out_levels_ && types.size() == meta.sample_types.size()) {
    RETURN_IF_ERROR(Copy(source, KeepSample));
  } else {
    RETURN_IF_ERROR(Copy(source, [&](std::vector<int64_t>& values, std::vector<Label>& labels) {
      std::erase_if(labels, [&](const Label& label) {
        return std::ranges::find(left_out_, builder_->string(label.key)) != left_out_.end();
      });
      values.resize(types.size());
      for (size_t i = 0; leaves_out_levels_ && i < types.size(); ++i) {
        if (IsLevel(types[i].type)) values[i] = 0;
      }
      return std::ranges::any_of(values, [](int64_t value) { return value != 0; });
    }));
  }
  ++count_;
  return OkStatus();
}

template <typename Source, typename Change>
Status Merger::Copy(Source& source, const Change& change) {
  auto map_mapping = [this](const Mapping& mapping) { return MapMapping(mapping); };
  if (CopyInto(source, map_mapping, change, *builder_)) return OkStatus();
  return Error(ErrorCode::kExhausted,
               fmt::format("the merged profile passes its limit of {} stacks or {} bytes",
                           limits_.max_samples, limits_.max_bytes));
}

void Merger::MergeMeta(const Meta& meta) {
  Meta& sum = builder_->meta();
  if (count_ > 0) {
    MergeTimes(meta, &sum);
    // The sum shows the finer of two rates. The values themselves are already scaled.
    if (sum.period == 0 || (meta.period > 0 && meta.period < sum.period)) sum.period = meta.period;
    for (size_t i = 0; i < std::size(kSharedTexts); ++i) {
      const auto text = kSharedTexts[i].text;
      if (sum.*text != meta.*text) {
        (sum.*text).clear();
        cleared_ |= 1u << i;
      }
    }
  }
  comments_.Add(meta.comments);
}

// The texts of `mapping` are the builder's.
MovedMapping Merger::MapMapping(const Mapping& mapping) {
  // Identifies a mapping as pprof's merge does: by its build id, else by its path. A mapping with
  // neither equals only itself. Files with the same build id may have other function names:
  // locations with names are kept apart by these names, and locations without names wait for the
  // names of their own file. Texts beyond a coarse sum's limit identify nothing.
  const uint64_t build_id = builder_->IsCutText(mapping.build_id) ? 0 : mapping.build_id;
  const uint64_t path = builder_->IsCutText(mapping.filename) ? 0 : mapping.filename;
  uint64_t name = build_id != 0 ? build_id : path << 32;
  uint64_t size = (mapping.memory_limit - mapping.memory_start + kPageMask) & ~kPageMask;
  const uint64_t nameless = mapping.has_functions() ? 0 : mapping.filename;
  std::array<uint64_t, 6> key{name,     mapping.file_offset,
                              size,     mapping.flags,
                              nameless, name == 0 ? mapping.memory_start : 0};
  uint32_t known = mapping_keys_.Find(key);
  if (known == IdSet::kNone) {
    mapping_keys_.Intern(std::span<const uint64_t>(key));
    merged_mappings_.push_back({.index = builder_->AddMapping(mapping),
                                .filename = mapping.filename,
                                .memory_start = mapping.memory_start});
    return {.index = merged_mappings_.back().index};
  }
  MergedMapping& merged = merged_mappings_[known];
  if (mapping.filename != 0 && merged.filename != mapping.filename && !merged.has_other_name) {
    merged.has_other_name = true;
    if (other_names_.mappings++ == 0) {
      other_names_.kept = builder_->string(merged.filename);
      other_names_.left_out = builder_->string(mapping.filename);
    }
  }
  return {.index = merged.index, .move = merged.memory_start - mapping.memory_start};
}

bool Merger::Recount() {
  if (!builder_ || !builder_->Recount()) return false;
  count_ = 0;
  comments_ = {};
  return true;
}

int64_t Merger::Total(uint32_t value_index) const {
  const bool is_any = builder_ && value_index < builder_->meta().sample_types.size();
  return is_any ? builder_->Total(value_index) : 0;
}

Profile Merger::Finish() && {
  if (!builder_) return Profile();
  const std::optional<double> hidden = builder_->FitCoarse();
  Profile sum = std::move(*builder_).Build();
  std::vector<std::string> comments = comments_.Of(sum);
  if (hidden) comments.push_back(CoarseComment(*hidden));
  sum.SetComments(std::move(comments));
  return sum;
}

Result<Profile> Merge(std::span<const Profile* const> profiles) {
  Merger merger;
  for (const Profile* profile : profiles) RETURN_IF_ERROR(merger.Add(*profile));
  return std::move(merger).Finish();
}

}  // namespace firetower::profile
