// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/hotspots/named_selves.h"

#include "daemon/export/hotspots/slice_self.h"

namespace firetower::daemon {
namespace {

ContainerLabels ToMetrics(const k8s::PathLabels& labels) {
  return {labels.namespace_name, labels.pod, labels.container};
}

}  // namespace

void NamedSelves::Take(const Slice& slice, std::span<const ContainerSlice> selves) {
  containers_.clear();
  released_.clear();
  gone_.clear();
  for (size_t i = 0; i < selves.size(); ++i) {
    const Slice::ContainerEntry& entry = slice.containers[i];
    if (entry.decision.to_metrics && KindOf(entry)) TakeContainer(entry, selves[i]);
  }
  for (const auto& container : slice.gone) End(container);
  Release();
  for (const k8s::PathLabels& labels : names_.TakeRetired()) gone_.push_back(ToMetrics(labels));
}

void NamedSelves::TakeContainer(const Slice::ContainerEntry& entry, const ContainerSlice& self) {
  const NamedContainer* named = &names_.NameOf(entry.container);
  const bool is_held = held_.contains({entry.container.get(), self.kind});
  if (named->state == NameState::kAwaited && !is_held && held_.size() >= kMaxHeld) {
    names_.GiveUp(entry.container);
    named = &names_.NameOf(entry.container);
  }
  if (named->state == NameState::kAwaited || is_held) {
    Hold(entry, self);
  } else if (named->name->Shown()) {
    Show(*named->name, self.kind, self.functions, self.total, entry.decision.top_functions);
  }
}

void NamedSelves::Hold(const Slice::ContainerEntry& entry, const ContainerSlice& self) {
  std::unique_ptr<Held>& held = held_[{entry.container.get(), self.kind}];
  if (!held) held = std::make_unique<Held>();
  held->container = entry.container;
  held->kind = self.kind;
  held->total += self.total;
  held->top_functions = entry.decision.top_functions;
  for (const FunctionSelf& function : self.functions) {
    std::pair key{std::string(function.function), std::string(function.binary)};
    auto found = held->functions.find(key);
    if (found == held->functions.end()) {
      if (held->functions.size() >= kMaxHeldFunctions) continue;
      found = held->functions.emplace(std::move(key), Self{}).first;
    }
    found->second.value += function.value;
    found->second.samples += function.samples;
  }
}

void NamedSelves::End(const std::shared_ptr<const Container>& container) {
  bool is_held = false;
  for (size_t kind = 0; kind < kHotspotKinds; ++kind) {
    const auto held = held_.find({container.get(), static_cast<HotspotKind>(kind)});
    if (held == held_.end()) continue;
    held->second->gone = is_held = true;
  }
  if (is_held) return;
  const NamedContainer* named = names_.Find(*container);
  if (named != nullptr && named->name) gone_.push_back(ToMetrics(named->name->labels));
}

void NamedSelves::Release() {
  for (auto it = held_.begin(); it != held_.end();) {
    const NamedContainer& named = names_.NameOf(it->second->container);
    if (named.state == NameState::kAwaited) {
      ++it;
      continue;
    }
    Held& held = *it->second;
    if (named.name->Shown()) {
      for (const auto& [key, self] : held.functions)
        held.released.push_back({key.first, key.second, self.value, self.samples});
      Show(*named.name, held.kind, held.released, held.total, held.top_functions);
      if (held.gone) gone_.push_back(ToMetrics(named.name->labels));
    }
    released_.push_back(std::move(it->second));
    it = held_.erase(it);
  }
}

void NamedSelves::Show(const ContainerName& name, HotspotKind kind,
                       std::span<const FunctionSelf> functions, int64_t total,
                       size_t top_functions) {
  ContainerSlice shown;
  shown.kind = kind;
  shown.labels = ToMetrics(name.labels);
  shown.workload_kind = name.workload.kind;
  shown.workload = name.workload.name;
  shown.functions = functions;
  shown.total = total;
  shown.top_functions = top_functions;
  containers_.push_back(std::move(shown));
}

}  // namespace firetower::daemon
