// SPDX-License-Identifier: Apache-2.0
#include "k8s/pods/pod_tracker.h"

#include <algorithm>
#include <utility>

namespace firetower::k8s {

Resource PodsOf(std::string_view node) {
  return {"pods", "/api/v1/pods", "spec.nodeName=" + std::string(node), "", PodFields()};
}

std::shared_ptr<Pod> PodTracker::Read(const Node& object) {
  Result<Pod> read = PodOf(object);
  if (!read) {
    ++left_out_;
    return nullptr;
  }
  auto pod = std::make_shared<Pod>(*std::move(read));
  const auto before = live_.find(pod->cgroup_uid);
  if (before != live_.end() && before->second->uid == pod->uid)
    KeepEarlierIds(*before->second, *pod);
  return pod;
}

void PodTracker::Put(std::shared_ptr<const Pod> pod, Pods& into) {
  if (into.size() >= kMaxPods && !into.contains(pod->cgroup_uid)) {
    ++left_out_;
    return;
  }
  std::string key = pod->cgroup_uid;
  into[std::move(key)] = std::move(pod);
}

void PodTracker::MoveToGone(std::shared_ptr<const Pod> pod) {
  changed_ = true;
  if (gone_.size() >= kMaxGone && !gone_.contains(pod->cgroup_uid)) {
    gone_.erase(std::min_element(gone_.begin(), gone_.end(), [](const auto& a, const auto& b) {
      return a.second.since_ns < b.second.since_ns;
    }));
  }
  std::string key = pod->cgroup_uid;
  gone_[std::move(key)] = {std::move(pod), clock_.MonotonicNs()};
}

void PodTracker::AddToSet(const Node& object) {
  if (std::shared_ptr<const Pod> pod = Read(object)) Put(std::move(pod), set_);
}

void PodTracker::RemoveFromSet(const Node& object) {
  const std::shared_ptr<const Pod> pod = Read(object);
  if (pod == nullptr) return;
  const auto found = set_.find(pod->cgroup_uid);
  if (found != set_.end() && found->second->uid != pod->uid) return;  // an old mirror
  if (found != set_.end()) set_.erase(found);
  MoveToGone(pod);  // seen and gone within one list
}

void PodTracker::CommitSet() {
  Pods before = std::exchange(live_, std::exchange(set_, {}));
  for (auto& [uid, pod] : before) {
    const auto now = live_.find(uid);
    // A static pod with a new mirror pod has not gone.
    if (now == live_.end()) MoveToGone(std::move(pod));
  }
  changed_ = true;
  Flush();
}

void PodTracker::Upsert(const Node& object) {
  std::shared_ptr<const Pod> pod = Read(object);
  if (pod == nullptr) return;
  Put(std::move(pod), live_);
  changed_ = true;
}

void PodTracker::Delete(const Node& object) {
  // The last state may have an id that no earlier one had: of a container that ran briefly.
  std::shared_ptr<const Pod> pod = Read(object);
  if (pod == nullptr) return;
  const auto found = live_.find(pod->cgroup_uid);
  if (found != live_.end() && found->second->uid != pod->uid) return;  // an old mirror
  if (found != live_.end()) live_.erase(found);
  MoveToGone(std::move(pod));
}

void PodTracker::EvictLongGone() {
  const int64_t before_ns = clock_.MonotonicNs() - kKeepGoneNs;
  std::erase_if(gone_, [&](const auto& one) { return one.second.since_ns < before_ns; });
}

void PodTracker::Flush() {
  if (!changed_) return;
  changed_ = false;
  EvictLongGone();
  PodIndex::Pods live;
  PodIndex::Pods gone;
  live.reserve(live_.size());
  gone.reserve(gone_.size());
  for (const auto& [uid, pod] : live_) live.push_back(pod);
  for (const auto& [uid, one] : gone_) gone.push_back(one.pod);
  index_.Publish(std::make_shared<const PodIndex>(std::move(live), std::move(gone)));
  if (on_change_) on_change_();
}

}  // namespace firetower::k8s
