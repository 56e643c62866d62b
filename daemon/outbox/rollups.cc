// SPDX-License-Identifier: Apache-2.0
#include "daemon/outbox/rollups.h"

#include <algorithm>

#include "base/log.h"
#include "store/catalog/rollup.h"

namespace firetower::daemon {
namespace {

constexpr int64_t kTenMinutes = 600;
constexpr int64_t kHour = 3600;

}  // namespace

void RollUps::Look() {
  const int64_t now_s = clock_.WallNs() / kNsPerSecond;
  for (const int64_t seconds : {kTenMinutes, kHour}) {
    // An hour after its last ten minutes.
    const int64_t grace_s = seconds == kHour ? 2 * kGraceSeconds : kGraceSeconds;
    const int64_t end_s = (now_s - grace_s) / seconds * seconds;
    const int64_t first_s = (now_s - kLookBackSeconds + seconds - 1) / seconds * seconds;
    for (int64_t start_s = std::max<int64_t>(first_s, 0); start_s + seconds <= end_s;
         start_s += seconds) {
      if (!done_.contains({seconds, start_s})) LookAt(start_s, seconds);
    }
  }
  std::erase_if(done_, [&](const auto& one) { return one.second < now_s - 2 * kLookBackSeconds; });
}

void RollUps::LookAt(int64_t start_s, int64_t seconds) {
  bool done = true;
  for (const store::RetentionClass retention : store::kRetentionClasses) {
    Result<Sources> sources = SourcesOf(retention, start_s, seconds);
    if (!sources) {
      LOG(kWarn, "no roll-up: bundles not listed", {{"error", sources.error().message()}});
      done = false;
      continue;
    }
    for (const auto& [of, bundles] : *sources) {
      const store::BundleKey key{.retention = retention,
                                 .cluster = cluster_,
                                 .start_s = start_s,
                                 .seconds = seconds,
                                 .scope = of.first,
                                 .node = node_,
                                 .run = of.second,
                                 .rolled_up = true};
      if (Status made = Make(key, bundles); !made) {
        LOG(kWarn, "no roll-up", {{"error", made.error().message()}});
        done = false;
      }
    }
  }
  if (done) done_.emplace(seconds, start_s);
}

Result<RollUps::Sources> RollUps::SourcesOf(store::RetentionClass retention, int64_t start_s,
                                            int64_t seconds) const {
  const std::string prefix = seconds == kHour
                                 ? store::RollUpPrefix(retention, cluster_, kTenMinutes)
                                 : store::BundlePrefix(retention, cluster_);
  Sources sources;
  std::string after = prefix + store::BundleTimePath(start_s);
  for (;;) {
    ASSIGN_OR_RETURN(std::vector<store::ObjectInfo> page, copies_.List(prefix, after));
    for (const store::ObjectInfo& object : page) {
      const Result<store::BundleKey> key = store::ParseBundleKey(object.key);
      if (!key || key->node != node_) continue;
      if (key->start_s >= start_s + seconds) return sources;
      sources[{key->scope, key->run}].push_back(object.key);
    }
    if (page.size() < store::ObjectStore::kMaxListed) return sources;
    after = page.back().key;
  }
}

Status RollUps::Make(const store::BundleKey& key, const std::vector<std::string>& bundles) {
  ASSIGN_OR_RETURN(const std::string name, store::BuildKey(key));
  if (copies_.Size(name)) return OkStatus();
  ASSIGN_OR_RETURN(const store::RolledUp rolled, store::RollUp(copies_, bundles, key.start_s));
  for (const store::Skipped& skipped : rolled.skipped.items) {
    LOG(kWarn, "left out of a roll-up",
        {{"key", skipped.key}, {"entry", skipped.entry}, {"reason", skipped.reason}});
  }
  if (rolled.bytes.empty()) return OkStatus();
  RETURN_IF_ERROR(to_.Put(name, rolled.bytes));
  ++made_;
  return OkStatus();
}

}  // namespace firetower::daemon
