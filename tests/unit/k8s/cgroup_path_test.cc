// SPDX-License-Identifier: Apache-2.0
// Shapes from the sources of kubelet (cgroup_manager_linux.go), runc, crun, containerd, CRI-O,
// moby, podman and systemd, and from the paths users report.
#include "k8s/cgroup_path.h"

#include <gtest/gtest.h>

#include <string>

namespace firetower::k8s {
namespace {

const std::string kId = "8c046cb0b72cd4c99f51b5591cd5b095967f58ee003710a45280c28ee1a9c7fa";
const std::string kOuter = "34dc0b5e626f2c5c4c5170e34b10e7654ce36f0fcd532739f4445baabea03376";
const std::string kUid = "97f1ae73-7ad9-11ec-b4a7-9a35488b4fab";
const std::string kUidSlice = "97f1ae73_7ad9_11ec_b4a7_9a35488b4fab";
const std::string kHash = "b1e89a2fcc688644de3eb95aee8025ce";  // a static pod's

struct Row {
  const char* form;
  std::string path;
  ContainerPath expected;
};

ContainerPath Pod(Runtime runtime, Qos qos, size_t depth, const std::string& uid = kUid) {
  return {PathKind::kContainer, uid, kId, runtime, qos, depth, ""};
}
ContainerPath Plain(Runtime runtime, size_t depth, const std::string& id = kId) {
  return {PathKind::kContainer, "", id, runtime, Qos::kNone, depth, ""};
}
ContainerPath PodLevel(Qos qos, size_t depth) {
  return {PathKind::kPodSandboxLevel, kUid, "", Runtime::kUnknown, qos, depth, ""};
}
ContainerPath Unit(const std::string& unit, size_t depth) {
  return {PathKind::kHostUnit, "", "", Runtime::kUnknown, Qos::kNone, depth, unit};
}

const std::string kBurstableSlice =
    "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + kUidSlice + ".slice";
const std::string kKind =
    "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/"
    "kubelet-kubepods-besteffort-pod" +
    kUidSlice + ".slice/cri-containerd-" + kId + ".scope";
const std::string kUser = "/user.slice/user-1000.slice/user@1000.service";

void Check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.form) + ": " + row.path);
    const ContainerPath got = ParseCgroupPath(row.path);
    EXPECT_EQ(got.kind, row.expected.kind);
    EXPECT_EQ(got.pod_uid, row.expected.pod_uid);
    EXPECT_EQ(got.container_id, row.expected.container_id);
    EXPECT_EQ(RuntimeName(got.runtime), RuntimeName(row.expected.runtime));
    EXPECT_EQ(QosName(got.qos), QosName(row.expected.qos));
    EXPECT_EQ(got.root_depth, row.expected.root_depth);
    EXPECT_EQ(got.unit, row.expected.unit);
    if (row.expected.kind == PathKind::kHost) continue;
    // Whatever lives below the root cgroup is the same container, pod or unit.
    for (const char* below : {"/container", "/init.scope", "/system.slice/nginx.service", "/a/b/c",
                              "/user.slice/user-0.slice/session-1.scope", " (deleted)", "/"}) {
      if (row.expected.kind == PathKind::kPodSandboxLevel && below[1] == 'i') continue;
      EXPECT_EQ(ParseCgroupPath(row.path + below), row.expected) << below;
    }
  }
}

TEST(CgroupPath, KnowsTheSystemdDriverOfEveryRuntimeAndQos) {
  const std::string best =
      "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" + kUidSlice + ".slice/";
  const std::string guaranteed = "/kubepods.slice/kubepods-pod" + kUidSlice + ".slice/";
  std::vector<Row> rows;
  for (auto [prefix, runtime] : {std::pair{"cri-containerd-", Runtime::kContainerd},
                                 {"crio-", Runtime::kCrio},
                                 {"docker-", Runtime::kDocker},
                                 {"nerdctl-", Runtime::kNerdctl},
                                 {"libpod-", Runtime::kPodman}}) {
    const std::string scope = prefix + kId + ".scope";
    rows.push_back({"burstable", kBurstableSlice + "/" + scope, Pod(runtime, Qos::kBurstable, 4)});
    rows.push_back({"besteffort", best + scope, Pod(runtime, Qos::kBestEffort, 4)});
    rows.push_back({"guaranteed", guaranteed + scope, Pod(runtime, Qos::kGuaranteed, 3)});
  }
  Check(rows);
}

TEST(CgroupPath, KnowsTheCgroupfsDriver) {
  Check({
      {"burstable", "/kubepods/burstable/pod" + kUid + "/" + kId,
       Pod(Runtime::kUnknown, Qos::kBurstable, 4)},
      {"besteffort", "/kubepods/besteffort/pod" + kUid + "/" + kId,
       Pod(Runtime::kUnknown, Qos::kBestEffort, 4)},
      {"guaranteed", "/kubepods/pod" + kUid + "/" + kId,
       Pod(Runtime::kUnknown, Qos::kGuaranteed, 3)},
      {"CRI-O", "/kubepods/burstable/pod" + kUid + "/crio-" + kId,
       Pod(Runtime::kCrio, Qos::kBurstable, 4)},
      {"own cgroup root", "/teams/a/kubepods/burstable/pod" + kUid + "/" + kId,
       Pod(Runtime::kUnknown, Qos::kBurstable, 6)},
      {"bare id in a slice", "/kubepods.slice/kubepods-pod" + kUidSlice + ".slice/" + kId,
       Pod(Runtime::kUnknown, Qos::kGuaranteed, 3)},
  });
}

TEST(CgroupPath, KnowsDriverMismatchAsOneElement) {
  const std::string name = "kubepods-burstable-pod" + kUidSlice + ".slice:cri-containerd:" + kId;
  Check({
      {"below the service", "/system.slice/containerd.service/" + name,
       Pod(Runtime::kContainerd, Qos::kBurstable, 3)},
      {"at the top", "/" + name, Pod(Runtime::kContainerd, Qos::kBurstable, 1)},
      {"below its slices", kBurstableSlice + "/" + name,
       Pod(Runtime::kContainerd, Qos::kBurstable, 4)},
      {"k3s", "/system.slice/k3s.service/kubepods-pod" + kUidSlice + ".slice:cri-containerd:" + kId,
       Pod(Runtime::kContainerd, Qos::kGuaranteed, 3)},
      {"CRI-O", "/kubepods-besteffort-pod" + kUidSlice + ".slice:crio:" + kId,
       Pod(Runtime::kCrio, Qos::kBestEffort, 1)},
      {"slice named before", kBurstableSlice + "/:cri-containerd:" + kId,
       Pod(Runtime::kContainerd, Qos::kBurstable, 4)},
      {"docker", "/system.slice:docker:" + kId, Plain(Runtime::kDocker, 1)},
      {"podman", "/machine.slice:libpod:" + kId, Plain(Runtime::kPodman, 1)},
  });
}

TEST(CgroupPath, KnowsStaticPodsByTheirConfigHash) {
  Check({
      {"systemd",
       "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + kHash +
           ".slice/cri-containerd-" + kId + ".scope",
       Pod(Runtime::kContainerd, Qos::kBurstable, 4, kHash)},
      {"cgroupfs", "/kubepods/burstable/pod" + kHash + "/" + kId,
       Pod(Runtime::kUnknown, Qos::kBurstable, 4, kHash)},
      {"a uid of the manifest's own", "/kubepods/podmy-static-web/" + kId,
       Pod(Runtime::kUnknown, Qos::kGuaranteed, 3, "my-static-web")},
  });
}

TEST(CgroupPath, TakesTheInnermostPodAndItsOutermostContainer) {
  const std::string docker = "/system.slice/docker-" + kOuter + ".scope";
  const std::string nested = "/kubelet/kubepods/burstable/pod" + kUid + "/" + kId;
  Check({
      {"kind", docker + kKind, Pod(Runtime::kContainerd, Qos::kBestEffort, 7)},
      {"kind, from inside of the node", kKind, Pod(Runtime::kContainerd, Qos::kBestEffort, 5)},
      {"kind, cgroupfs", "/docker/" + kOuter + nested, Pod(Runtime::kUnknown, Qos::kBurstable, 7)},
      {"kind in a pod", "/kubepods/pod" + kHash + "/" + kOuter + "/docker/" + kOuter + nested,
       Pod(Runtime::kUnknown, Qos::kBurstable, 10)},
      {"kind's node itself", docker + "/kubelet.slice/kubelet.service",
       Plain(Runtime::kDocker, 2, kOuter)},
      {"docker in docker", "/docker/" + kOuter + "/docker/" + kId, Plain(Runtime::kDocker, 4)},
      {"docker in a pod", "/kubepods/burstable/pod" + kUid + "/" + kId + "/docker/" + kOuter,
       Pod(Runtime::kUnknown, Qos::kBurstable, 4)},
  });
}

TEST(CgroupPath, KnowsPathsCutByACgroupNamespace) {
  Check({
      {"scope", "/../crio-" + kId + ".scope", Plain(Runtime::kCrio, 2)},
      {"pod", "/../../pod" + kUid + "/" + kId, Pod(Runtime::kUnknown, Qos::kGuaranteed, 4)},
      {"slice",
       "/../kubepods-besteffort-pod" + kUidSlice + ".slice/cri-containerd-" + kId + ".scope",
       Pod(Runtime::kContainerd, Qos::kBestEffort, 3)},
  });
}

TEST(CgroupPath, KnowsContainersOutsideKubernetes) {
  const std::string task = "5a0d5ceddf6c44c1928d367a815d890f";
  Check({
      {"docker", "/docker/" + kId, Plain(Runtime::kDocker, 2)},
      {"docker, systemd", "/system.slice/docker-" + kId + ".scope", Plain(Runtime::kDocker, 2)},
      {"nerdctl", "/user.slice/nerdctl-" + kId + ".scope", Plain(Runtime::kNerdctl, 2)},
      {"podman", "/machine.slice/libpod-" + kId + ".scope", Plain(Runtime::kPodman, 2)},
      {"podman, crun", "/machine.slice/libpod-" + kId + ".scope/container",
       Plain(Runtime::kPodman, 2)},
      {"podman, cgroupfs", "/libpod_parent/libpod-" + kId, Plain(Runtime::kPodman, 2)},
      {"podman pod",
       "/machine.slice/machine-libpod_pod_" + kOuter + ".slice/libpod-" + kId + ".scope",
       Plain(Runtime::kPodman, 3)},
      {"podman pod, cgroupfs", "/libpod_parent/" + kOuter + "/libpod-" + kId,
       Plain(Runtime::kPodman, 3)},
      {"podman of a user", kUser + "/user.slice/libpod-" + kId + ".scope",
       Plain(Runtime::kPodman, 5)},
      {"podman quadlet", "/system.slice/nginx.service/libpod-payload-" + kId,
       Plain(Runtime::kPodman, 3)},
      {"ctr", "/default/web", Plain(Runtime::kContainerd, 2, "web")},
      {"ctr, as nerdctl names it", "/default/" + kId, Plain(Runtime::kContainerd, 2)},
      {"crictl without a parent", "/k8s.io/" + kId, Plain(Runtime::kContainerd, 2)},
      {"containerd of docker", "/moby/" + kId, Plain(Runtime::kDocker, 2)},
      {"containerd, own namespace", "/team-a/" + kId, Plain(Runtime::kUnknown, 2)},
      {"runc", "/" + kId, Plain(Runtime::kUnknown, 1)},
      {"runc, systemd", "/system.slice/runc-web.scope", Plain(Runtime::kRunc, 2, "web")},
      {"crun, systemd", "/user.slice/crun-web_1.scope", Plain(Runtime::kCrun, 2, "web_1")},
      {"unknown runtime", "/system.slice/newrt-" + kId + ".scope", Plain(Runtime::kUnknown, 2)},
      {"GitHub runner", "/actions_job/" + kId, Plain(Runtime::kUnknown, 2)},
      {"buildkit", "/buildkit/p2rxsgjbd5ygtq6m0rzvqhw5s",
       Plain(Runtime::kBuildkit, 2, "p2rxsgjbd5ygtq6m0rzvqhw5s")},
      {"buildkit in docker", "/docker/buildkit/p2rxsgjbd5ygtq6m0rzvqhw5s",
       Plain(Runtime::kBuildkit, 3, "p2rxsgjbd5ygtq6m0rzvqhw5s")},
      {"ECS", "/ecs/" + task + "/" + kId, Plain(Runtime::kEcs, 3)},
      {"ECS with cluster", "/ecs/my-cluster/" + task + "/" + kId, Plain(Runtime::kEcs, 4)},
      {"ECS on v2", "/ecstasks.slice/ecstasks-" + task + ".slice/docker-" + kId + ".scope",
       Plain(Runtime::kDocker, 3)},
      {"Fargate 1.3", "/ecs/55091c13-b8cf-4801-b527-f4601742204d/" + kId, Plain(Runtime::kEcs, 3)},
      {"Fargate 1.4", "/ecs/" + task + "/" + task + "-2831194117",
       Plain(Runtime::kEcs, 3, task + "-2831194117")},
      {"Fargate 1.4, no task", "/ecs/" + task + "-2831194117",
       Plain(Runtime::kEcs, 2, task + "-2831194117")},
      {"LXC", "/lxc.payload.web", Plain(Runtime::kLxc, 1, "web")},
      {"LXC 4", "/lxc.payload/web", Plain(Runtime::kLxc, 2, "web")},
      {"LXC 3, Proxmox", "/lxc/101/ns", Plain(Runtime::kLxc, 2, "101")},
      {"nspawn", "/machine.slice/machine-deb\\x2d12.scope/payload",
       Plain(Runtime::kNspawn, 2, "deb-12")},
      {"nspawn, as a service", "/machine.slice/systemd-nspawn@deb12.service/payload",
       Plain(Runtime::kNspawn, 2, "deb12")},
      {"libvirt LXC", "/machine.slice/machine-lxc\\x2d7\\x2dweb.scope",
       Plain(Runtime::kLxc, 2, "lxc-7-web")},
  });
}

TEST(CgroupPath, PutsConmonAndOtherHelpersAtPodLevel) {
  Check({
      {"pod", kBurstableSlice, PodLevel(Qos::kBurstable, 3)},
      {"conmon", kBurstableSlice + "/crio-conmon-" + kId + ".scope", PodLevel(Qos::kBurstable, 3)},
      {"conmon, cgroupfs", "/kubepods/pod" + kUid + "/crio-conmon-" + kId,
       PodLevel(Qos::kGuaranteed, 2)},
      {"short id", "/kubepods/burstable/pod" + kUid + "/abc", PodLevel(Qos::kBurstable, 3)},
  });
}

TEST(CgroupPath, NamesSystemdUnits) {
  Check({
      {"service", "/system.slice/nginx.service", Unit("nginx.service", 2)},
      {"template", "/system.slice/system-getty.slice/getty@tty1.service",
       Unit("getty@tty1.service", 3)},
      {"session", "/user.slice/user-1000.slice/session-3.scope", Unit("session-3.scope", 3)},
      {"user manager", kUser + "/app.slice/app-firefox.service", Unit("user@1000.service", 3)},
      {"init", "/init.scope", Unit("init.scope", 1)},
      {"escaped", "/system.slice/dev-disk\\x2dby.swap", Unit("dev-disk\\x2dby.swap", 2)},
      {"virtual machine", "/machine.slice/machine-qemu\\x2d1\\x2dvm.scope/libvirt/emulator",
       Unit("machine-qemu\\x2d1\\x2dvm.scope", 2)},
      {"conmon of podman", "/machine.slice/libpod-conmon-" + kId + ".scope",
       Unit("libpod-conmon-" + kId + ".scope", 2)},
      {"conmon of CRI-O", "/system.slice/crio-conmon-" + kId + ".scope",
       Unit("crio-conmon-" + kId + ".scope", 2)},
      {"conmon of quadlet", "/system.slice/nginx.service/runtime", Unit("nginx.service", 2)},
      {"podman's health check", "/system.slice/" + kId + "-7f3a.service",
       Unit(kId + "-7f3a.service", 2)},
      {"docker- without an id", "/system.slice/docker-cleanup.scope",
       Unit("docker-cleanup.scope", 2)},
      {"the runtimes themselves", "/system.slice/containerd.service",
       Unit("containerd.service", 2)},
  });
}

TEST(CgroupPath, TakesNothingElseForAContainer) {
  for (const std::string& path : std::vector<std::string>{
           "",
           "/",
           "//",
           "/system.slice",
           "/kubepods",
           "/kubepods.slice/kubepods-burstable.slice",
           "/lxc.monitor.web",
           "/default",
           "/other/web",
           "/a/default/web",
           "/docker",
           "/docker/web",
           "/docker/" + kId.substr(1),
           "/docker/" + kId + "0",
           "/docker/G" + kId.substr(1),
           "/libpod_parent/" + kId,
           "/memory/process_api/" + kHash,
           "/apps/pod" + kUid,
           "/kubepods/pod",
           "/kubepods/pod..",
           "/mykubepods-pod1.slice",
           "/x.slice/kubepods-burstable-pod.slice",
           "/machine.slice/machine-libpod_pod_" + kId + ".slice",
           "::",
           "/a:b",
           "/a:b:c",
           "/a:b:c:d",
           "/.service",
           "/.scope",
           "/crio-",
       }) {
    EXPECT_EQ(ParseCgroupPath(path).kind, PathKind::kHost) << path;
    EXPECT_EQ(ParseCgroupPath(path), ContainerPath()) << path;
  }
}

TEST(CgroupPath, IgnoresDoubledSlashesAndALineEnd) {
  const ContainerPath expected = Plain(Runtime::kDocker, 2);
  for (const std::string& path :
       {"docker/" + kId, "//docker//" + kId + "//", "/docker/" + kId + "\n"})
    EXPECT_EQ(ParseCgroupPath(path), expected) << path;
}

// Every prefix of a valid path: never a wrong id or uid, only none.
TEST(CgroupPath, InventsNothingFromATruncatedPath) {
  const std::string full = "/system.slice/docker-" + kOuter + ".scope" + kKind;
  for (size_t length = 0; length <= full.size(); ++length) {
    const ContainerPath got = ParseCgroupPath(std::string_view(full).substr(0, length));
    EXPECT_TRUE(got.pod_uid.empty() || got.pod_uid == kUid) << length;
    if (got.container_id != kOuter && got.container_id != kId && !got.container_id.empty()) {
      // A runtime's own prefix is believed with 12 digits: runc's tests cut ids like that.
      EXPECT_TRUE(kId.starts_with(got.container_id) || kOuter.starts_with(got.container_id));
    }
    EXPECT_LE(got.root_depth, 7u);
  }
}

TEST(CgroupPath, SurvivesHostileNames) {
  std::string bytes = "/";
  for (int c = 1; c < 256; ++c) bytes += static_cast<char>(c);
  EXPECT_EQ(ParseCgroupPath(bytes + "/" + kId).container_id, kId);
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "/a";
  EXPECT_EQ(ParseCgroupPath(deep + "/" + kId).kind, PathKind::kHost);
  EXPECT_EQ(ParseCgroupPath("/system.slice/" + std::string(1 << 20, 'x') + ".service").kind,
            PathKind::kHostUnit);
}

TEST(PathLabels, FollowTheContract) {
  const auto labels = [](const std::string& path) { return LabelsOf(ParseCgroupPath(path)); };
  EXPECT_EQ(labels("/kubepods/pod" + kUid + "/" + kId), (PathLabels{"-", kUid, "8c046cb0b72c"}));
  EXPECT_EQ(labels("/docker/" + kId), (PathLabels{"-", "-", "8c046cb0b72c"}));
  EXPECT_EQ(labels("/system.slice/nginx.service"), (PathLabels{"-", "-", "nginx.service"}));
  EXPECT_EQ(labels("/"), (PathLabels{"-", "-", "host"}));
  EXPECT_EQ(labels(kBurstableSlice), (PathLabels{"-", kUid, "-"}));
  EXPECT_EQ(labels("/default/web-frontend-blue"), (PathLabels{"-", "-", "web-frontend-blue"}));
  EXPECT_EQ(labels("/lxc/w\xff"), (PathLabels{"-", "-", "w\xef\xbf\xbd"}));
}

}  // namespace
}  // namespace firetower::k8s
