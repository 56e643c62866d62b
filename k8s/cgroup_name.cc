// SPDX-License-Identifier: Apache-2.0
#include "k8s/cgroup_name.h"

#include <algorithm>
#include <array>

namespace firetower::k8s {
namespace {

constexpr size_t kFullId = 64;      // SHA-256 sized: containerd, CRI-O, docker, podman, nerdctl
constexpr size_t kShortestId = 12;  // the shortest id that is accepted after a known runtime's
                                    // prefix
constexpr size_t kUuid = 36;
constexpr size_t kConfigHash = 32;  // a static pod's: MD5 of its manifest
constexpr size_t kMaxUid = 128;

bool IsLowerHex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLowerAlnum(char c) { return IsDigit(c) || (c >= 'a' && c <= 'z'); }
bool IsUidChar(char c) { return IsLowerAlnum(c) || (c >= 'A' && c <= 'Z') || c == '-'; }

bool IsFullId(std::string_view text) { return text.size() == kFullId && IsHex(text); }

// `uid` has its dashes already.
bool IsUuid(std::string_view uid) {
  if (uid.size() != kUuid) return false;
  for (size_t i = 0; i < kUuid; ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? uid[i] != '-' : !IsLowerHex(uid[i])) return false;
  }
  return true;
}

struct Prefix {
  std::string_view text;
  Runtime runtime;
  bool any_id;  // runc and crun take names as ids
};
// Prefixes in `<prefix>-<id>.scope` (systemd driver) and `<prefix>-<id>` (cgroupfs driver).
// podman's `libpod-payload-` is its split mode below a unit (quadlet).
constexpr std::array<Prefix, 8> kPrefixes = {{{"cri-containerd", Runtime::kContainerd, false},
                                              {"crio", Runtime::kCrio, false},
                                              {"docker", Runtime::kDocker, false},
                                              {"nerdctl", Runtime::kNerdctl, false},
                                              {"libpod-payload", Runtime::kPodman, false},
                                              {"libpod", Runtime::kPodman, false},
                                              {"runc", Runtime::kRunc, true},
                                              {"crun", Runtime::kCrun, true}}};

// Namespaces of containerd whose containers sit at `/<namespace>/<id>` (its OCI default) and may
// have any name. Other namespaces' are found when their id is a full one.
struct ContainerdNamespace {
  std::string_view text;
  Runtime runtime;
};
constexpr std::array<ContainerdNamespace, 7> kContainerdNamespaces = {
    {{"default", Runtime::kContainerd},
     {"k8s.io", Runtime::kContainerd},
     {"moby", Runtime::kDocker},
     {"buildkit", Runtime::kBuildkit},
     {"nerdctl", Runtime::kNerdctl},
     {"containerd", Runtime::kContainerd},
     {"example", Runtime::kContainerd}}};  // containerd's getting-started guide

Runtime RuntimeAround(const Component& at) {
  const std::string_view parent = at.parent;
  if (at.top == "ecs") return Runtime::kEcs;  // ecs/[<cluster>/]<task>/<id>
  if (parent == "docker" || parent == "moby") return Runtime::kDocker;
  if (parent == "libpod_parent") return Runtime::kPodman;
  if (parent == "lxc") return Runtime::kLxc;
  if (parent == "buildkit") return Runtime::kBuildkit;
  if (parent == "k8s.io" || parent == "default" || parent == "cri-containerd")
    return Runtime::kContainerd;
  return Runtime::kUnknown;
}

std::optional<ContainerName> Named(std::string_view id, Runtime runtime) {
  if (id.empty()) return std::nullopt;
  return ContainerName{std::string(id), runtime};
}

// systemd writes a dash in an instance or machine name as `\x2d`.
std::string Unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 4) == "\\x2d") {
      out += '-';
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

// machined: `machine-<name>.scope` of nspawn, `machine-lxc\x2d<n>\x2d<name>.scope` of libvirt;
// virtual machines (`machine-qemu…`) are units, their guests are not ours to see.
std::optional<ContainerName> ParseMachine(const Component& at) {
  std::string_view name = at.name;
  constexpr std::string_view kNspawn = "systemd-nspawn@";
  constexpr std::string_view kMachine = "machine-";
  if (name.starts_with(kNspawn) && name.ends_with(".service")) {
    name = name.substr(kNspawn.size(), name.size() - kNspawn.size() - 8);
    return Named(Unescape(name), Runtime::kNspawn);
  }
  if (at.parent != "machine.slice" || !name.starts_with(kMachine) || !name.ends_with(".scope"))
    return std::nullopt;
  const std::string machine =
      Unescape(name.substr(kMachine.size(), name.size() - kMachine.size() - 6));
  if (machine.starts_with("qemu-")) return std::nullopt;
  return Named(machine, machine.starts_with("lxc-") ? Runtime::kLxc : Runtime::kNspawn);
}

std::optional<ContainerName> ParseLxc(const Component& at) {
  const std::string_view name = at.name;
  for (std::string_view prefix : {"lxc.payload.", "lxc.payload-"}) {
    if (name.starts_with(prefix)) return Named(name.substr(prefix.size()), Runtime::kLxc);
  }
  if (at.parent == "lxc.payload" || at.parent == "lxc") return Named(name, Runtime::kLxc);
  return std::nullopt;
}

// Fargate: `ecs[/<task>]/<task>-<number>`, no docker id.
bool IsFargateId(const Component& at) {
  constexpr size_t kTask = 32;
  if (at.top != "ecs" || at.name.size() < kTask + 2 || at.name[kTask] != '-') return false;
  const std::string_view number = at.name.substr(kTask + 1);
  return IsHex(at.name.substr(0, kTask)) && std::all_of(number.begin(), number.end(), IsDigit);
}

// `[<prefix>-]<id>[.scope]`. conmon watches a container from outside of it.
std::optional<ContainerName> ParsePrefixed(const Component& at) {
  std::string_view name = at.name;
  const bool scope = name.ends_with(".scope");
  if (scope) name.remove_suffix(6);
  if (name.find("conmon-") != std::string_view::npos) return std::nullopt;
  if (IsFullId(name)) {
    // podman's cgroupfs pods are bare ids, their containers `libpod-<id>`.
    if (at.parent == "libpod_parent") return std::nullopt;
    return Named(name, RuntimeAround(at));
  }
  for (const Prefix& prefix : kPrefixes) {
    if (!name.starts_with(prefix.text) || name.size() < prefix.text.size() + 2) continue;
    if (name[prefix.text.size()] != '-') continue;
    const std::string_view id = name.substr(prefix.text.size() + 1);
    if (prefix.any_id ? scope : (id.size() >= kShortestId && IsHex(id)))
      return Named(id, prefix.runtime);
  }
  // A runtime we do not know yet.
  if (name.size() > kFullId + 1 && name[name.size() - kFullId - 1] == '-' &&
      IsFullId(name.substr(name.size() - kFullId)))
    return Named(name.substr(name.size() - kFullId), Runtime::kUnknown);
  return std::nullopt;
}

std::optional<PodName> PodOf(std::string uid, Qos qos, bool certain) {
  const bool shaped = IsUuid(uid) || (uid.size() == kConfigHash && IsHex(uid));
  if (!shaped && !(certain && !uid.empty() && uid.size() <= kMaxUid &&
                   std::all_of(uid.begin(), uid.end(), IsUidChar)))
    return std::nullopt;
  return PodName{std::move(uid), qos};
}

std::optional<PodName> ParsePodSlice(std::string_view name) {
  constexpr std::string_view kPods = "kubepods-";
  name.remove_suffix(6);
  size_t at = name.find(kPods);
  // A part of a longer name (`mykubepods-`) is another program's slice.
  if (at == std::string_view::npos || (at > 0 && name[at - 1] != '-')) return std::nullopt;
  name.remove_prefix(at + kPods.size());
  Qos qos = Qos::kGuaranteed;
  for (auto [level, value] : {std::pair{std::string_view("burstable-"), Qos::kBurstable},
                              std::pair{std::string_view("besteffort-"), Qos::kBestEffort}}) {
    if (!name.starts_with(level)) continue;
    name.remove_prefix(level.size());
    qos = value;
  }
  if (!name.starts_with("pod")) return std::nullopt;
  std::string uid(name.substr(3));
  // kubelet writes `_`, since a dash is a level of slices to systemd.
  std::replace(uid.begin(), uid.end(), '_', '-');
  return PodOf(std::move(uid), qos, true);
}

}  // namespace

bool IsHex(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsLowerHex);
}

std::optional<PodName> ParsePodName(const Component& at) {
  const std::string_view name = at.name;
  const std::string_view parent = at.parent;
  if (name.ends_with(".slice")) return ParsePodSlice(name);
  if (!name.starts_with("pod")) return std::nullopt;
  Qos qos = Qos::kGuaranteed;
  bool certain = parent == "kubepods";
  if (parent == "burstable" || parent == "besteffort") {
    qos = parent == "burstable" ? Qos::kBurstable : Qos::kBestEffort;
    certain = at.grandparent == "kubepods";
  }
  // Without `kubepods` above it (cut off by a cgroup namespace) the uid's shape must convince.
  if (!certain && !parent.empty() && parent != ".." && qos == Qos::kGuaranteed) return std::nullopt;
  return PodOf(std::string(name.substr(3)), qos, certain);
}

std::optional<ContainerName> ParseContainerName(const Component& at) {
  const std::string_view name = at.name;
  if (auto machine = ParseMachine(at)) return machine;
  if (name.ends_with(".slice") || (IsUnitName(name) && !name.ends_with(".scope")))
    return std::nullopt;
  if (auto prefixed = ParsePrefixed(at)) return prefixed;
  if (auto lxc = ParseLxc(at)) return lxc;
  if (IsFargateId(at)) return Named(name, Runtime::kEcs);
  if (at.parent == "buildkit" && std::all_of(name.begin(), name.end(), IsLowerAlnum))
    return Named(name, Runtime::kBuildkit);
  if (at.index != 1) return std::nullopt;
  for (const ContainerdNamespace& known : kContainerdNamespaces) {
    if (at.parent == known.text) return Named(name, known.runtime);
  }
  return std::nullopt;
}

std::optional<ColonName> ParseColonName(std::string_view name) {
  const size_t first = name.find(':');
  if (first == std::string_view::npos) return std::nullopt;
  const size_t second = name.find(':', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const std::string_view slice = name.substr(0, first);
  const std::string_view prefix = name.substr(first + 1, second - first - 1);
  const std::string_view id = name.substr(second + 1);
  if (id.empty() || id.find(':') != std::string_view::npos || prefix.find("conmon") == 0)
    return std::nullopt;
  ColonName result;
  if (slice.ends_with(".slice")) result.pod = ParsePodSlice(slice);
  for (const Prefix& known : kPrefixes) {
    if (prefix == known.text) result.container.runtime = known.runtime;
  }
  // Any id does behind a pod; elsewhere it takes a full id or a runtime's own prefix.
  if (!result.pod && !IsFullId(id) && result.container.runtime == Runtime::kUnknown)
    return std::nullopt;
  result.container.id = id;
  return result;
}

bool IsUnitName(std::string_view name) {
  // systemd.resource-control(5): the unit types with a cgroup of their own, slices apart.
  for (std::string_view suffix : {".service", ".scope", ".socket", ".mount", ".swap"}) {
    if (name.size() > suffix.size() && name.ends_with(suffix)) return true;
  }
  return false;
}

}  // namespace firetower::k8s
