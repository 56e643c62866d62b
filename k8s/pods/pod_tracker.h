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

// Tracks the pods of one node, fed by a Reflector of PodsOf(node). The reflector's thread changes
// it; any thread reads the latest index.
//
// A deleted pod stays resolvable for kKeepGoneNs, because its last samples may still arrive, and so
// do the ids of containers that restarted. Bounded by kMaxPods and kMaxGone: pods beyond kMaxPods
// are ignored and counted; beyond kMaxGone the longest gone are dropped.
class PodTracker final : public ObjectConsumer {
 public:
  static constexpr size_t kMaxPods = 2048;  // several times a kubelet's maximum
  static constexpr size_t kMaxGone = 4096;  // a few minutes of 20 deletions a second
  static constexpr int64_t kKeepGoneNs = 300 * kNsPerSecond;

  // `clock` must outlive this. `on_change`, if set, is called after each new index.
  explicit PodTracker(const Clock& clock, std::function<void()> on_change = nullptr)
      : clock_(clock), on_change_(std::move(on_change)) {}

  // Returns nullptr before the first complete list.
  std::shared_ptr<const PodIndex> index() const { return index_.Get(); }
  // The number of objects that were not pods, or too many. For the reflector's thread only.
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

  // Returns the pod of `object`, completed with what was known about it; nullptr if it is invalid.
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

// Selects only the pods of `node`: five thousand nodes that each watch all pods would overload an
// API server.
Resource PodsOf(std::string_view node);

}  // namespace firetower::k8s
