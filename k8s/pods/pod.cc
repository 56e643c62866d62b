// SPDX-License-Identifier: Apache-2.0
#include "k8s/pods/pod.h"

#include <algorithm>
#include <array>
#include <utility>

#include "k8s/client/exec_plugin.h"
#include "k8s/document/quantity.h"
#include "k8s/watch/object_meta.h"

namespace firetower::k8s {
namespace {

constexpr size_t kMaxNameBytes = 253;  // of any object (Kubernetes, "Object Names and IDs")
constexpr size_t kMaxKindBytes = 63;
constexpr size_t kMaxLabelKeyBytes = 253 + 1 + 63;
constexpr size_t kMaxLabelValueBytes = 63;
// Both are on the mirror of a static pod, with the same value (pkg/kubelet/pod/mirror_client.go).
constexpr std::string_view kConfigHash = "kubernetes.io/config.hash";
constexpr std::string_view kConfigMirror = "kubernetes.io/config.mirror";

struct ContainerList {
  ContainerKind kind;
  std::string_view spec;
  std::string_view status;
};
constexpr std::array<ContainerList, 3> kContainerLists = {{
    {ContainerKind::kRegular, "containers", "containerStatuses"},
    {ContainerKind::kInit, "initContainers", "initContainerStatuses"},
    {ContainerKind::kEphemeral, "ephemeralContainers", "ephemeralContainerStatuses"},
}};

const Node kNothing;

const Node& At(const Node& object, std::initializer_list<std::string_view> keys) {
  const Node* at = &object;
  for (const std::string_view key : keys) {
    at = at->Find(key);
    if (at == nullptr) return kNothing;
  }
  return *at;
}

// Returns 0bf1… for "containerd://0bf1…"; "" if it is not an id.
std::string_view BareId(std::string_view id) {
  const size_t prefix = id.find("://");
  if (prefix != std::string_view::npos) id.remove_prefix(prefix + 3);
  return id.size() <= kMaxContainerIdBytes ? id : "";
}

void AddId(PodContainer& container, std::string_view id) {
  if (id.empty() || container.ids.size() >= kMaxContainerIds) return;
  if (std::find(container.ids.begin(), container.ids.end(), id) != container.ids.end()) return;
  container.ids.emplace_back(id);
}

PodContainer* FindByName(std::vector<PodContainer>& containers, std::string_view name) {
  const auto found = std::find_if(containers.begin(), containers.end(),
                                  [&](const PodContainer& one) { return one.name == name; });
  return found == containers.end() ? nullptr : &*found;
}

// 0 if it is not a quantity. Kubernetes also accepts exponents, and suffixes for amounts that no
// node has.
ContainerRequests RequestsOf(const Node& container) {
  const auto amount = [&](std::string_view name) {
    return ParseQuantity(TextAt(container, {"resources", "requests", name})).value_or(Quantity{});
  };
  return {amount("cpu").MilliRoundedUp(), amount("memory").RoundedUp()};
}

void ReadContainers(const Node& object, Pod& pod) {
  for (const ContainerList& list : kContainerLists) {
    for (const Node& one : At(object, {"spec", list.spec}).items) {
      const std::string_view name = TextAt(one, {"name"});
      if (name.empty() || name.size() > kMaxNameBytes) continue;
      if (pod.containers.size() >= kMaxPodContainers) return;
      const bool sidecar =
          list.kind == ContainerKind::kInit && TextAt(one, {"restartPolicy"}) == "Always";
      pod.containers.push_back(
          {std::string(name), sidecar ? ContainerKind::kSidecar : list.kind, {}, RequestsOf(one)});
    }
  }
}

void ReadIds(const Node& object, Pod& pod) {
  for (const ContainerList& list : kContainerLists) {
    for (const Node& one : At(object, {"status", list.status}).items) {
      // Names are unique among a pod's containers of all kinds.
      PodContainer* container = FindByName(pod.containers, TextAt(one, {"name"}));
      if (container == nullptr) continue;
      AddId(*container, BareId(TextAt(one, {"containerID"})));
      AddId(*container, BareId(TextAt(one, {"state", "terminated", "containerID"})));
      AddId(*container, BareId(TextAt(one, {"lastState", "terminated", "containerID"})));
    }
  }
}

void ReadLabels(const Node& object, Pod& pod) {
  for (const NodeEntry& entry : At(object, {"metadata", "labels"}).entries) {
    const bool fits = entry.key.size() <= kMaxLabelKeyBytes &&
                      entry.value.text.size() <= kMaxLabelValueBytes &&
                      pod.labels.size() < kMaxPodLabels;
    if (fits) pod.labels.emplace(entry.key, entry.value.text);
  }
  // Looked at by itself: it counts, however many labels there are.
  pod.opted_out = TextAt(object, {"metadata", "labels", kOptOutLabel}) == "false";
}

PodOwner OwnerOf(const Node& object) {
  for (const Node& owner : At(object, {"metadata", "ownerReferences"}).items) {
    if (TextAt(owner, {"controller"}) != "true") continue;
    const PodOwner found{TextAt(owner, {"kind"}), TextAt(owner, {"name"})};
    if (found.kind.size() <= kMaxKindBytes && found.name.size() <= kMaxNameBytes) return found;
  }
  return {};
}

Qos QosOf(std::string_view text) {
  for (const Qos qos : {Qos::kGuaranteed, Qos::kBurstable, Qos::kBestEffort}) {
    if (text == QosName(qos)) return qos;
  }
  return Qos::kNone;
}

}  // namespace

const PodContainer* Pod::FindContainer(std::string_view id) const {
  for (const PodContainer& container : containers) {
    if (std::find(container.ids.begin(), container.ids.end(), id) != container.ids.end())
      return &container;
  }
  return nullptr;
}

FieldSet PodFields() {
  FieldSet fields = {"metadata.labels",
                     "metadata.creationTimestamp",
                     "metadata.ownerReferences.kind",
                     "metadata.ownerReferences.name",
                     "metadata.ownerReferences.controller",
                     "spec.nodeName",
                     "spec.initContainers.restartPolicy",
                     "status.qosClass"};
  fields.Keep({"metadata", "annotations", kConfigHash});
  fields.Keep({"metadata", "annotations", kConfigMirror});
  for (const ContainerList& list : kContainerLists) {
    fields.Keep({"spec", list.spec, "name"});
    fields.Keep({"spec", list.spec, "resources", "requests", "cpu"});
    fields.Keep({"spec", list.spec, "resources", "requests", "memory"});
    fields.Keep({"status", list.status, "name"});
    fields.Keep({"status", list.status, "containerID"});
    fields.Keep({"status", list.status, "state", "terminated", "containerID"});
    fields.Keep({"status", list.status, "lastState", "terminated", "containerID"});
  }
  return fields;
}

Result<Pod> PodOf(const Node& object) {
  Pod pod;
  pod.namespace_name = TextAt(object, {"metadata", "namespace"});
  pod.name = TextAt(object, {"metadata", "name"});
  pod.uid = TextAt(object, {"metadata", "uid"});
  for (const std::string* text : {&pod.namespace_name, &pod.name, &pod.uid}) {
    if (text->empty() || text->size() > kMaxNameBytes)
      return Error(ErrorCode::kCorrupt,
                   "a pod has no namespace, name or uid, or a longer one than "
                   "Kubernetes allows");
  }
  const std::string_view hash = TextAt(object, {"metadata", "annotations", kConfigHash});
  // A uid has hyphens and kubelet's hash has none: no pod can pass for another one.
  const bool is_static = !hash.empty() && hash.size() <= kMaxNameBytes &&
                         hash.find('-') == std::string_view::npos &&
                         TextAt(object, {"metadata", "annotations", kConfigMirror}) == hash;
  pod.cgroup_uid = is_static ? std::string(hash) : pod.uid;
  pod.node = TextAt(object, {"spec", "nodeName"}).substr(0, kMaxNameBytes);
  pod.qos = QosOf(TextAt(object, {"status", "qosClass"}));
  ReadLabels(object, pod);
  const PodOwner owner = OwnerOf(object);
  pod.owner = {std::string(owner.kind), std::string(owner.name)};
  pod.workload = WorkloadOf(owner, pod.name, pod.labels,
                            ParseTimestampNs(TextAt(object, {"metadata", "creationTimestamp"})));
  ReadContainers(object, pod);
  ReadIds(object, pod);
  return pod;
}

void KeepEarlierIds(const Pod& before, Pod& pod) {
  for (const PodContainer& earlier : before.containers) {
    PodContainer* container = FindByName(pod.containers, earlier.name);
    if (container == nullptr) continue;
    for (const std::string& id : earlier.ids) AddId(*container, id);
  }
}

}  // namespace firetower::k8s
