// SPDX-License-Identifier: Apache-2.0
#include "store/query.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>
#include <utility>

#include "profile/merge.h"
#include "profile/pprof.h"
#include "store/find.h"
#include "store/profiles/best_resolution.h"
#include "store/profiles/counted_part.h"
#include "store/profiles/entry_reader.h"
#include "store/profiles/observed_time.h"
#include "store/profiles/unstored.h"

namespace firetower::store {
namespace {

auto SortKey(const CatalogRow& row) {
  return std::tie(row.start_ns, row.namespace_name, row.pod, row.container, row.type);
}

// Rows of store and open windows alike.
Status ForEachRow(const ProfileSource& source, const Query& query,
                  std::span<const OpenProfile> open, const QueryLimits& limits,
                  SkippedList* skipped, const std::function<Status(const CatalogRow& row)>& visit) {
  Unstored unstored(open);
  RETURN_IF_ERROR(FindProfiles(source, query, limits, Resolution::kWindows, skipped,
                               [&](const FoundProfile& found) {
                                 unstored.Found(found);
                                 return visit(*found.row);
                               }));
  return unstored.ForEach([&](const OpenProfile& profile) {
    return IsAsked(query, profile.row) ? visit(profile.row) : OkStatus();
  });
}

class StoreMerger {
 public:
  // Profiles are merged so many bytes at a time: to wait for the store between two of them costs
  // the processor's caches (a tenth of an answer's CPU).
  static constexpr size_t kBatchBytes = 1 << 20;

  StoreMerger(const ObjectStore& store, const Query& query, const QueryLimits& limits)
      : counted_(query),
        reader_(store, limits, counted_,
                [this](StoredEntry&& read) { return Keep(std::move(read)); }),
        merger_({.max_samples = 1u << 24, .max_bytes = limits.max_merged_bytes}) {}

  Status AddStored(const FoundProfile& found) { return reader_.Add(found); }
  // What was read; before profiles that are not stored.
  Status AddRest() {
    RETURN_IF_ERROR(reader_.Finish());
    return AddBatch();
  }

  Status AddProfile(const CatalogRow& row, const profile::Profile& profile) {
    return AddAs(row, [&] { return merger_.Add(profile); });
  }

  MergeResult Finish() && {
    result_.profiles = merger_.count();
    result_.observed_ns = std::move(observed_).Ns();
    result_.profile = std::move(merger_).Finish();
    return std::move(result_);
  }
  SkippedList* skipped() { return &result_.skipped; }
  // What was left out because one entry stands for it.
  bool lost_roll_up() const { return lost_roll_up_; }

 private:
  Status Keep(StoredEntry&& read) {
    if (!read.pprof_gz) return Skip(read, read.pprof_gz.error());
    batch_bytes_ += read.pprof_gz->size();
    batch_.push_back(std::move(read));
    return batch_bytes_ < kBatchBytes ? OkStatus() : AddBatch();
  }
  Status AddBatch() {
    batch_bytes_ = 0;
    for (const StoredEntry& one : std::exchange(batch_, {})) RETURN_IF_ERROR(AddRead(one));
    return OkStatus();
  }
  // What cannot be read is skipped.
  Status AddRead(const StoredEntry& one) {
    if (counted_.IsAll(one.entry.row)) {
      if (const Status read = merger_.ReadPprof(*one.pprof_gz); !read)
        return Skip(one, read.error());
      return AddAs(one.entry.row, [&] { return merger_.AddRead(); });
    }
    const Result<profile::Profile> profile = profile::DecodePprof(*one.pprof_gz);
    if (!profile) return Skip(one, profile.error());
    return AddAs(one.entry.row, [&] { return merger_.Add(CountedPart::Of(*profile)); });
  }
  Status Skip(const StoredEntry& one, const Error& error) {
    result_.skipped.AddLacked(one.key, one.entry.name, error.message());
    lost_roll_up_ |= IsRollUp(one.key);
    return OkStatus();
  }

  // `add` adds the profile of that time.
  template <typename Add>
  Status AddAs(const CatalogRow& row, const Add& add) {
    if (type_.empty()) type_ = row.type;
    if (row.type != type_) {
      return Error(ErrorCode::kInvalid,
                   fmt::format("the answer holds profiles of types {} and {}: ask for one type",
                               type_, row.type));
    }
    observed_.Add(row.node, row.start_ns, row.end_ns());
    Status added = add();
    if (!added && added.error().code() == ErrorCode::kExhausted) {
      added.Context("narrow the selector or the time range");
    }
    return added;
  }

  const CountedPart counted_;
  EntryReader reader_;
  profile::Merger merger_;
  std::string type_;
  std::vector<StoredEntry> batch_;
  size_t batch_bytes_ = 0;
  ObservedTime observed_;  // of at most max_rows
  MergeResult result_;
  bool lost_roll_up_ = false;
};

int64_t SamplesOf(const MergeResult& merged) {
  return merged.profile.sample_types().empty() ? 0 : merged.profile.Total(0);
}

Result<Attempt<MergeResult>> MergeAt(const ProfileSource& source, const Query& query,
                                     std::span<const OpenProfile> open, const QueryLimits& limits,
                                     Resolution resolution) {
  StoreMerger merger(source.store(), query, limits);
  Unstored unstored(open);
  RETURN_IF_ERROR(FindProfiles(source, query, limits, resolution, merger.skipped(),
                               [&](const FoundProfile& found) {
                                 unstored.Found(found);
                                 return merger.AddStored(found);
                               }));
  RETURN_IF_ERROR(merger.AddRest());
  RETURN_IF_ERROR(unstored.ForEach([&](const OpenProfile& profile) {
    if (profile.profile == nullptr || !IsAsked(query, profile.row)) return OkStatus();
    return merger.AddProfile(profile.row, *profile.profile);
  }));
  Attempt<MergeResult> merged{.lost_roll_up = merger.lost_roll_up()};
  merged.answer = std::move(merger).Finish();
  merged.held = SamplesOf(merged.answer);
  return merged;
}

}  // namespace

std::optional<std::string> Query::EqualTo(std::string_view label) const {
  std::optional<std::string> value = selector.EqualTo(label);
  if (value || any_of.empty()) return value;
  value = any_of.front().EqualTo(label);
  const bool is_of_all = std::ranges::all_of(
      any_of, [&](const profile::Selector& one) { return one.EqualTo(label) == value; });
  return is_of_all ? value : std::nullopt;
}

bool Query::Mentions(std::string_view label) const {
  return selector.Mentions(label) || std::ranges::any_of(any_of, [&](const profile::Selector& one) {
           return one.Mentions(label);
         });
}

void SkippedList::AddDamaged(std::string key, std::string entry, std::string reason) {
  ++total;
  if (items.size() < kMaxSkipped) {
    items.push_back({std::move(key), std::move(entry), std::move(reason)});
  }
}

void SkippedList::AddLacked(std::string key, std::string entry, std::string reason) {
  AddDamaged(std::move(key), std::move(entry), std::move(reason));
  ++lacked;
}

void SkippedList::AddUnread(std::string key, const Error& error) {
  AddDamaged(std::move(key), "", error.message());
  if (!IsDamage(error)) ++lacked;
}

void SkippedList::Append(SkippedList&& other) {
  const uint64_t unnamed = other.total - other.items.size();
  for (Skipped& one : other.items)
    AddDamaged(std::move(one.key), std::move(one.entry), std::move(one.reason));
  total += unnamed;
  lacked += other.lacked;
}

bool IsDamage(const Error& error) {
  return error.code() == ErrorCode::kCorrupt || error.code() == ErrorCode::kUnsupported ||
         error.code() == ErrorCode::kExhausted;
}

Result<ListResult> ListProfiles(const ProfileSource& source, const Query& query,
                                std::span<const OpenProfile> open, const QueryLimits& limits) {
  ListResult result;
  RETURN_IF_ERROR(
      ForEachRow(source, query, open, limits, &result.skipped, [&](const CatalogRow& row) {
        result.rows.push_back(row);
        return OkStatus();
      }));
  std::ranges::stable_sort(result.rows, [](const CatalogRow& a, const CatalogRow& b) {
    return SortKey(a) < SortKey(b);
  });
  return result;
}

Result<MergeResult> MergeProfiles(const ProfileSource& source, const Query& query,
                                  std::span<const OpenProfile> open, const QueryLimits& limits) {
  return AtBestResolution<MergeResult>(
      [&](Resolution resolution) { return MergeAt(source, query, open, limits, resolution); });
}

Result<LabelsResult> LabelNames(const ProfileSource& source, const Query& query,
                                std::span<const OpenProfile> open, const QueryLimits& limits) {
  std::set<std::string> names;
  LabelsResult result;
  RETURN_IF_ERROR(
      ForEachRow(source, query, open, limits, &result.skipped, [&](const CatalogRow& row) {
        for (const std::string& name : CatalogLabelNames()) {
          if (!LabelValueOf(row, name).empty()) names.insert(name);
        }
        return OkStatus();
      }));
  result.values.assign(names.begin(), names.end());
  return result;
}

Result<LabelsResult> LabelValues(const ProfileSource& source, const Query& query,
                                 std::string_view label, std::span<const OpenProfile> open,
                                 const QueryLimits& limits) {
  std::set<std::string> values;  // at most max_rows
  LabelsResult result;
  RETURN_IF_ERROR(
      ForEachRow(source, query, open, limits, &result.skipped, [&](const CatalogRow& row) {
        std::string value = LabelValueOf(row, label);
        if (!value.empty()) values.insert(std::move(value));
        return OkStatus();
      }));
  result.values.assign(values.begin(), values.end());
  return result;
}

Result<SeriesResult> SeriesTotals(const ProfileSource& source, const Query& query, int64_t step_ns,
                                  std::span<const std::string> group_by,
                                  std::span<const OpenProfile> open, const QueryLimits& limits,
                                  RowValue value) {
  SeriesResult result;
  ASSIGN_OR_RETURN(SeriesSums sums, SeriesSums::Create(query, step_ns, group_by, value));
  RETURN_IF_ERROR(ForEachRow(source, query, open, limits, &result.skipped,
                             [&](const CatalogRow& row) { return sums.Add(row); }));
  result.series = std::move(sums).Finish();
  return result;
}

}  // namespace firetower::store
