// SPDX-License-Identifier: Apache-2.0
#include "store/profiles/profile_sum.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/find.h"
#include "store/profiles/best_resolution.h"
#include "store/profiles/counted_part.h"
#include "store/profiles/entry_reader.h"
#include "store/profiles/last_profiles.h"
#include "store/profiles/observed_time.h"
#include "store/profiles/unstored.h"

namespace firetower::store {
namespace {

// One feeding of a sum with all profiles of an answer.
class SumFeeder {
 public:
  // Profiles are added so many bytes at a time: to wait for the store between two of them costs
  // the processor's caches (a tenth of an answer's CPU).
  static constexpr size_t kBatchBytes = 1 << 20;

  // `last`: null where no values are of a moment.
  SumFeeder(const ObjectStore& store, const Query& query, const QueryLimits& limits,
            const LastProfiles* last, ProfileSum& sum)
      : last_(last),
        counted_(query),
        reader_(store, limits, counted_,
                [this](StoredEntry&& read) { return Keep(std::move(read)); }),
        sum_(sum) {}

  Status AddStored(const FoundProfile& found) { return reader_.Add(found); }
  // Adds the profiles that were read and are not yet added. Call it before adding profiles that are
  // not stored.
  Status AddRest() {
    RETURN_IF_ERROR(reader_.Finish());
    return AddBatch();
  }

  Status AddOpen(const OpenProfile& open) {
    if (counted_.IsAll(open.row)) return AddAs(open.row, [&] { return sum_.Add(*open.profile); });
    const Result<profile::Profile> part = counted_.Of(open.row, *open.profile, open.times.get());
    if (!part) {
      result_.skipped.AddLacked("the open window", BundleEntryName(open.row),
                                part.error().message());
      return OkStatus();
    }
    return AddAs(open.row, [&] { return sum_.Add(*part); });
  }

  SumResult Finish() && {
    result_.observed_ns = std::move(observed_).Ns();
    if (const auto& cut = counted_.cut()) {
      result_.observed_ns =
          static_cast<int64_t>(static_cast<double>(result_.observed_ns) * cut->OffsetShare());
    }
    return std::move(result_);
  }
  SkippedList* skipped() { return &result_.skipped; }
  // True when something was left out for which one entry stands.
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
  // Skips what cannot be read.
  Status AddRead(const StoredEntry& one) {
    if (counted_.IsAll(one.entry.row)) {
      if (const Status read = sum_.Read(*one.pprof_gz); !read) return Skip(one, read.error());
      return AddAs(one.entry.row, [&] { return sum_.AddRead(); });
    }
    if (!one.times_gz) return Skip(one, one.times_gz.error());
    const Result<profile::Profile> profile =
        counted_.Read(one.entry.row, *one.pprof_gz, *one.times_gz);
    if (!profile) return Skip(one, profile.error());
    return AddAs(one.entry.row, [&] { return sum_.Add(*profile); });
  }
  Status Skip(const StoredEntry& one, const Error& error) {
    result_.skipped.AddLacked(one.key, one.entry.name, error.message());
    lost_roll_up_ |= IsRollUp(one.key);
    return OkStatus();
  }

  void AddObserved(const CatalogRow& row) {
    int64_t begin_ns = row.start_ns, end_ns = row.end_ns();
    if (const auto& cut = counted_.cut()) {
      begin_ns = std::max(begin_ns, cut->from_slot * profile::SampleTimes::kSlotNs);
      end_ns = std::min(end_ns, cut->to_slot * profile::SampleTimes::kSlotNs);
    }
    observed_.Add(row.node, begin_ns, end_ns);
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
    AddObserved(row);
    ++result_.profiles;
    sum_.LeaveOutLevels(last_ != nullptr && !last_->Has(row));
    Status added = add();
    if (!added && added.error().code() == ErrorCode::kExhausted) {
      added.Context("narrow the selector or the time range");
    }
    return added;
  }

  const LastProfiles* const last_;
  const CountedPart counted_;
  EntryReader reader_;
  ProfileSum& sum_;
  std::string type_;
  std::vector<StoredEntry> batch_;
  size_t batch_bytes_ = 0;
  ObservedTime observed_;  // of at most max_rows
  SumResult result_;
  bool lost_roll_up_ = false;
};

Result<Attempt<SumResult>> FeedOnce(const ProfileSource& source, const Query& query,
                                    std::span<const OpenProfile> open, const QueryLimits& limits,
                                    Resolution resolution, ProfileSum& sum) {
  if (query.NeedsWindows()) resolution = Resolution::kWindows;
  std::optional<LastProfiles> last;
  if (query.type && query.type->kind == profile::TypeKind::kMemory) {
    ASSIGN_OR_RETURN(last, LastProfiles::Find(source, query, open, limits, resolution));
  }
  SumFeeder feeder(source.store(), query, limits, last ? &*last : nullptr, sum);
  Unstored unstored(open);
  RETURN_IF_ERROR(FindProfiles(source, query, limits, resolution, feeder.skipped(),
                               [&](const FoundProfile& found) {
                                 unstored.Found(found);
                                 return feeder.AddStored(found);
                               }));
  RETURN_IF_ERROR(feeder.AddRest());
  RETURN_IF_ERROR(unstored.ForEach([&](const OpenProfile& profile) {
    if (profile.profile == nullptr || !IsAsked(query, profile.row)) return OkStatus();
    return feeder.AddOpen(profile);
  }));
  Attempt<SumResult> fed{.lost_roll_up = feeder.lost_roll_up()};
  fed.answer = std::move(feeder).Finish();
  fed.held = sum.Samples();
  return fed;
}

}  // namespace

Result<SumResult> SumProfiles(const ProfileSource& source, const Query& query,
                              std::span<const OpenProfile> open, const QueryLimits& limits,
                              ProfileSum& sum) {
  return AtBestResolution<SumResult>([&](Resolution resolution) -> Result<Attempt<SumResult>> {
    sum.Clear();
    ASSIGN_OR_RETURN(Attempt<SumResult> fed,
                     FeedOnce(source, query, open, limits, resolution, sum));
    if (!sum.Recount()) return fed;
    return FeedOnce(source, query, open, limits, resolution, sum);
  });
}

}  // namespace firetower::store
