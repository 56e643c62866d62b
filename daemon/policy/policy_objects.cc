// SPDX-License-Identifier: Apache-2.0
#include "daemon/policy/policy_objects.h"

#include <fmt/format.h>

#include <utility>

namespace firetower::daemon {

PolicyObjects::PolicyObjects(const Clock& clock) : clock_(clock) {
  for (const bool cluster : {false, true}) {
    kinds_[cluster ? 1 : 0] = std::make_unique<Kind>(
        [cluster](const k8s::Node& node) { return k8s::ReadPolicyObject(node, cluster); },
        kMaxOfAKind, nullptr, [this] { changed_.Notify(); });
  }
}

k8s::Resource PolicyObjects::ResourceOf(bool cluster) {
  k8s::Resource resource;
  resource.name = cluster ? "clusterprofilingpolicies" : "profilingpolicies";
  resource.path = fmt::format("{}/{}", k8s::kPolicyApi, resource.name);
  resource.fields = k8s::PolicyObjectFields();
  return resource;
}

k8s::ObjectConsumer& PolicyObjects::consumer(bool cluster) { return *kinds_[cluster ? 1 : 0]; }

bool PolicyObjects::Reload() {
  changed_.Clear();
  std::array<std::shared_ptr<const Kind::Objects>, 2> snapshots;
  std::vector<Identity> identities;
  uint64_t left_out = 0;
  for (size_t i = 0; i < kinds_.size(); ++i) {
    snapshots[i] = kinds_[i]->Get();
    left_out += kinds_[i]->left_out();
    if (snapshots[i] == nullptr) continue;
    for (const auto& [key, entry] : *snapshots[i]) {
      const k8s::PolicyObject& object = *entry.value;
      identities.emplace_back(object.display_name, object.uid, object.generation,
                              object.policy.has_value());
    }
  }
  if (identities == identities_ && left_out == left_out_) return false;
  identities_ = std::move(identities);
  left_out_ = left_out;
  const std::vector<LoadedPolicy> before = std::exchange(policies_, {});
  errors_.clear();
  refused_ = 0;
  warnings_.clear();
  if (left_out_ > 0) {
    warnings_.push_back(
        fmt::format("{} policies of the API server are ignored: at most {} of a kind are supported",
                    left_out_, kMaxOfAKind));
  }
  for (const auto& snapshot : snapshots) {
    if (snapshot == nullptr) continue;
    for (const auto& [key, entry] : *snapshot) Take(*entry.value);
  }
  for (LoadedPolicy& loaded : policies_) {
    if (loaded.policy.created_ns > 0) continue;
    // A server that does not say when it was created: since it is known here.
    loaded.since_ns = clock_.WallNs();
    for (const LoadedPolicy& old : before)
      if (old.policy.uid == loaded.policy.uid) loaded.since_ns = old.since_ns;
  }
  return true;
}

void PolicyObjects::Take(const k8s::PolicyObject& object) {
  errors_.insert(errors_.end(), object.errors.begin(), object.errors.end());
  if (!object.errors.empty()) ++refused_;
  if (!object.policy) return;
  if (!object.ignored_fields.empty()) {
    warnings_.push_back(fmt::format("{}: this version does not know {}: ignored",
                                    object.display_name, fmt::join(object.ignored_fields, ", ")));
  }
  policies_.push_back({*object.policy, object.policy->created_ns});
}

}  // namespace firetower::daemon
