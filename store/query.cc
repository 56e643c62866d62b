// SPDX-License-Identifier: Apache-2.0
#include "store/query.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "profile/comments.h"
#include "profile/merge.h"
#include "profile/select/stack_filter.h"
#include "store/catalog/catalog_index.h"
#include "store/find.h"
#include "store/profiles/observed_time.h"
#include "store/profiles/profile_sum.h"
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

// Adds up whole profiles, with all that they hold.
class MergerSum final : public ProfileSum {
 public:
  MergerSum(const QueryLimits& limits, std::vector<profile::ValueType> types)
      : limits_{.max_samples = 1u << 24, .max_bytes = limits.max_merged_bytes, .coarsen = true},
        types_(std::move(types)) {}

  void LeaveOutLevels(bool leave_out) override { merger_->LeaveOutLevels(leave_out); }
  void Clear() override {
    merger_.emplace(limits_);
    merger_->WidenTo(types_);
  }
  Status Read(std::string_view pprof) override { return merger_->ReadPprof(pprof); }
  Status AddRead() override { return merger_->AddRead(); }
  Status Add(const profile::Profile& profile) override { return merger_->Add(profile); }
  bool Recount() override { return merger_->Recount(); }
  int64_t Samples() const override { return merger_->Total(0); }
  std::optional<double> FitCoarse() { return merger_->FitCoarse(); }
  profile::Profile Finish() && { return std::move(*merger_).Finish(); }

 private:
  const profile::ProfileBuilder::Limits limits_;
  const std::vector<profile::ValueType> types_;
  std::optional<profile::Merger> merger_;
};

}  // namespace

std::optional<std::string> ProfileSource::cluster() const {
  return index_ == nullptr ? std::nullopt : index_->cluster();
}

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

bool Query::NeedsWindows() const {
  return cut || (stacks && (stacks->AsksForLabel(profile::kTraceLabel) ||
                            stacks->AsksForLabel(profile::kSpanLabel)));
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
  MergerSum sum(limits, query.type ? query.type->SampleTypes() : std::vector<profile::ValueType>());
  ASSIGN_OR_RETURN(SumResult summed, SumProfiles(source, query, open, limits, sum));
  MergeResult merged{.profiles = summed.profiles,
                     .observed_ns = summed.observed_ns,
                     .max_hidden_share = sum.FitCoarse(),
                     .skipped = std::move(summed.skipped)};
  merged.profile = std::move(sum).Finish();
  return merged;
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
