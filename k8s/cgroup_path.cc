// SPDX-License-Identifier: Apache-2.0
#include "k8s/cgroup_path.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/json.h"
#include "k8s/cgroup_name.h"

namespace firetower::k8s {
namespace {

// PATH_MAX is 4096, and a component has at least two bytes. A longer path counts as kHost.
constexpr size_t kMaxComponents = 2048;

constexpr std::string_view kDeleted = " (deleted)";  // kernfs, of a removed cgroup

std::vector<std::string_view> Split(std::string_view path) {
  if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
  while (path.ends_with('\n')) path.remove_suffix(1);
  std::vector<std::string_view> parts;
  while (!path.empty() && parts.size() < kMaxComponents) {
    const size_t slash = std::min(path.find('/'), path.size());
    if (slash > 0) parts.push_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return parts;
}

// The identity found so far, going down from the root.
struct Walk {
  std::optional<PodName> pod;
  size_t pod_depth = 0;
  std::optional<ContainerName> container;
  size_t container_depth = 0;
  bool container_in_pod = false;
  std::string_view unit;
  size_t unit_depth = 0;

  void EnterPod(PodName name, size_t depth) {
    pod = std::move(name);
    pod_depth = depth;
    container.reset();
    container_in_pod = false;
  }

  void EnterContainer(ContainerName name, size_t depth) {
    if (container_in_pod) return;  // whatever runs inside a pod's container is that container
    container = std::move(name);
    container_depth = depth;
    container_in_pod = pod.has_value();
  }
};

void Visit(const std::vector<std::string_view>& parts, size_t i, Walk& walk) {
  const std::string_view name = parts[i];
  const size_t depth = i + 1;
  Component at{name, {}, {}, parts[0], i};
  if (i > 0) at.parent = parts[i - 1];
  if (i > 1) at.grandparent = parts[i - 2];

  if (auto both = ParseColonName(name)) {
    if (both->pod) walk.EnterPod(*std::move(both->pod), depth);
    walk.EnterContainer(std::move(both->container), depth);
    return;
  }
  if (auto pod = ParsePodName(at)) {
    walk.EnterPod(*std::move(pod), depth);
    return;
  }
  if (auto container = ParseContainerName(at)) {
    walk.EnterContainer(*std::move(container), depth);
    return;
  }
  if (walk.unit.empty() && IsUnitName(name)) {
    walk.unit = name;
    walk.unit_depth = depth;
  }
}

}  // namespace

ContainerPath ParseCgroupPath(std::string_view path) {
  const std::vector<std::string_view> parts = Split(path);
  Walk walk;
  for (size_t i = 0; i < parts.size(); ++i) Visit(parts, i, walk);

  ContainerPath result;
  if (walk.pod) {
    result.pod_uid = std::move(walk.pod->uid);
    result.qos = walk.pod->qos;
  }
  if (walk.container) {
    result.kind = PathKind::kContainer;
    result.container_id = std::move(walk.container->id);
    result.runtime = walk.container->runtime;
    result.root_depth = walk.container_depth;
  } else if (walk.pod) {
    result.kind = PathKind::kPodSandboxLevel;
    result.root_depth = walk.pod_depth;
  } else if (!walk.unit.empty()) {
    result.kind = PathKind::kHostUnit;
    result.unit = walk.unit;
    result.root_depth = walk.unit_depth;
  }
  return result;
}

std::string_view RuntimeName(Runtime runtime) {
  static constexpr std::array<std::string_view, 12> kNames = {
      "",     "containerd", "crio",     "docker", "nerdctl", "podman",
      "runc", "crun",       "buildkit", "ecs",    "lxc",     "nspawn"};
  return kNames[static_cast<size_t>(runtime)];
}

std::string_view QosName(Qos qos) {
  static constexpr std::array<std::string_view, 4> kNames = {"", "Guaranteed", "Burstable",
                                                             "BestEffort"};
  return kNames[static_cast<size_t>(qos)];
}

PathLabels LabelsOf(const ContainerPath& path) {
  constexpr size_t kShortId = 12;  // what docker ps, crictl ps and ctr show
  PathLabels labels{"-", "-", "host"};
  switch (path.kind) {
    case PathKind::kContainer:
      if (!path.pod_uid.empty()) labels.pod = ToValidUtf8(path.pod_uid);
      labels.container = IsHex(path.container_id) ? path.container_id.substr(0, kShortId)
                                                  : ToValidUtf8(path.container_id);
      break;
    case PathKind::kPodSandboxLevel:
      labels.pod = ToValidUtf8(path.pod_uid);
      labels.container = "-";
      break;
    case PathKind::kHostUnit:
      labels.container = ToValidUtf8(path.unit);
      break;
    case PathKind::kHost:
      break;
  }
  return labels;
}

}  // namespace firetower::k8s
