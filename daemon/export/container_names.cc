// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/container_names.h"

#include <utility>

namespace firetower::daemon {
namespace {

constexpr int64_t kForgetEveryNs = 60 * kNsPerSecond;

ContainerName NameByPath(const Container& container) {
  return {container.labels, container.path.pod_uid, {}, false, false};
}

}  // namespace

void ContainerNames::Refresh() {
  now_ns_ = clock_.MonotonicNs();
  ++refresh_;
  std::shared_ptr<const k8s::PodIndex> index = pods_ ? pods_() : nullptr;
  if (index != index_) {
    index_ = std::move(index);
    ++generation_;
  }
  ForgetUnused(now_ns_);
}

const NamedContainer& ContainerNames::NameOf(const std::shared_ptr<const Container>& container) {
  return EntryOf(container).named;
}

const NamedContainer* ContainerNames::Find(const Container& container) const {
  const auto found = entries_.find(&container);
  return found == entries_.end() ? nullptr : &found->second.named;
}

void ContainerNames::GiveUp(const std::shared_ptr<const Container>& container) {
  Entry& entry = EntryOf(container);
  if (entry.named.state == NameState::kAwaited) Miss(entry);
}

void ContainerNames::Note(const std::shared_ptr<const Container>& container,
                          const Decision& decision) {
  Entry& entry = EntryOf(container, &decision);
  if (decision.open || !entry.open) return;
  entry.open.reset();
  if (!entry.named.name) return;
  ContainerName name = *entry.named.name;
  name.untaken = false;
  name.to_metrics = name.to_store = true;
  entry.named.name = std::make_shared<const ContainerName>(std::move(name));
}

void ContainerNames::Call(Entry& entry, NameState state, ContainerName name) const {
  if (entry.open && answer_) {
    const Decision settled = answer_(*entry.container);
    // Samples taken without the filter include tasks that the filter leaves out.
    name.untaken = settled.policies.empty() ||
                   !TaskFilter::Same(settled.filter.get(), entry.open->filter.get());
    name.to_metrics = settled.to_metrics;
    name.to_store = settled.to_store;
  }
  entry.named.state = state;
  entry.named.name = std::make_shared<const ContainerName>(std::move(name));
}

ContainerNames::Entry& ContainerNames::EntryOf(const std::shared_ptr<const Container>& container,
                                               const Decision* decision) {
  auto [found, inserted] = entries_.try_emplace(container.get());
  Entry& entry = found->second;
  if (inserted) {
    entry.container = container;
    entry.since_ns = now_ns_;
    if (decision != nullptr && decision->open) entry.open = *decision;
    if (!pods_ || container->path.pod_uid.empty())
      Call(entry, NameState::kKnown, NameByPath(*container));
  }
  if (entry.named.state != NameState::kKnown) {
    Look(entry);
  } else if (entry.looked_in != generation_) {
    LookForOptOut(entry);
  }
  return entry;
}

ContainerName ContainerNames::NameByPod(const Container& container, const k8s::Pod& pod,
                                        const k8s::PodContainer* found) const {
  ContainerName name;
  name.labels = {pod.namespace_name, pod.name,
                 found == nullptr ? container.labels.container : found->name};
  name.pod_uid = pod.uid;
  name.workload = pod.workload;
  name.opted_out = OptedOut(pod);
  return name;
}

void ContainerNames::LookForOptOut(Entry& entry) {
  entry.looked_in = generation_;
  const std::string& uid = entry.container->path.pod_uid;
  const std::shared_ptr<const k8s::Pod> pod = uid.empty() || !index_ ? nullptr : index_->Find(uid);
  if (pod == nullptr || OptedOut(*pod) == entry.named.name->opted_out) return;
  if (pod->opted_out) retired_.push_back(entry.named.name->labels);
  auto name = std::make_shared<ContainerName>(*entry.named.name);
  name->opted_out = OptedOut(*pod);
  entry.named.name = std::move(name);
}

void ContainerNames::Look(Entry& entry) {
  // Policies may wait for other things than a pod, so they are asked again once per slice.
  const bool ask = entry.asked_in != 0 && entry.asked_in != refresh_;
  const bool looked = entry.looked_in == generation_ && !ask;
  entry.looked_in = generation_;
  const Container& container = *entry.container;
  const std::shared_ptr<const k8s::Pod> pod =
      looked || !index_ ? nullptr : index_->Find(container.path.pod_uid);
  const k8s::PodContainer* found =
      pod == nullptr ? nullptr : pod->FindContainer(container.path.container_id);
  const bool in_time = now_ns_ - entry.since_ns < kWaitNs;
  if (pod != nullptr && (found != nullptr || !container.InContainer())) {
    if (entry.named.state == NameState::kAwaited && in_time && entry.open && answer_ &&
        answer_(container).open) {
      entry.asked_in = refresh_;
      return;
    }
    if (entry.named.name) retired_.push_back(entry.named.name->labels);
    Call(entry, NameState::kKnown, NameByPod(container, *pod, found));
    return;
  }
  entry.named.late = true;
  if (entry.named.state == NameState::kAwaited && !in_time) Miss(entry);
}

void ContainerNames::Miss(Entry& entry) {
  const Container& container = *entry.container;
  const std::shared_ptr<const k8s::Pod> pod =
      index_ ? index_->Find(container.path.pod_uid) : nullptr;
  Call(entry, NameState::kMissing,
       pod == nullptr ? NameByPath(container) : NameByPod(container, *pod, nullptr));
}

void ContainerNames::ForgetUnused(int64_t now_ns) {
  if (now_ns < next_forget_ns_) return;
  next_forget_ns_ = now_ns + kForgetEveryNs;
  // Every owner of a container's samples also holds the container. If a dropped one is found again
  // (the tree holds it weakly), its name is only asked for again.
  std::erase_if(entries_, [](const auto& one) { return one.second.container.use_count() == 1; });
}

}  // namespace firetower::daemon
