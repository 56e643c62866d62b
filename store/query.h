// SPDX-License-Identifier: Apache-2.0
// Queries over a store and over profiles still in memory: the profiles that overlap [from, to) and
// match a selector, and their sum. An overlapping window counts completely, unless a cut is asked
// for.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"
#include "profile/select/stack_filter.h"
#include "profile/selector.h"
#include "profile/times/timed_profile.h"
#include "profile/type.h"
#include "store/catalog.h"
#include "store/store.h"

namespace firetower::store {

struct Query {
  std::optional<profile::ProfileType> type = {};  // unset: every type
  profile::Selector selector = {};                // over CatalogLabelNames() and __name__
  std::vector<profile::Selector> any_of = {};     // of some, one has to match as well
  int64_t from_ns = 0;                            // Unix time, [from, to)
  int64_t to_ns = std::numeric_limits<int64_t>::max();
  // Sums and tables take of each window only what was sampled then. A window that does not say when
  // its samples were taken is skipped.
  std::optional<profile::TimeCut> cut = {};
  // The value that is asked for is one of a moment (profile::IsLevel).
  bool of_level = false;
  bool at_begin = false;  // of that: as of the first window of each container, not the last one
  // The stacks, and their frames, that sums and tables have; null: all.
  std::shared_ptr<const profile::StackFilter> stacks = {};

  // Returns the value of a label that the whole answer must have, if the selectors say so, to
  // narrow listings.
  std::optional<std::string> EqualTo(std::string_view label) const;
  // Tells whether some matcher uses that label.
  bool Mentions(std::string_view label) const;
  // Tells whether roll-ups cannot answer it: they do not say when their samples were taken, nor for
  // which trace.
  bool NeedsWindows() const;
};

// A profile that is not stored yet: the daemon's open window.
struct OpenProfile {
  CatalogRow row = {};
  std::shared_ptr<const profile::Profile> profile = {};
  std::shared_ptr<const profile::SampleTimes> times = {};  // null: not known
};

// An object or entry that could not be read. It is never omitted silently.
struct Skipped {
  std::string key = {};
  std::string entry = {};  // empty: the whole object
  std::string reason = {};
};

// The first kMaxSkipped are named, all are counted.
struct SkippedList {
  static constexpr size_t kMaxSkipped = 100;
  std::vector<Skipped> items = {};
  uint64_t total = 0;
  // The number of profiles that the answer surely lacks: they match, but the store did not return
  // them. The contents of the others, which are damaged, are unknown.
  uint64_t lacked = 0;
  void AddDamaged(std::string key, std::string entry, std::string reason);
  void AddLacked(std::string key, std::string entry, std::string reason);
  // Adds an object whose index could not be read because of `error`.
  void AddUnread(std::string key, const Error& error);
  void Append(SkippedList&& other);
};

struct QueryLimits {
  uint64_t max_rows = 200'000;
  uint64_t max_read_bytes = uint64_t{1} << 30;  // compressed profiles read for one merge
  // Memory of a sum. What passes it makes the answer less exact, and does not end it. At this size
  // a sum of stacks of 500 frames that all differ still has each function with 0.1 % of the whole.
  uint64_t max_merged_bytes = uint64_t{96} << 20;
  CallLimits calls = {};  // when the answer is not waited for any more: kUnavailable
};

struct ListResult {
  std::vector<CatalogRow> rows = {};  // by start, then namespace, pod, container, type
  SkippedList skipped = {};
};

struct MergeResult {
  profile::Profile profile = {};  // empty when nothing matched
  uint64_t profiles = 0;          // how many went in
  int64_t observed_ns = 0;        // that some of them covers, each moment once
  // Where the sum passed max_merged_bytes: the largest share, from 0 to 1, of the whole that a
  // stack which was cut can have.
  std::optional<double> max_hidden_share = {};
  SkippedList skipped = {};
};

struct SeriesPoint {
  int64_t start_ns = 0;
  double value = 0;
};
struct Series {
  std::map<std::string, std::string> labels = {};  // the group_by labels
  std::vector<SeriesPoint> points = {};            // steps without profiles are left out
};
struct SeriesResult {
  std::vector<Series> series = {};
  SkippedList skipped = {};
};

struct LabelsResult {
  std::vector<std::string> values = {};  // sorted, distinct
  SkippedList skipped = {};
};

// Tells whether an error concerns the bytes that were read, and not the reading.
bool IsDamage(const Error& error);

struct FoundProfile;  // of store/find.h
using VisitFound = std::function<Status(const FoundProfile& found)>;

// Tells whether roll-ups may replace their windows: in sums they may, in listings not.
enum class Resolution { kWindows, kCoarsest };

class CatalogIndex;  // of store/catalog/catalog_index.h

// The target of a query: a store, and an index that finds profiles in it. Without an index the
// bundles are listed. Both are borrowed.
class ProfileSource {
 public:
  // Implicit on purpose: a store by itself is one.
  ProfileSource(const ObjectStore& store,  // NOLINT(google-explicit-constructor)
                const CatalogIndex* index = nullptr)
      : store_(&store), index_(index) {}

  const ObjectStore& store() const { return *store_; }
  const CatalogIndex* index() const { return index_; }  // null: none
  // The one whose profiles the index finds, its key component; unset: those of all clusters.
  std::optional<std::string> cluster() const;

 private:
  const ObjectStore* store_;
  const CatalogIndex* index_;
};

// Lists profiles. kExhausted: a limit other than max_merged_bytes is passed; the message says which
// one and how to narrow the query. kUnavailable: limits.calls end first.
Result<ListResult> ListProfiles(const ProfileSource& source, const Query& query,
                                std::span<const OpenProfile> open = {},
                                const QueryLimits& limits = {});
Result<MergeResult> MergeProfiles(const ProfileSource& source, const Query& query,
                                  std::span<const OpenProfile> open = {},
                                  const QueryLimits& limits = {});
// Returns the names that have a value somewhere in the answer, or the values of one name.
Result<LabelsResult> LabelNames(const ProfileSource& source, const Query& query,
                                std::span<const OpenProfile> open = {},
                                const QueryLimits& limits = {});
Result<LabelsResult> LabelValues(const ProfileSource& source, const Query& query,
                                 std::string_view label, std::span<const OpenProfile> open = {},
                                 const QueryLimits& limits = {});
// One of a row's two values.
enum class RowValue { kMain, kSamples };

// Sums CatalogRow::value, or samples, per step and group. A window's value is spread evenly over
// its duration; the part outside [from, to) is ignored. Steps start at multiples of step_ns, at
// least 1 s.
Result<SeriesResult> SeriesTotals(const ProfileSource& source, const Query& query, int64_t step_ns,
                                  std::span<const std::string> group_by,
                                  std::span<const OpenProfile> open = {},
                                  const QueryLimits& limits = {}, RowValue value = RowValue::kMain);

}  // namespace firetower::store
