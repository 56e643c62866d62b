// SPDX-License-Identifier: Apache-2.0
// Runs the real binary against a fake API server with answers set by the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <vector>

#include "base/file.h"
#include "profile/pprof.h"
#include "tests/support/k8s/fake_http_server.h"
#include "tests/unit/cli/program.h"
#include "tests/unit/query/fixture.h"

namespace firetower::cli {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Reply {
  std::string status = "200 OK";
  std::string body;
};

Reply Forbidden(const std::string& message) {
  return {"403 Forbidden", R"({"kind":"Status","message":")" + message + R"(","code":403})"};
}

const std::string kGroup = "/apis/firetower.dev/v1alpha1";
const std::string kPolicies = "GET " + kGroup + "/namespaces/shop/profilingpolicies?limit=500";
const std::string kClusterPolicies = "GET " + kGroup + "/clusterprofilingpolicies?limit=500";
const std::string kPods = "GET /api/v1/namespaces/shop/pods?limit=500";
const std::string kDryRun = "POST " + kGroup + "/namespaces/shop/profilingpolicies?dryRun=All";
const std::string kCreate = "POST " + kGroup + "/namespaces/shop/profilingpolicies";

std::string Policy(const std::string& name, const std::string& status = "{}") {
  return R"({"metadata":{"name":")" + name + R"(","namespace":"shop","uid":"uid-)" + name +
         R"(","generation":1,"creationTimestamp":"2026-07-01T00:00:00Z"},"spec":{"mode":"General",)"
         R"("general":{"schedule":"Continuous"},)"
         R"("targets":{"podSelector":{"matchLabels":{"app":"web"}}}},"status":)" +
         status + "}";
}

std::string List(const std::string& items, const std::string& token = "") {
  return R"({"metadata":{"resourceVersion":"7","continue":")" + token + R"("},"items":[)" + items +
         "]}";
}

const std::string kWeb =
    R"({"metadata":{"name":"web-0","namespace":"shop","uid":"u","labels":{"app":"web"}},)"
    R"("spec":{"nodeName":"node-1","containers":[{"name":"web"}]},"status":{"phase":"Running",)"
    R"("containerStatuses":[{"name":"web","containerID":"containerd://aa"}]}})";

class FiretowerCluster : public ::testing::Test {
 protected:
  FiretowerCluster()
      : server_([this](k8s::FakePeer& peer, const std::string& request) {
          const std::string line = request.substr(0, request.find(" HTTP/"));
          Reply reply{"404 Not Found", "404 page not found\n"};
          {
            std::lock_guard lock(mutex_);
            requests_.push_back(request);
            const auto found = replies_.find(line);
            if (found != replies_.end()) reply = found->second;
          }
          return peer.Reply(reply.status, reply.body, "Content-Type: application/json\r\n");
        }) {
    char folder[] = "/tmp/firetower-cli-XXXXXX";
    EXPECT_NE(::mkdtemp(folder), nullptr);
    folder_ = folder;
    EXPECT_TRUE(WriteFileAtomic(
        InFolder("kubeconfig"),
        "clusters: [{name: c, cluster: {server: \"http://127.0.0.1:" +
            std::to_string(server_.port()) +
            "\"}}]\nusers: [{name: u, user: {token: secret}}]\n"
            "contexts: [{name: c, context: {cluster: c, user: u, namespace: shop}}]\n"
            "current-context: c\n"));
  }
  ~FiretowerCluster() override { std::filesystem::remove_all(folder_); }

  void Say(const std::string& line, Reply reply) {
    std::lock_guard lock(mutex_);
    replies_[line] = std::move(reply);
  }
  void Say(const std::string& line, const std::string& body) { Say(line, Reply{"200 OK", body}); }
  Ran Run(const std::vector<std::string>& arguments, RunOptions options = {}) {
    options.environment.push_back("KUBECONFIG=" + InFolder("kubeconfig"));
    return RunFiretower(arguments, options);
  }
  std::vector<std::string> Requests() {
    std::lock_guard lock(mutex_);
    return requests_;
  }
  std::string InFolder(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;

 private:
  std::mutex mutex_;  // the server's thread and the test's
  std::map<std::string, Reply> replies_;
  std::vector<std::string> requests_;
  k8s::FakeHttpServer server_;
};

TEST_F(FiretowerCluster, ListsPoliciesWithTheirStatus) {
  const std::string status =
      R"({"conditions":[{"type":"Accepted","status":"True"},)"
      R"({"type":"Programmed","status":"False","reason":"NoTargets","message":"none"}],)"
      R"("nodes":{"desired":3,"ready":2},"pods":{"matched":5}})";
  Say(kPolicies, List(Policy("first", status), "next page"));
  Say(kPolicies + "&continue=next%20page", List(Policy("second")));
  Say(kClusterPolicies, List(""));
  const Ran ran = Run({"policies"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out,
              StartsWith("NAMESPACE  NAME    MODE     PODS  NODES  DESIRED  PROGRAMMED  "));
  EXPECT_THAT(ran.out, HasSubstr("shop       first   General     5      2        3  False       "
                                 "NoTargets"));
  EXPECT_THAT(ran.out,
              HasSubstr("shop       second  General     -      -        -  -           -"));
  EXPECT_EQ(Run({"policies", "-o", "name"}).out, "shop/first\nshop/second\n");
  EXPECT_THAT(Run({"policies", "-o", "json"}).out,
              HasSubstr(R"("name":"first","mode":"General","pods":5,"nodes":2,"desired":3,)"
                        R"("programmed":"False","reason":"NoTargets","message":"none"})"));
}

TEST_F(FiretowerCluster, AKindThatMayNotBeReadIsLeftOut) {
  Say(kPolicies, List(Policy("first")));
  Say(kClusterPolicies, Forbidden("no"));
  Ran ran = Run({"policies", "-o", "name"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.out, "shop/first\n");
  EXPECT_THAT(ran.err, HasSubstr("forbidden: list clusterprofilingpolicies.firetower.dev"));

  Say(kPolicies, Forbidden("also not"));
  ran = Run({"policies"});
  EXPECT_EQ(ran.exit_code, 5);
  EXPECT_THAT(ran.err,
              HasSubstr("kubectl auth can-i list clusterprofilingpolicies.firetower.dev'"));
}

TEST_F(FiretowerCluster, SaysWhatIsMissing) {
  Ran ran = Run({"policies"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("has no profilingpolicies.firetower.dev"),
                             HasSubstr("why: 404 page not found"),
                             HasSubstr("install the CustomResourceDefinitions")));
  Say(kPolicies, List(""));
  Say(kClusterPolicies, List(""));
  EXPECT_EQ(Run({"policies"}).exit_code, 4);
  Say(kPolicies, Reply{"401 Unauthorized", R"({"message":"Unauthorized"})"});
  ran = Run({"policies"});
  EXPECT_EQ(ran.exit_code, 5);
  EXPECT_THAT(ran.err, HasSubstr("log in again"));
  Say(kPolicies, "no json");
  EXPECT_EQ(Run({"policies"}).exit_code, 1);
  ran = Run({"policies", "--kubeconfig", InFolder("none")});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("no cluster is configured"));
  EXPECT_THAT(Run({"policies", "-n", "../kube-system"}).err,
              HasSubstr("a namespace's name has only"));
  EXPECT_THAT(Run({"policies", "--pod", "web-0?x"}).err,
              HasSubstr("that is not a valid name of a pod"));
}

TEST_F(FiretowerCluster, SaysWhyAPodIsProfiled) {
  Say(kPolicies, List(Policy("first")));
  Say(kClusterPolicies, List(""));
  Say("GET /api/v1/namespaces/shop/pods/web-0", kWeb);
  Say("GET /api/v1/nodes/node-1", R"({"metadata":{"name":"node-1"}})");
  Say("GET " + kGroup + "/profilingnodes/node-1",
      R"({"policies":[{"uid":"uid-first","generation":1,"state":"Running"}]})");
  // The person may read nothing of the namespace; the fake says 404 for it.
  EXPECT_THAT(
      Run({"policies", "--pod", "web-0", "-o", "json"}).out,
      HasSubstr(R"({"pod":{"namespace":"shop","name":"web-0","node":"node-1"},"policies":[)"
                R"({"kind":"ProfilingPolicy","namespace":"shop","name":"first",)"
                R"("profiled":"yes","containers":["web"],"why":"the targets include the pod"}]})"));
  Say("GET " + kGroup + "/profilingnodes/node-1", Reply{"404 Not Found", R"({"message":"x"})"});
  EXPECT_THAT(Run({"policies", "--pod", "web-0"}).out,
              HasSubstr("shop/first  no        -           no agent reports from node node-1"));
}

// Everything that can be refused is, before anything is made.
TEST_F(FiretowerCluster, ARecordingThatCannotBeMakesNothing) {
  const auto refused = [&](const std::vector<std::string>& rest) {
    std::vector<std::string> arguments = {"record", "app=web",  "-o",
                                          "pprof",  "--server", "http://127.0.0.1:1"};
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    const Ran ran = Run(arguments);
    EXPECT_THAT(Requests(), Not(Contains(StartsWith(kCreate + " "))));
    return ran;
  };
  Say(kDryRun, Forbidden("you may not"));
  Ran ran = refused({});
  EXPECT_EQ(ran.exit_code, 5);
  EXPECT_THAT(
      ran.err,
      AllOf(HasSubstr("forbidden: create profilingpolicies.firetower.dev in namespace shop"),
            HasSubstr("why: you may not")));
  Say(kDryRun, Reply{"201 Created", Policy("record-web-abcde")});
  Say(kPods, List(""));
  ran = refused({});
  EXPECT_EQ(ran.exit_code, 4);
  EXPECT_THAT(ran.err, HasSubstr("app=web selects no pod of namespace shop"));
  Say(kPods, List(kWeb));
  ran = refused({});
  EXPECT_EQ(ran.exit_code, 5);
  EXPECT_THAT(ran.err, HasSubstr("cannot reach http://127.0.0.1:1"));
  EXPECT_THAT(refused({"--for", "10s"}).err, HasSubstr("from 1m to 1d"));
  EXPECT_THAT(refused({"--frequency", "1000"}).err, HasSubstr("from 1 to 999"));
}

TEST_F(FiretowerCluster, ARecordingAsksForItsType) {
  const auto record = [&](const std::string& type, const std::vector<std::string>& rest = {}) {
    Say(kDryRun, Reply{"201 Created", Policy("record-web-abcde")});
    Say(kPods, List(kWeb));
    std::vector<std::string> arguments = {"record", "app=web", "-t", type, "-o", "pprof"};
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    arguments.insert(arguments.end(), {"--server", "http://127.0.0.1:1"});
    return Run(arguments);
  };
  record("offcpu");
  EXPECT_THAT(Requests(), Contains(HasSubstr(R"("profiles":[{"type":"OffCPU"}])")));
  record("lock");
  EXPECT_THAT(Requests(), Contains(HasSubstr(R"("profiles":[{"type":"Lock"}])")));
  record("event:cs", {"-F", "49"});
  EXPECT_THAT(
      Requests(),
      Contains(HasSubstr(
          R"("profiles":[{"type":"Event","events":[{"name":"cs","frequencyHertz":49}]}])")));
  EXPECT_THAT(record("offcpu", {"-F", "49"}).err, HasSubstr("'offcpu' has no --frequency"));
  EXPECT_THAT(record("event:sched:sched_switch").err, HasSubstr("ClusterProfilingPolicy"));
  record("memory");
  EXPECT_THAT(Requests(), Contains(HasSubstr(R"("profiles":[{"type":"Memory"}])")));
  EXPECT_THAT(record("memory", {"-F", "49"}).err, HasSubstr("'memory' has no --frequency"));
  const Ran unknown = record("event:a\"b");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("--type"));
}

TEST_F(FiretowerCluster, ARecordingWithoutAServerIsForTheHub) {
  Say(kDryRun, Reply{"201 Created", Policy("record-web-abcde")});
  Say(kPods, List(kWeb));
  Say("GET /api/v1/namespaces/firetower/pods?limit=500&labelSelector=app.kubernetes.io%2Fname%3D"
      "firetower-hub",
      List(""));
  const Ran ran = Run({"record", "app=web", "-f", InFolder("web.pb.gz")});
  EXPECT_EQ(ran.exit_code, 5);
  EXPECT_THAT(ran.err, HasSubstr("no hub runs in namespace firetower"));
  EXPECT_THAT(Requests(), Not(Contains(StartsWith(kCreate + " "))));
}

TEST_F(FiretowerCluster, AnInterruptedRecordingDeletesItsPolicyAndKeepsWhatThereIs) {
  query::Fixture fixture;
  Say(kDryRun, Reply{"201 Created", Policy("record-web-dryrn")});
  Say(kCreate, Reply{"201 Created", Policy("record-web-abcde")});
  Say(kPods, List(kWeb));
  Say("DELETE " + kGroup + "/namespaces/shop/profilingpolicies/record-web-abcde", "{}");
  RunOptions options;
  options.terminal_columns = 120;  // for what is told on standard error
  options.interrupt_at = "Ctrl-C ends it";
  const std::string file = InFolder("web.pb.gz");
  const Ran ran =
      Run({"record", "app=web", "-F", "49", "-f", file, "--server", fixture.Serve()}, options);
  EXPECT_EQ(ran.exit_code, 130) << ran.out;
  EXPECT_THAT(Requests(), Contains(StartsWith("DELETE ")));
  EXPECT_THAT(ran.out, HasSubstr("deleted ProfilingPolicy shop/record-web-abcde"));
  // The fixture's open window has shop/web-0, see there.
  Result<std::string> pprof = ReadFile(file);
  ASSERT_TRUE(pprof) << ran.out;
  EXPECT_TRUE(profile::DecodePprof(*pprof));
  // The policy asks for the given rate and time.
  EXPECT_THAT(Requests(),
              Contains(AllOf(StartsWith(kCreate + " "), HasSubstr(R"("frequencyHertz":49)"),
                             HasSubstr(R"("activeDeadlineSeconds":60)"),
                             HasSubstr(R"("generateName":"record-web-")"),
                             HasSubstr(R"("podSelector":{"matchLabels":{"app":"web"}})"))));
}

// The fixture's shop/web-0 has two: of web main;Serve;…, of sidecar main;Log.
TEST_F(FiretowerCluster, ARecordingOfOneContainerHasThatAlone) {
  query::Fixture fixture;
  const std::string pod =
      R"({"metadata":{"name":"web-0","namespace":"shop","uid":"u","labels":{"app":"web"}},)"
      R"("spec":{"nodeName":"node-1","containers":[{"name":"web"},{"name":"sidecar"}]}})";
  Say(kDryRun, Reply{"201 Created", Policy("record-web-dryrn")});
  Say(kCreate, Reply{"201 Created", Policy("record-web-abcde")});
  Say(kPods, List(pod));
  Say("DELETE " + kGroup + "/namespaces/shop/profilingpolicies/record-web-abcde", "{}");
  RunOptions options;
  options.terminal_columns = 120;
  options.interrupt_at = "Ctrl-C ends it";
  const std::string file = InFolder("sidecar.pb.gz");
  const std::string url = fixture.Serve();
  const auto record = [&](const std::string& container) {
    return Run({"record", "app=web", "-c", container, "-f", file, "--force", "--server", url},
               options);
  };
  const Ran ran = record("sidecar");
  EXPECT_EQ(ran.exit_code, 130) << ran.out;
  EXPECT_THAT(RunFiretower({"convert", file, "-o", "folded"}).out,
              AllOf(StartsWith("main;Log "), Not(HasSubstr("Serve"))));
  EXPECT_THAT(Requests(), Contains(AllOf(StartsWith(kCreate + " "),
                                         HasSubstr(R"("targets":{"podSelector":{"matchLabels":)"
                                                   R"({"app":"web"}},"containers":)"
                                                   R"({"include":["sidecar"]}},)"))));
  const Ran none = record("sidecars");
  EXPECT_EQ(none.exit_code, 4) << none.out;
  EXPECT_THAT(none.out, AllOf(HasSubstr("pod web-0 has no container called 'sidecars'"),
                              HasSubstr("check the namespace (-n) and --container")));
  for (const char* name : {"Sidecar", "a.b", "a\"b"}) EXPECT_EQ(record(name).exit_code, 2) << name;
}

}  // namespace
}  // namespace firetower::cli
