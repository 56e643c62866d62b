// SPDX-License-Identifier: Apache-2.0
#include "store/retention.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "store/walk.h"

namespace firetower::store {

int64_t RetentionPolicy::SecondsOf(RetentionClass retention) const {
  switch (retention) {
    case RetentionClass::kShort:
      return short_seconds;
    case RetentionClass::kStandard:
      return standard_seconds;
    case RetentionClass::kLong:
      return long_seconds;
  }
  return 0;
}

namespace {

// The earliest of this machine's times and the store's since it was made: a clock that is set
// meanwhile tells nothing of the store's for one answer, and was wrong before.
class EarliestNow {
 public:
  EarliestNow(const ObjectStore& store, const Clock& clock) : store_(store), clock_(clock) {}

  int64_t Seconds() {
    const int64_t now_ns = clock_.WallNs() + std::min<int64_t>(store_.ClockSkewNs(), 0);
    earliest_ns_ = std::min(earliest_ns_, now_ns);
    return earliest_ns_ / kNsPerSecond;
  }

 private:
  const ObjectStore& store_;
  const Clock& clock_;
  int64_t earliest_ns_ = std::numeric_limits<int64_t>::max();
};

// Sweep of one class, for kinds of objects that are kept equally long.
class ClassSweep {
 public:
  ClassSweep(ObjectStore& store, const Clock& clock, const std::optional<std::string>& cluster,
             SweepFigures& figures)
      : store_(store), now_(store, clock), cluster_(cluster), figures_(figures) {}

  // Deletes objects that ended more than `keep_s` ago. Listings are in time order: they
  // stop there. The first may reveal the store's clock, so the age of an object is checked
  // again.
  Status Delete(RetentionClass retention, unsigned kinds, int64_t keep_s) {
    const auto before_s = [&] { return now_.Seconds() - keep_s; };
    const WalkRange range{
        .to_s = before_s(), .cluster = cluster_, .kinds = kinds, .retention = retention};
    return Finish(WalkObjects(store_, range, [&](const StoredObject& object) {
      return object.start_s + object.seconds < before_s() ? Add(object) : OkStatus();
    }));
  }
  // The first deletion that failed.
  const Status& failure() const { return failure_; }

 private:
  Status Add(const StoredObject& object) {
    keys_.push_back(object.key);
    sizes_.push_back(object.size);
    return keys_.size() < batch_ ? OkStatus() : DeleteBatch();
  }
  // Deletes the objects that a walk found, even if the walk failed.
  Status Finish(Status walked) {
    Status deleted = keys_.empty() ? OkStatus() : DeleteBatch();
    return walked ? deleted : walked;
  }
  Status DeleteBatch() {
    std::vector<Status> results = store_.DeleteEach(keys_);
    batch_ = kBatch;
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i]) {
        ++figures_.deleted_objects;
        figures_.deleted_bytes += sizes_[i];
        continue;
      }
      ++figures_.failed_deletions;
      ++failed_;
      batch_ = kMaxFailedDeletions;
      if (failure_) failure_ = std::move(results[i].Context(keys_[i]));
    }
    keys_.clear();
    sizes_.clear();
    return failed_ < kMaxFailedDeletions ? OkStatus() : failure_;
  }

  // Number of keys in one request, the most that S3 accepts.
  static constexpr size_t kBatch = 1000;

  ObjectStore& store_;
  EarliestNow now_;
  const std::optional<std::string>& cluster_;
  SweepFigures& figures_;
  Status failure_;
  uint64_t failed_ = 0;
  size_t batch_ =
      kMaxFailedDeletions;  // until a batch went well: a store that refuses is left alone
  std::vector<std::string> keys_;
  std::vector<uint64_t> sizes_;  // of the same objects
};

}  // namespace

Status SweepByAge(ObjectStore& store, const RetentionPolicy& policy, const Clock& clock,
                  SweepFigures& figures, const std::optional<std::string>& cluster) {
  constexpr auto kCatalogs = static_cast<unsigned>(ObjectKind::kCatalog);
  ClassSweep sweep(store, clock, cluster, figures);
  for (const RetentionClass retention : kRetentionClasses) {
    const int64_t keep_s = policy.SecondsOf(retention);
    if (keep_s == 0) continue;
    RETURN_IF_ERROR(sweep.Delete(retention, kAllKinds & ~kCatalogs, keep_s));
    RETURN_IF_ERROR(sweep.Delete(retention, kCatalogs, keep_s + kSecondsPerDay));
  }
  return sweep.failure();
}

Status AbortOldUploads(ObjectStore& store, const Clock& clock, SweepFigures& figures,
                       std::string_view cluster) {
  const int64_t before_s = EarliestNow(store, clock).Seconds() - kSecondsPerDay;
  Status failure;
  for (const RetentionClass retention : kRetentionClasses) {
    const Result<uint64_t> aborted =
        store.AbortUploads(ClusterPrefix(retention, cluster), before_s);
    if (aborted) {
      figures.aborted_uploads += *aborted;
    } else if (aborted.error().code() != ErrorCode::kUnsupported && failure) {
      failure = aborted.error();
    }
  }
  return failure;
}

Result<RetentionResult> ApplyRetention(ObjectStore& store, const RetentionPolicy& policy,
                                       int64_t now_ns) {
  std::vector<StoredObject> objects;
  RETURN_IF_ERROR(WalkObjects(store, {.kinds = kAllKinds}, [&](const StoredObject& object) {
    objects.push_back(object);
    return OkStatus();
  }));
  std::ranges::sort(objects, [](const StoredObject& a, const StoredObject& b) {
    return std::tie(a.start_s, a.key) < std::tie(b.start_s, b.key);
  });
  uint64_t bytes = 0;
  for (const StoredObject& object : objects) bytes += object.size;

  RetentionResult result;
  int64_t now_s = now_ns / kNsPerSecond;
  for (const StoredObject& object : objects) {
    const bool is_catalog = object.kind == ObjectKind::kCatalog;
    int64_t keep_s = policy.SecondsOf(object.retention);
    if (is_catalog && keep_s > 0) keep_s += kSecondsPerDay;
    bool too_old = keep_s > 0 && object.start_s + object.seconds + keep_s < now_s;
    bool too_many = policy.max_bytes > 0 && bytes > policy.max_bytes;
    bool newest = object.start_s == objects.back().start_s;
    if (!newest && (too_old || too_many)) {
      Status deleted = store.Delete(object.key);
      if (deleted) {
        bytes -= object.size;
        result.deleted_bytes += object.size;
        result.deleted.push_back(object.key);
        continue;
      }
      result.errors.push_back(object.key + ": " + deleted.error().message());
    }
    ++result.kept_objects;
  }
  result.kept_bytes = bytes;
  return result;
}

}  // namespace firetower::store
