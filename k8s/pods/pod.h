// SPDX-License-Identifier: Apache-2.0
// A pod with the data that samples need: its identity, its owner, and the ids of its containers.
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

// Limits for one pod. The API server allows more only to users that it trusts with a node.
inline constexpr size_t kMaxPodContainers = 128;
inline constexpr size_t kMaxPodLabels = 256;
inline constexpr size_t kMaxContainerIdBytes = 128;
// The number of earlier ids that are kept of a container.
inline constexpr size_t kMaxContainerIds = 8;

enum class ContainerKind {
  kRegular,
  kInit,       // runs to its end before the regular ones start
  kSidecar,    // an init container that keeps running (restartPolicy
  kEphemeral,  // added by `kubectl debug`
};

// The requests of a container; 0: none, or in an unusual form. Its limits are read from its cgroup.
struct ContainerRequests {
  int64_t cpu_millis = 0;
  int64_t memory_bytes = 0;

  bool operator==(const ContainerRequests&) const = default;
};

struct PodContainer {
  std::string name;
  ContainerKind kind = ContainerKind::kRegular;
  // Without the runtime's prefix ("containerd://"), the present one first. Empty until kubelet has
  // written an id into the status, some time after the container began to run.
  std::vector<std::string> ids;
  ContainerRequests requests = {};
};

// The label that excludes a pod, or all pods of a namespace, from every policy when it is "false".
inline constexpr std::string_view kOptOutLabel = "firetower.dev/profile";

struct Pod {
  std::string namespace_name;
  std::string name;
  std::string uid;
  // The uid in cgroup paths. For a static pod it is the hash of its file, because the object of a
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

  // Returns the container with this id; nullptr if none is known.
  const PodContainer* FindContainer(std::string_view id) const;
};

// Returns the fields that PodOf reads: a kilobyte or two of a pod's ten.
FieldSet PodFields();

// Reads a pod. kCorrupt: it has no name, namespace or uid, or one beyond the limits.
Result<Pod> PodOf(const Node& object);

// Keeps the ids of `before`, an earlier state of the same pod: a container that restarted twice
// since a sample is still that container.
void KeepEarlierIds(const Pod& before, Pod& pod);

}  // namespace firetower::k8s
