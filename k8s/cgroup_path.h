// SPDX-License-Identifier: Apache-2.0
// From the path of a cgroup to the container, pod or systemd unit it belongs to. Pure text: no file
// is read. Works for cgroup v1 and v2 alike, and for any cgroup below a container's own.
//
// What wins when a path names several:
//   1. The innermost pod (kind runs a kubelet inside a docker container), and in it the first
//      container below the pod: that is the one the API server knows and limits, whatever the
//      container starts inside itself (docker in a pod, systemd, crun's `container` child).
//   2. Without a pod, the innermost container (docker in docker).
//   3. Without a container, the outermost unit: below user@1000.service the names are the user's.
//
// Names are trusted as far as whoever may create cgroups is trusted: a container with a writable
// cgroup tree can make itself look like a pod nested in it, never like one beside it.
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
  // Leading path components that form the root cgroup of the container, pod or unit: every cgroup
  // below that one has the same identity. 0 for kHost.
  size_t root_depth = 0;
  std::string unit;  // systemd's name, escapes as they are; kHostUnit only

  bool operator==(const ContainerPath&) const = default;
};

// Never fails: what is not recognized is kHost. `path` is the part after the second colon of a
// /proc/<pid>/cgroup line, or a path below the cgroup mount; a " (deleted)" at its end is ignored.
ContainerPath ParseCgroupPath(std::string_view path);

std::string_view RuntimeName(Runtime runtime);  // "containerd", …; "" for kUnknown
std::string_view QosName(Qos qos);              // "Burstable", …; "" for kNone

// The labels of a sample as far as the path alone tells; the API server's names replace them.
struct PathLabels {
  std::string namespace_name;
  std::string pod;
  std::string container;

  bool operator==(const PathLabels&) const = default;
};

// namespace is always "-". pod: the uid, "-" outside Kubernetes. container: the first 12 digits of
// a hexadecimal id, another id in full (two named `web-frontend-a` and `-b` must stay two); "-" in
// the pod's own cgroup; else the unit, else "host". Always valid UTF-8.
PathLabels LabelsOf(const ContainerPath& path);

}  // namespace firetower::k8s
