// SPDX-License-Identifier: Apache-2.0
// Finds the container, pod or systemd unit of a cgroup by its path. Pure text: reads no file. Works
// for cgroup v1 and v2, and for any cgroup below a container's own.
//
// If a path contains several, the first rule that applies decides:
//   1. The innermost pod (kind runs a kubelet inside a docker container), and in it the first
//      container below the pod: that is the one the API server knows and limits, whatever the
//      container starts inside itself (docker in a pod, systemd, crun's `container` child).
//   2. Without a pod, the innermost container (docker in docker).
//   3. Without a container, the outermost unit: below user@1000.service the names are the user's.
//
// Names are as trustworthy as the owner of the cgroup tree: a container with a writable cgroup tree
// can make itself look like a pod nested in it, never like a pod beside it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace firetower::k8s {

enum class PathKind {
  kContainer,        // in a container, of Kubernetes or not
  kPodSandboxLevel,  // in a pod's cgroup, but in none of its containers (conmon lives there)
  kHostUnit,         // in a systemd unit
  kHost,             // anything else
};

enum class Runtime {
  kUnknown,  // a container whose path does not tell: the cgroupfs driver's bare ids
  kContainerd,
  kCrio,
  kDocker,
  kNerdctl,
  kPodman,
  kRunc,
  kCrun,
  kBuildkit,
  kEcs,
  kLxc,
  kNspawn,
};

enum class Qos { kNone, kGuaranteed, kBurstable, kBestEffort };  // kNone: not a pod

struct ContainerPath {
  PathKind kind = PathKind::kHost;
  std::string pod_uid;       // as the API spells it; a static pod's is its config hash
  std::string container_id;  // in full
  Runtime runtime = Runtime::kUnknown;
  Qos qos = Qos::kNone;
  // The number of leading path components that form the root cgroup of the container, pod or unit:
  // every cgroup below it has the same identity. 0 for kHost.
  size_t root_depth = 0;
  std::string unit;  // systemd's name, escapes as they are; kHostUnit only

  bool operator==(const ContainerPath&) const = default;
};

// Parses a path. Never fails: unknown paths are kHost. `path` is the part after the second colon of
// a /proc/<pid>/cgroup line, or a path below the cgroup mount; a " (deleted)" at its end is
// ignored.
ContainerPath ParseCgroupPath(std::string_view path);

std::string_view RuntimeName(Runtime runtime);  // "containerd", …; "" for kUnknown
std::string_view QosName(Qos qos);              // "Burstable", …; "" for kNone

// The labels of a sample that the path alone gives; the API server's names replace them.
struct PathLabels {
  std::string namespace_name;
  std::string pod;
  std::string container;

  bool operator==(const PathLabels&) const = default;
};

// Returns the labels of a path. namespace is always "-". pod is the uid, or "-" outside Kubernetes.
// container is the first 12 digits of a hexadecimal id, or another id in full (two named
// `web-frontend-a` and `-b` must stay different); "-" in the pod's own cgroup; else the unit, else
// "host". Always valid UTF-8.
PathLabels LabelsOf(const ContainerPath& path);

}  // namespace firetower::k8s
