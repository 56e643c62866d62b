// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/clock.h"
#include "k8s/pods/pod.h"
#include "k8s/pods/pod_tracker.h"

// A pod object as an API server might send it: whatever it holds, what is kept is bounded, and can
// be found again.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace k8s = firetower::k8s;
  static const k8s::FieldSet fields = [] {
    k8s::FieldSet set = k8s::PodFields();
    for (const std::string_view name : {"name", "namespace", "uid"}) set.Keep({"metadata", name});
    return set;
  }();
  const auto object = k8s::ParseObject({reinterpret_cast<const char*>(data), size}, fields);
  if (!object) return 0;
  const auto pod = k8s::PodOf(*object);
  firetower::FakeClock clock(1, 1);
  k8s::PodTracker tracker(clock);
  tracker.Upsert(*object);
  tracker.CommitSet();
  if (!pod) {
    CHECK(tracker.left_out() == 1);
    return 0;
  }
  CHECK(!pod->namespace_name.empty() && !pod->name.empty() && !pod->cgroup_uid.empty());
  CHECK(!pod->workload.kind.empty() && !pod->workload.name.empty());
  CHECK(pod->labels.size() <= k8s::kMaxPodLabels);
  CHECK(pod->containers.size() <= k8s::kMaxPodContainers);
  for (const k8s::PodContainer& container : pod->containers) {
    CHECK(container.ids.size() <= k8s::kMaxContainerIds);
    for (const std::string& id : container.ids) CHECK(pod->FindContainer(id) != nullptr);
  }
  CHECK(tracker.index()->Find(pod->cgroup_uid) != nullptr);
  return 0;
}
