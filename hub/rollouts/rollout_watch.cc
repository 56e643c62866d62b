// SPDX-License-Identifier: Apache-2.0
#include "hub/rollouts/rollout_watch.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "query/diagnose/growth.h"
#include "store/find.h"

namespace firetower::hub {
namespace {

constexpr int64_t kReachNs = 1800 * kNsPerSecond;
// Windows are stored that much later than they begin, at most.
constexpr int64_t kLateNs = 240 * kNsPerSecond;
// Rows are looked at one by one and not held: 5,000 nodes of 30 containers have 4.5 million in half
// an hour.
constexpr uint64_t kMaxRows = 10'000'000;
// A comparison that the store did not answer is made again, each minute for so long.
constexpr int64_t kTriesNs = 600 * kNsPerSecond;

bool HasGrown(const diagnosis::Finding& finding) {
  return finding.signature == "grew" || finding.signature == "new-hotspot";
}

}  // namespace

RolloutWatch::RolloutWatch(store::ProfileSource source, const Clock& clock,
                           const store::QueryLimits& limits, Tell tell)
    : source_(source), clock_(clock), limits_(limits), tell_(std::move(tell)) {
  figures_.Publish(std::make_shared<const RolloutFigures>());
}

void RolloutWatch::Look(bool leads, const std::stop_token& stop) {
  const int64_t now_ns = clock_.MonotonicNs();
  if (!leads) {
    // Another hub makes the comparisons of this time.
    watched_.clear();
    read_ns_ = due_ns_ = 0;
    return;
  }
  if (now_ns < due_ns_) return;
  due_ns_ = now_ns + kEveryNs;
  const int64_t wall_ns = clock_.WallNs();
  const Result<uint64_t> lacked = ReadRows(wall_ns, stop);
  Status looked = lacked ? OkStatus() : Status(lacked.error());
  if (lacked) {
    if (*lacked > 0)
      looked = Error(ErrorCode::kUnavailable,
                     fmt::format("{} bundles or profiles could not be read", *lacked));
    Schedule(wall_ns);
    for (auto& [key, watched] : watched_) {
      if (watched.next_look == kLooksNs.size() || stop.stop_requested()) continue;
      const size_t look = watched.next_look;
      const int64_t due_ns = watched.rollout.at_ns + kLooksNs[look];
      if (wall_ns < due_ns) continue;
      const Status compared = Compare(watched.rollout, wall_ns, stop);
      if (!compared) looked = compared;
      if (watched.next_look == look && (compared || wall_ns - due_ns >= kTriesNs))
        ++watched.next_look;
    }
  }
  if (stop.stop_requested()) return;
  ForgetOld(wall_ns);
  ++(looked ? now_.looks : now_.failed_looks);
  now_.error = looked ? "" : looked.error().message();
  if (!looked) LOG(kWarn, "roll-outs could not be looked at", {{"error", now_.error}});
  figures_.Publish(std::make_shared<const RolloutFigures>(now_));
}

Result<uint64_t> RolloutWatch::ReadRows(int64_t now_ns, const std::stop_token& stop) {
  store::Query query;
  query.type = profile::ProfileType{};  // cpu
  query.from_ns = std::max(read_ns_, now_ns - kReachNs) - kLateNs;
  query.to_ns = now_ns;
  store::QueryLimits limits = limits_;
  limits.max_rows = kMaxRows;
  limits.calls.stop = stop;
  store::SkippedList skipped;
  RETURN_IF_ERROR(store::FindProfiles(source_, query, limits, store::Resolution::kWindows, &skipped,
                                      [&](const store::FoundProfile& found) -> Status {
                                        finder_.Add(*found.row);
                                        return OkStatus();
                                      }));
  // The next look may read what this one could not.
  if (skipped.lacked == 0) read_ns_ = now_ns;
  return skipped.lacked;
}

void RolloutWatch::Schedule(int64_t now_ns) {
  for (const query::Rollout& rollout : finder_.Find()) {
    const auto [at, is_new] =
        watched_.try_emplace({rollout.namespace_name, rollout.workload, rollout.at_ns});
    if (!is_new) continue;
    Watched& watched = at->second;
    watched.rollout = rollout;
    ++now_.rollouts;
    // Looks of long ago were another hub's, or this one's before it was started again.
    while (watched.next_look < kLooksNs.size() &&
           now_ns - rollout.at_ns - kLooksNs[watched.next_look] > 2 * kEveryNs)
      ++watched.next_look;
  }
}

Status RolloutWatch::Compare(const query::Rollout& rollout, int64_t now_ns,
                             const std::stop_token& stop) {
  query::Sides sides;
  const auto [before, after] = query::RangesOf(rollout, rollout.at_ns, now_ns);
  profile::Selector selector;
  for (const auto& [label, value] :
       {std::pair{"namespace", rollout.namespace_name}, std::pair{"workload", rollout.workload}}) {
    ASSIGN_OR_RETURN(profile::Matcher matcher,
                     profile::Matcher::Create(label, profile::MatchOp::kEqual, value));
    selector = selector.With(std::move(matcher));
  }
  const auto fill = [&](query::Question& side, const query::TimeRange& range,
                        const std::string& revision) {
    side.limits = limits_;
    side.limits.calls.stop = stop;
    side.range = range;
    side.query.type = profile::ProfileType{};
    side.query.from_ns = range.from_ns;
    side.query.to_ns = range.to_ns;
    side.query.selector = query::PodsOf(selector, rollout.workload, revision);
  };
  fill(sides.after, after, rollout.after);
  fill(sides.base, before, rollout.before);
  Result<query::Growth> growth = query::FindGrowthSince(sides, {}, source_);
  if (!growth) {
    // Retention may have taken what there was before.
    return growth.error().code() == ErrorCode::kNotFound ? OkStatus() : Status(growth.error());
  }
  for (const store::SkippedList* skipped : {&growth->base_skipped, &growth->after_skipped}) {
    if (skipped->lacked > 0)
      return Error(ErrorCode::kUnavailable,
                   fmt::format("{} of the profiles of {}/{} could not be read", skipped->lacked,
                               rollout.namespace_name, rollout.workload));
  }
  std::vector<diagnosis::Finding>& found = growth->findings;
  std::erase_if(found, [](const diagnosis::Finding& finding) { return !HasGrown(finding); });
  if (found.empty() || stop.stop_requested()) return OkStatus();
  watched_[{rollout.namespace_name, rollout.workload, rollout.at_ns}].next_look = kLooksNs.size();
  ++now_.regressions;
  now_.recent.insert(now_.recent.begin(), {rollout, std::move(found)});
  tell_(now_.recent.front());
  return OkStatus();
}

void RolloutWatch::ForgetOld(int64_t now_ns) {
  finder_.Forget(now_ns - kKeptNs);
  std::erase_if(watched_, [&](const auto& watched) {
    return watched.second.rollout.at_ns < now_ns - 2 * kKeptNs;
  });
  std::erase_if(now_.recent, [&](const Regression& regression) {
    return regression.rollout.at_ns < now_ns - kKeptNs;
  });
}

}  // namespace firetower::hub
