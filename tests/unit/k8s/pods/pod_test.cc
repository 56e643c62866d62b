// SPDX-License-Identifier: Apache-2.0
#include "k8s/pods/pod.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/k8s/pods/real_pods.h"

namespace firetower::k8s {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Pod RealPod(const std::string& prefix) {
  Result<Pod> pod = PodOf(RealPodNode(prefix));
  EXPECT_TRUE(pod) << pod.error().message();
  return pod.value_or(Pod{});
}

struct Seen {
  std::string name;
  ContainerKind kind;
};

// The container whose cgroup runc made at `path`.
Seen ContainerAt(const Pod& pod, const std::string& path) {
  const ContainerPath at = ParseCgroupPath(path);
  EXPECT_EQ(at.kind, PathKind::kContainer) << path;
  EXPECT_EQ(at.pod_uid, pod.cgroup_uid) << path;
  const PodContainer* container = pod.FindContainer(at.container_id);
  return container == nullptr ? Seen{"", {}} : Seen{container->name, container->kind};
}

TEST(Pod, NamesTheContainersOfEveryKind) {
  const Pod pod = RealPod("checkout-7d9859fcc4-blzzb");
  EXPECT_EQ(pod.namespace_name, "shop");
  EXPECT_EQ(pod.uid, "48d24770-3d7e-40e7-a11a-ed1f7d8d2b22");
  EXPECT_EQ(pod.node, "node-1");
  EXPECT_EQ(pod.workload, (Workload{"Deployment", "checkout"}));
  const std::string folder = "/kubepods/besteffort/pod48d24770-3d7e-40e7-a11a-ed1f7d8d2b22/";
  const Seen cart =
      ContainerAt(pod, folder + "0bf1a356c13995d18a9b5658bc5ebb30d09dd920912630dd01b5cd32fef8fff7");
  EXPECT_EQ(cart.name, "cart");
  EXPECT_EQ(cart.kind, ContainerKind::kRegular);
  const Seen proxy =
      ContainerAt(pod, folder + "be3129b43fb1925a09f321bab5cfe6c2613194293b2ccb912570243bdebb8bb2");
  EXPECT_EQ(proxy.name, "proxy");
  EXPECT_EQ(proxy.kind, ContainerKind::kSidecar);
  const Seen migrate =
      ContainerAt(pod, folder + "ec0007f65b2c70e4b046610b9e2723e225fff06770da2f0c723bea7e690d141e");
  EXPECT_EQ(migrate.name, "migrate");
  EXPECT_EQ(migrate.kind, ContainerKind::kInit);
  const Seen debugger =
      ContainerAt(pod, folder + "38ce1922116a4768758882834e2f40f428861a1e80604a3d28dedf1e6bbc8bd4");
  EXPECT_EQ(debugger.name, "debugger-2q4lv");
  EXPECT_EQ(debugger.kind, ContainerKind::kEphemeral);
  const Seen sandbox =
      ContainerAt(pod, folder + "a05c10cc70779c7c57ebb35620a354f7df700547cb604d7869445fca07e9e93b");
  EXPECT_EQ(sandbox.name, "") << "the pause container is in no status";
}

TEST(Pod, AStaticPodIsFoundByTheHashOfItsFile) {
  const Pod pod = RealPod("etcdish-node-1");
  EXPECT_EQ(pod.uid, "47b733e5-a029-4212-802d-e4075650dd83");
  const Seen etcd = ContainerAt(pod,
                                "/kubepods/besteffort/pod9dd382b255753e4e4c16b6120f0fae22/"
                                "fd26286b30d42b3e6edf69c8d3992e731f244ef851ca2ac43cf58b8a66fa9e5e");
  EXPECT_EQ(etcd.name, "etcd");
  EXPECT_EQ(pod.workload, (Workload{"Pod", "etcdish-node-1"}));
}

TEST(Pod, TheContainerBeforeARestartIsKnown) {
  EXPECT_THAT(RealPod("crash").containers.at(0).ids,
              ElementsAre("dc7589c9f99f89d4a84a152ed4b9c6c174dd4c4c1ffc29451185d254b21d743f",
                          "32203ff49be87d1068ebba851da13530e4cf64f8d8fa0e27f468e93e8172c7fa"));
}

TEST(Pod, TellsWhoRunsItAndHow) {
  EXPECT_EQ(RealPod("db-0").workload, (Workload{"StatefulSet", "db"}));
  EXPECT_EQ(RealPod("db-0").qos, Qos::kGuaranteed);
  EXPECT_EQ(RealPod("agent-").workload, (Workload{"DaemonSet", "agent"}));
  EXPECT_EQ(RealPod("agent-").qos, Qos::kBestEffort);
  EXPECT_EQ(RealPod("report-29921508").workload, (Workload{"CronJob", "report"}));
  EXPECT_EQ(RealPod("import-20240101").workload, (Workload{"Job", "import-20240101"}));
  EXPECT_EQ(RealPod("crash").workload, (Workload{"Pod", "crash"}));
}

TEST(Pod, KeepsItsLabels) {
  const Pod pod = RealPod("checkout-7d9859fcc4-xwjc5");
  EXPECT_EQ(pod.labels,
            (Labels{{"app", "checkout"}, {"pod-template-hash", "7d9859fcc4"}, {"tier", "web"}}));
  EXPECT_FALSE(pod.opted_out);
  EXPECT_TRUE(RealPod("agent-").opted_out) << "its label firetower.dev/profile is \"false\"";
}

Result<Pod> FromJson(const std::string& json) { return PodOf(Parsed(json)); }

constexpr const char* kMeta = R"("name":"p","namespace":"n","uid":"u")";

TEST(Pod, OnlyFalseOptsOut) {
  for (const char* value : {"true", "False", "0", "no", ""}) {
    const auto pod = FromJson(fmt::format(
        R"({{"metadata":{{{},"labels":{{"firetower.dev/profile":"{}"}}}}}})", kMeta, value));
    EXPECT_FALSE(pod->opted_out) << value;
  }
}

TEST(Pod, AContainerMayHaveNoIdYet) {
  const auto pod = FromJson(fmt::format(
      R"({{"metadata":{{{}}},"spec":{{"containers":[{{"name":"c"}}]}},"status":)"
      R"({{"containerStatuses":[{{"name":"c","containerID":"","state":{{"waiting":{{}}}}}}]}}}})",
      kMeta));
  ASSERT_EQ(pod->containers.size(), 1u);
  EXPECT_THAT(pod->containers[0].ids, IsEmpty());
  EXPECT_EQ(pod->FindContainer(""), nullptr);
}

TEST(Pod, IdsOfEveryRuntimeLoseTheirPrefix) {
  for (const char* prefix : {"containerd://", "cri-o://", "docker://", ""}) {
    const auto pod = FromJson(
        fmt::format(R"({{"metadata":{{{}}},"spec":{{"containers":[{{"name":"c"}}]}},"status":)"
                    R"({{"containerStatuses":[{{"name":"c","containerID":"{}0bf1a3"}}]}}}})",
                    kMeta, prefix));
    EXPECT_NE(pod->FindContainer("0bf1a3"), nullptr) << prefix;
  }
}

TEST(Pod, IsNothingWithoutAName) {
  for (const char* meta : {R"("name":"p","namespace":"n")", R"("name":"p","uid":"u")",
                           R"("namespace":"n","uid":"u")"}) {
    const auto pod = FromJson(fmt::format(R"({{"metadata":{{{}}}}})", meta));
    ASSERT_FALSE(pod);
    EXPECT_EQ(pod.error().code(), ErrorCode::kCorrupt);
  }
  EXPECT_FALSE(FromJson(fmt::format(R"({{"metadata":{{"name":"{}","namespace":"n","uid":"u"}}}})",
                                    std::string(254, 'x'))));
}

TEST(Pod, HoldsNoMoreThanItsBounds) {
  std::string labels, containers, statuses;
  for (int i = 0; i < 1000; ++i) {
    labels += fmt::format(R"("l{}":"v",)", i);
    containers += fmt::format(R"({{"name":"c{}"}},)", i);
    statuses += fmt::format(R"({{"name":"c0","containerID":"x://id{}"}},)", i);
  }
  for (std::string* list : {&labels, &containers, &statuses}) list->pop_back();
  const auto pod = FromJson(
      fmt::format(R"({{"metadata":{{{},"labels":{{{}}}}},"spec":{{"containers":[{}]}},)"
                  R"("status":{{"containerStatuses":[{},{{"name":"c1","containerID":"{}"}}]}}}})",
                  kMeta, labels, containers, statuses, std::string(kMaxContainerIdBytes + 1, 'a')));
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->labels.size(), kMaxPodLabels);
  EXPECT_EQ(pod->containers.size(), kMaxPodContainers);
  EXPECT_EQ(pod->containers[0].ids.size(), kMaxContainerIds);
  EXPECT_THAT(pod->containers[1].ids, IsEmpty());
}

TEST(Pod, TellsWhatAContainerAsksFor) {
  EXPECT_EQ(RealPod("db-0").containers.at(0).requests, (ContainerRequests{10, 20 << 20}));
  EXPECT_EQ(RealPod("agent-").containers.at(0).requests, (ContainerRequests{0, 0}));
  const auto requests = [](const std::string& amounts) {
    const auto pod =
        FromJson(fmt::format(R"({{"metadata":{{{}}},"spec":{{"initContainers":[{{"name":"c",)"
                             R"("restartPolicy":"Always","resources":{{"limits":{{"cpu":"9"}},)"
                             R"("requests":{}}}}}]}}}})",
                             kMeta, amounts));
    return pod->containers.at(0).requests;
  };
  EXPECT_EQ(requests(R"({"cpu":"1500m","memory":"1Gi"})"), (ContainerRequests{1500, 1 << 30}));
  EXPECT_EQ(requests(R"({"cpu":"0.5","memory":"128974848"})"), (ContainerRequests{500, 128974848}));
  EXPECT_EQ(requests(R"({"memory":"64M","ephemeral-storage":"1Gi"})"),
            (ContainerRequests{0, 64000000}));
  // An invalid or unsupported amount counts as no request.
  EXPECT_EQ(requests(R"({"cpu":"-1","memory":"1e9"})"), (ContainerRequests{0, 0}));
  EXPECT_EQ(requests(R"({"cpu":["1"],"memory":{"x":"1Gi"}})"), (ContainerRequests{0, 0}));
  EXPECT_EQ(requests(R"({"cpu":"99999999999999999999","memory":""})"), (ContainerRequests{0, 0}));
  EXPECT_EQ(requests("7"), (ContainerRequests{0, 0}));
}

// An object of another shape is a pod with less in it, or none.
TEST(Pod, TakesEveryShape) {
  for (const char* json :
       {R"({"metadata":7})", R"({"metadata":{"name":["p"],"namespace":"n","uid":"u"}})",
        R"({"metadata":{"name":"p","namespace":"n","uid":"u","labels":[1],"ownerReferences":{}},)"
        R"("spec":{"containers":{"name":"x"}},"status":[]})",
        R"({"metadata":{"name":"p","namespace":"n","uid":"u"},"spec":null,"status":null})"}) {
    const auto pod = FromJson(json);
    if (pod) {
      EXPECT_THAT(pod->containers, IsEmpty());
    }
  }
}

TEST(Pod, EveryPrefixOfAPodIsAnErrorOrAPod) {
  const std::string text = RealFrames("pods.json", FrameMode::kList).at(2);
  const FieldSet fields = WithIdentity(PodFields());
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(ParseObject(std::string_view(text).substr(0, size), fields)) << size;
  }
  EXPECT_TRUE(PodOf(*ParseObject(text, fields)));
}

}  // namespace
}  // namespace firetower::k8s
