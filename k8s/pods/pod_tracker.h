// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/snapshot.h"
#include "k8s/pods/pod_index.h"
#include "k8s/watch/object_consumer.h"
#include "k8s/watch/reflector.h"

namespace firetower::k8s {

// The pods of one node, as the API server knows them: what a Reflector of PodsOf(node) feeds. The
// reflector's thread changes it, any thread reads the latest index.
//
// A deleted pod stays resolvable for kKeepGoneNs, for its last samples are still on their way; so
// do the ids of containers that restarted. Bounded by kMaxPods and kMaxGone: pods beyond the one
// are left out and counted, beyond the other the longest gone go first.
class PodTracker final : public ObjectConsumer {
 public:
  static constexpr size_t kMaxPods = 2048;  // several times what a kubelet takes
  static constexpr size_t kMaxGone = 4096;  // a few minutes of 20 deletions a second
  static constexpr int64_t kKeepGoneNs = 300 * kNsPerSecond;

  // `clock` outlives this. `on_change`, if any, is called after each new index.
  explicit PodTracker(const Clock& clock, std::function<void()> on_change = nullptr)
      : clock_(clock), on_change_(std::move(on_change)) {}

  // nullptr before the first set was whole.
  std::shared_ptr<const PodIndex> index() const { return index_.Get(); }
  // Objects that were no pods, or too many. Reflector's thread only.
  uint64_t left_out() const { return left_out_; }

  void BeginSet() override { set_.clear(); }
  void AddToSet(const Node& object) override;
  void RemoveFromSet(const Node& object) override;
  void AbandonSet() override { set_.clear(); }
  void CommitSet() override;
  void Upsert(const Node& object) override;
  void Delete(const Node& object) override;
  void Flush() override;

 private:
  using Pods = std::map<std::string, std::shared_ptr<const Pod>>;  // by cgroup_uid
  struct Gone {
    std::shared_ptr<const Pod> pod;
    int64_t since_ns = 0;
  };

  // The pod of `object` with what was known of it before; nullptr when it is none.
  std::shared_ptr<Pod> Read(const Node& object);
  void Put(std::shared_ptr<const Pod> pod, Pods& into);
  void MoveToGone(std::shared_ptr<const Pod> pod);
  void EvictLongGone();

  const Clock& clock_;
  const std::function<void()> on_change_;
  Pods live_;
  Pods set_;
  std::map<std::string, Gone> gone_;  // by cgroup_uid
  bool changed_ = false;
  uint64_t left_out_ = 0;
  SnapshotCell<PodIndex> index_;
};

// The pods of `node`, and no others: five thousand nodes that each watched all pods would bring an
// API server down.
Resource PodsOf(std::string_view node);

}  // namespace firetower::k8s
