// SPDX-License-Identifier: Apache-2.0
// Recognises one component of a cgroup path as a pod, a container or a unit. Has the tables of all
// names that kubelet, the container runtimes and systemd use; cgroup_path.h combines them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "k8s/cgroup_path.h"

namespace firetower::k8s {

struct PodName {
  std::string uid;
  Qos qos = Qos::kNone;
};

struct ContainerName {
  std::string id;
  Runtime runtime = Runtime::kUnknown;
};

// A component and those above it, empty where the path has none.
struct Component {
  std::string_view name;
  std::string_view parent;
  std::string_view grandparent;
  std::string_view top;
  size_t index = 0;  // how many precede it
};

// Parses `kubepods[-burstable|-besteffort]-pod<uid>.slice` with any prefix (kind: `kubelet-`), or
// `pod<uid>` below `kubepods[/burstable|/besteffort]`.
std::optional<PodName> ParsePodName(const Component& at);

// Parses the name of a container's root. containerd puts plain containers at `/<containerd
// namespace>/<id>`, so those names count only at the top.
std::optional<ContainerName> ParseContainerName(const Component& at);

// `<slice>:<prefix>:<id>` as one component: the kubelet uses systemd names, but the runtime uses
// cgroupfs.
struct ColonName {
  std::optional<PodName> pod;
  ContainerName container;
};
std::optional<ColonName> ParseColonName(std::string_view name);

// Tells whether the name is a systemd unit that can hold processes itself.
bool IsUnitName(std::string_view name);

bool IsHex(std::string_view text);  // lower case, not empty

}  // namespace firetower::k8s
