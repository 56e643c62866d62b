// SPDX-License-Identifier: Apache-2.0
// A pod as samples need it: who it is, what runs it, and which container has which id.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "k8s/cgroup_path.h"
#include "k8s/document/node.h"
#include "k8s/pods/workload.h"
#include "k8s/selector.h"
#include "k8s/watch/object_fields.h"

namespace firetower::k8s {

// Bounds of one pod; the API server allows more only to whom it trusts with a node.
inline constexpr size_t kMaxPodContainers = 128;
inline constexpr size_t kMaxPodLabels = 256;
inline constexpr size_t kMaxContainerIdBytes = 128;
// Earlier ids of a container that are kept beside the one of today.
inline constexpr size_t kMaxContainerIds = 8;

enum class ContainerKind {
  kRegular,
  kInit,       // runs to its end before the regular ones start
  kSidecar,    // an init container that goes on (restartPolicy: Always)
  kEphemeral,  // added by `kubectl debug`
};

// Requests of a container; 0: none, or in a form that nobody writes. Its limits are read from its
// cgroup.
struct ContainerRequests {
  int64_t cpu_millis = 0;
  int64_t memory_bytes = 0;

  bool operator==(const ContainerRequests&) const = default;
};

struct PodContainer {
  std::string name;
  ContainerKind kind = ContainerKind::kRegular;
  // Without the runtime's prefix ("containerd://"), the present one first. None before kubelet has
  // written one into the status, which it does some time after the container began to run.
  std::vector<std::string> ids;
  ContainerRequests requests = {};
};

// The label that takes a pod, or all pods of a namespace, out of every policy when it is "false".
inline constexpr std::string_view kOptOutLabel = "firetower.dev/profile";

struct Pod {
  std::string namespace_name;
  std::string name;
  std::string uid;
  // The uid in cgroup paths: the pod's, but for a static pod the hash of its file. The object of a
  // static pod is a mirror that kubelet makes, with a uid of its own.
  std::string cgroup_uid;
  std::string node;
  Qos qos = Qos::kNone;
  Workload workload;
  Workload owner;  // what controls it itself, such as a Deployment's ReplicaSet; empty: nothing
  Labels labels;
  // The label firetower.dev/profile is "false": nothing of it is to be profiled.
  bool opted_out = false;
  std::vector<PodContainer> containers;

  // The container with this id; nullptr while none is known to have it.
  const PodContainer* FindContainer(std::string_view id) const;
};

// Returns the fields that PodOf reads: a kilobyte or two of a pod's ten.
FieldSet PodFields();

// kCorrupt when it has no name, namespace or uid, or one beyond the bounds.
Result<Pod> PodOf(const Node& object);

// Ids that `before`, an earlier state of the same pod, knew: a container that restarts twice
// between two samples of its first life is still that container.
void KeepEarlierIds(const Pod& before, Pod& pod);

}  // namespace firetower::k8s
