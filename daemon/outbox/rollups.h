// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "store/key.h"
#include "store/store.h"

namespace firetower::daemon {

// Merges this node's windows of each ten minutes into one bundle, and those of each hour into
// another one, so that a query over hours reads little (docs/adr/0014-catalogs.md). Includes the
// windows of an earlier run of the daemon, if its bundles are still here. Belongs to one thread.
class RollUps {
 public:
  // Windows are sent late when they wait for the names of pods.
  static constexpr int64_t kGraceSeconds = 120;
  // The time range that is searched for missing roll-ups.
  static constexpr int64_t kLookBackSeconds = 3600 + 600;

  // `copies` has the bundles of the last hour; roll-ups are written to `to`. Both must outlive
  // this.
  RollUps(const store::ObjectStore& copies, store::ObjectStore& to, const Clock& clock,
          std::string cluster, std::string node)
      : copies_(copies),
        to_(to),
        clock_(clock),
        cluster_(std::move(cluster)),
        node_(std::move(node)) {}

  // Makes the roll-ups that are due. Must be called about once a minute. Failures are logged and
  // tried again.
  void Look();
  uint64_t made() const { return made_; }

 private:
  // Keys are scope and run.
  using Sources = std::map<std::pair<std::string, std::string>, std::vector<std::string>>;

  void LookAt(int64_t start_s, int64_t seconds);
  Result<Sources> SourcesOf(store::RetentionClass retention, int64_t start_s,
                            int64_t seconds) const;
  Status Make(const store::BundleKey& key, const std::vector<std::string>& bundles);

  const store::ObjectStore& copies_;
  store::ObjectStore& to_;
  const Clock& clock_;
  const std::string cluster_;
  const std::string node_;
  std::set<std::pair<int64_t, int64_t>> done_;  // length and start, of those looked at
  uint64_t made_ = 0;
};

}  // namespace firetower::daemon
