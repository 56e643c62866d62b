// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/snapshot.h"
#include "diagnosis/report.h"
#include "query/rollouts/rollouts.h"
#include "store/query.h"

namespace firetower::hub {

// A roll-out, and the functions that take more CPU since, the most first.
struct Regression {
  query::Rollout rollout;
  std::vector<diagnosis::Finding> findings;
};

struct RolloutFigures {
  uint64_t rollouts = 0;
  uint64_t looks = 0;
  uint64_t failed_looks = 0;
  uint64_t regressions = 0;        // roll-outs after which some function takes more
  std::string error;               // of the last look; empty: it went well
  std::vector<Regression> recent;  // of roll-outs within the last hour, the newest first
};

// Watches the stored profiles for roll-outs, and compares the pods after each with those before:
// kLooksNs after it, until functions have grown beyond chance, which is then told once. Each look
// names some function by chance in one of a hundred roll-outs that changed nothing, so all of them
// together do so in at most three. Belongs to one thread, except figures().
class RolloutWatch {
 public:
  static constexpr int64_t kEveryNs = 60 * kNsPerSecond;
  static constexpr int64_t kKeptNs = 3600 * kNsPerSecond;
  // The first is after two windows of the new pods, which are stored half a minute later.
  static constexpr std::array<int64_t, 3> kLooksNs = {150 * kNsPerSecond, 360 * kNsPerSecond,
                                                      900 * kNsPerSecond};

  using Tell = std::function<void(const Regression&)>;

  // Borrows the source and the clock. `limits` are those of a comparison; `tell` is called by
  // Look().
  RolloutWatch(store::ProfileSource source, const Clock& clock, const store::QueryLimits& limits,
               Tell tell);

  // Looks if this hub leads and the last look was a minute ago. Who begins to lead looks back half
  // an hour, and makes only the comparisons that are due from then on.
  void Look(bool leads, const std::stop_token& stop = {});
  std::shared_ptr<const RolloutFigures> figures() const { return figures_.Get(); }

 private:
  // Namespace, workload and the time of a roll-out.
  using Key = std::tuple<std::string, std::string, int64_t>;
  struct Watched {
    query::Rollout rollout;
    size_t next_look = 0;
  };

  // Returns how many of them the store did not give.
  Result<uint64_t> ReadRows(int64_t now_ns, const std::stop_token& stop);
  void Schedule(int64_t now_ns);
  Status Compare(const query::Rollout& rollout, int64_t now_ns, const std::stop_token& stop);
  void ForgetOld(int64_t now_ns);

  const store::ProfileSource source_;
  const Clock& clock_;
  const store::QueryLimits limits_;
  const Tell tell_;
  int64_t due_ns_ = 0;   // monotonic
  int64_t read_ns_ = 0;  // wall: up to when rows were read; 0: none
  query::RolloutFinder finder_;
  std::map<Key, Watched> watched_;
  RolloutFigures now_;
  SnapshotCell<RolloutFigures> figures_;
};

}  // namespace firetower::hub
