// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/installation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "base/clock.h"
#include "base/file.h"
#include "cli/args/spec.h"
#include "k8s/status/timestamp.h"
#include "tests/support/command.h"
#include "tests/support/k8s/fake_http_server.h"
#include "tests/unit/cli/program.h"

namespace firetower::cli {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using query::Check;
using query::CheckStatus;

const std::string kCommand =
    "kubectl label --overwrite namespace ops pod-security.kubernetes.io/enforce=privileged";
// Message of kube-controller-manager 1.32 for a pod that Pod Security refuses.
const std::string kRefused =
    "Error creating: pods \"firetower-agent-x2x8z\" is forbidden: violates PodSecurity "
    "\"baseline:latest\": host namespaces (hostPID=true), hostPath volumes";
const std::string kQuota =
    "Error creating: insufficient quota to match these scopes: [{PriorityClass In "
    "[system-node-critical]}]";

Failure Answered(int status) {
  Failure failure{ExitCode::kUnreachable, "forbidden: get it", "you may not", "ask for that right"};
  failure.http_status = status;
  return failure;
}
Outcome<std::string> Says(const char* value) { return std::string(value); }

TEST(PodSecurity, IsJudgedByTheLabelOfTheNamespace) {
  const AgentsSeen all{.desired = 3, .current = 3, .ready = 3};
  const AgentsSeen missing{.desired = 3, .current = 1, .ready = 1};
  const AgentsSeen refused{.desired = 3, .refusal = kRefused};
  const AgentsSeen quota{.desired = 3, .refusal = kQuota};
  // The status of a DaemonSet that was made just now is all zeros.
  const AgentsSeen fresh{.is_looked_at = false};
  const AgentsSeen changed{.is_looked_at = false, .desired = 3, .current = 3, .ready = 3};
  struct Case {
    const char* what;
    Outcome<std::string> enforced;
    Outcome<AgentsSeen> agents;
    CheckStatus status;
    const char* says;
  };
  const Case cases[] = {
      {"it lets them in", Says("privileged"), all, CheckStatus::kOk, "enforces \"privileged\""},
      {"whatever the agents do", Says("privileged"), refused, CheckStatus::kOk,
       "admits the agents'"},
      {"it refuses", Says("baseline"), refused, CheckStatus::kFail, "Standard \"baseline\""},
      {"those that come", Says("restricted"), all, CheckStatus::kWarn, "stay, but new ones are"},
      {"one of them", Says("restricted"), missing, CheckStatus::kFail, "\"restricted\""},
      {"nobody looked", Says("baseline"), changed, CheckStatus::kFail, "which refuses the agents'"},
      {"unseen agents", Says("restricted"), Answered(403), CheckStatus::kFail, "refuses"},
      // Without the label the cluster's default applies, which is not a fault by itself.
      {"all are there", Says(""), all, CheckStatus::kOk, "default admits the agents' pods"},
      {"nobody may look", Says(""), Answered(403), CheckStatus::kSkip, "get it: you may not"},
      {"none was tried yet", Says(""), fresh, CheckStatus::kWarn, "is not known yet"},
      {"none of these", Says(""), changed, CheckStatus::kWarn, "is not known yet"},
      {"no node fits", Says(""), AgentsSeen{}, CheckStatus::kWarn, "is not known yet"},
      {"another reason", Says(""), quota, CheckStatus::kWarn, "is not known yet"},
      {"some are missing", Says(""), missing, CheckStatus::kWarn, "pods are missing"},
      {"they are refused", Says(""), refused, CheckStatus::kWarn, "by default refuses the agents'"},
      {"not installed yet", Says(""), Answered(404), CheckStatus::kWarn, "are refused"},
      {"no namespace yet", Answered(404), Answered(404), CheckStatus::kWarn, "no namespace ops"},
      {"may not read it", Answered(403), refused, CheckStatus::kSkip, "get it: you may not"},
  };
  for (const Case& one : cases) {
    const Check check = JudgePodSecurity("ops", one.enforced, one.agents);
    EXPECT_EQ(check.name, "pod-security");
    EXPECT_EQ(check.status, one.status) << one.what << ": " << check.message;
    EXPECT_THAT(check.message, HasSubstr(one.says)) << one.what;
    if (check.status == CheckStatus::kWarn || check.status == CheckStatus::kFail) {
      EXPECT_THAT(check.fix, HasSubstr(kCommand)) << one.what;
    } else {
      EXPECT_THAT(check.fix, Not(HasSubstr("label"))) << one.what;
    }
  }
}

TEST(AgentsCheck, SaysHowManyThereAreAndWhyNotMore) {
  struct Case {
    Outcome<AgentsSeen> agents;
    CheckStatus status;
    std::string message;
    const char* fix;
  };
  const Case cases[] = {
      {AgentsSeen{.desired = 3, .current = 3, .ready = 3}, CheckStatus::kOk,
       "3 of 3 agents are ready", ""},
      {AgentsSeen{.desired = 3, .current = 3, .ready = 2, .trouble = "a: ImagePullBackOff"},
       CheckStatus::kWarn, "2 of 3 agents are ready; a: ImagePullBackOff",
       "kubectl -n ops describe pods -l app.kubernetes.io/name=firetower"},
      {AgentsSeen{.desired = 3, .current = 3}, CheckStatus::kFail, "0 of 3 agents are ready",
       "describe pods"},
      {AgentsSeen{.desired = 3, .current = 1, .ready = 1, .refusal = kRefused}, CheckStatus::kFail,
       "1 of 3 nodes have an agent's pod: " + kRefused, kCommand.c_str()},
      {AgentsSeen{.desired = 3, .refusal = kQuota}, CheckStatus::kFail,
       "0 of 3 nodes have an agent's pod: " + kQuota,
       "kubectl -n ops describe daemonset firetower-agent"},
      {AgentsSeen{}, CheckStatus::kWarn, "no node fits DaemonSet firetower-agent",
       "agent.nodeSelector"},
      {AgentsSeen{.is_looked_at = false}, CheckStatus::kWarn,
       "the cluster has not processed DaemonSet firetower-agent yet", "in a few seconds"},
      {Answered(404), CheckStatus::kWarn, "namespace ops has no DaemonSet firetower-agent",
       "--hub-namespace"},
      {Answered(403), CheckStatus::kSkip, "forbidden: get it: you may not", "ask for that right"},
  };
  for (const Case& one : cases) {
    const Check check = JudgeAgents("ops", Says("baseline"), one.agents);
    EXPECT_EQ(check.name, "agents");
    EXPECT_EQ(check.status, one.status) << check.message;
    EXPECT_EQ(check.message, one.message);
    EXPECT_THAT(check.fix, HasSubstr(one.fix));
  }
}

TEST(AgentsCheck, SaysNotToSetTheLabelThatIsSet) {
  const AgentsSeen refused{.desired = 3, .refusal = kRefused};
  const std::string restart = "kubectl -n ops rollout restart daemonset firetower-agent";
  const Check mended = JudgeAgents("ops", Says("privileged"), refused);
  EXPECT_EQ(mended.status, CheckStatus::kFail);
  EXPECT_THAT(mended.fix, AllOf(StartsWith(restart), HasSubstr("within about 17 minutes")));
  for (const Outcome<std::string>& enforced :
       {Says("baseline"), Says(""), Outcome<std::string>(Answered(403))})
    EXPECT_EQ(JudgeAgents("ops", enforced, refused).fix, kCommand);
}

const std::string kNamespace = "/api/v1/namespaces/ops";
const std::string kSet = "/apis/apps/v1/namespaces/ops/daemonsets/firetower-agent";

std::string Namespace(const std::string& labels) {
  return R"({"metadata":{"name":"ops","labels":{)" + labels + "}}}";
}
const std::string kBaseline = Namespace(R"("pod-security.kubernetes.io/enforce":"baseline")");
const std::string kPrivileged = Namespace(R"("pod-security.kubernetes.io/enforce":"privileged")");

std::string Set(int desired, int current, int ready) {
  return R"({"metadata":{"name":"firetower-agent","uid":"u-2","generation":2},)"
         R"("status":{"observedGeneration":2,)"
         R"("desiredNumberScheduled":)" +
         std::to_string(desired) + R"(,"currentNumberScheduled":)" + std::to_string(current) +
         R"(,"numberReady":)" + std::to_string(ready) + "}}";
}

std::string List(const std::string& items) { return R"({"metadata":{},"items":[)" + items + "]}"; }

std::string Event(const std::string& message, int64_t age_seconds) {
  const int64_t time_ns = Clock::System().WallNs() - age_seconds * kNsPerSecond;
  return R"({"metadata":{"name":"a"},"message":")" + message + R"(","lastTimestamp":")" +
         k8s::TimeText(time_ns) + R"("})";
}

// The real binary against an API server that knows no hub.
class DoctorOfACluster : public ::testing::Test {
 protected:
  DoctorOfACluster()
      : server_([this](k8s::FakePeer& peer, const std::string& request) {
          const std::string target = request.substr(4, request.find(" HTTP/") - 4);
          std::lock_guard lock(mutex_);
          targets_.push_back(target);
          const auto found = replies_.find(target.substr(0, target.find('?')));
          if (found == replies_.end())
            return peer.Reply("404 Not Found", R"({"kind":"Status","message":"not found"})");
          if (found->second.empty())
            return peer.Reply("403 Forbidden", R"({"kind":"Status","message":"you may not"})");
          return peer.Reply("200 OK", found->second);
        }) {
    EXPECT_TRUE(
        WriteFileAtomic(kubeconfig(), "clusters: [{name: c, cluster: {server: \"http://127.0.0.1:" +
                                          std::to_string(server_.port()) +
                                          "\"}}]\nusers: [{name: u, user: {token: secret}}]\n"
                                          "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
                                          "current-context: c\n"));
    Say("/api/v1/namespaces/ops/pods", List(""));
  }
  std::string kubeconfig() const { return folder_.path() + "/kubeconfig"; }
  // An empty body is a refusal.
  void Say(const std::string& path, const std::string& body) {
    std::lock_guard lock(mutex_);
    replies_[path] = body;
  }
  Ran Doctor(std::vector<std::string> more = {}) {
    std::vector<std::string> line = {"doctor", "--hub-namespace", "ops"};
    line.insert(line.end(), more.begin(), more.end());
    RunOptions plugin;
    plugin.argv0 = "/usr/local/bin/kubectl-firetower";
    plugin.environment = {"KUBECONFIG=" + kubeconfig()};
    return RunFiretower(line, plugin);
  }
  std::vector<std::string> Targets() {
    std::lock_guard lock(mutex_);
    return targets_;
  }

 private:
  testing::ScratchFolder folder_;
  std::mutex mutex_;  // the server's thread and the test's
  std::map<std::string, std::string> replies_;
  std::vector<std::string> targets_;
  k8s::FakeHttpServer server_;
};

TEST_F(DoctorOfACluster, NamesTheLabelAndWhatTheEventsSay) {
  Say(kNamespace, kBaseline);
  Say(kSet, Set(2, 0, 0));
  const std::string refused = R"(pods \"x\" is forbidden: violates PodSecurity)";
  Say("/api/v1/namespaces/ops/events", List(Event(refused, 60) + "," + Event("old", 120)));
  const Ran ran = Doctor();
  EXPECT_EQ(ran.exit_code, ExitCode::kUnreachable) << "there is no hub to ask";
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(ran.out, StartsWith("fail  pod-security  namespace ops enforces the Pod Security "
                                  "Standard \"baseline\", which refuses the agents' pods: "));
  EXPECT_THAT(ran.out, HasSubstr("      fix: " + kCommand +
                                 "\nfail  agents        0 of 2 nodes "
                                 "have an agent's pod: pods \"x\" is forbidden: violates"));
  EXPECT_THAT(ran.out, HasSubstr("fail  hub           no hub runs in namespace ops"));
  // Events of that DaemonSet alone, not of one that was called so before.
  EXPECT_THAT(Targets(), Contains(AllOf(HasSubstr("/events?"), HasSubstr("fieldSelector="),
                                        HasSubstr("firetower-agent"), HasSubstr("FailedCreate"),
                                        HasSubstr("involvedObject.uid%3Du-2"))));
}

// Longer ago than the controller's back-off: it got past that.
TEST_F(DoctorOfACluster, LeavesOldEventsOut) {
  Say(kNamespace, kPrivileged);
  Say(kSet, Set(2, 1, 1));
  Say("/api/v1/namespaces/ops/events", List(Event("overcome", 21 * 60)));
  EXPECT_THAT(Doctor().out, HasSubstr("fail  agents        1 of 2 nodes have an agent's pod\n"));
  Say("/api/v1/namespaces/ops/events", List(Event("overcome", 21 * 60) + "," + Event("now", 999)));
  EXPECT_THAT(Doctor().out, HasSubstr("1 of 2 nodes have an agent's pod: now\n"));
}

TEST_F(DoctorOfACluster, LooksAtPodsThatAreNotReady) {
  Say(kNamespace, kPrivileged);
  Say(kSet, Set(2, 2, 1));
  Say("/api/v1/namespaces/ops/pods",
      List(R"({"metadata":{"name":"firetower-agent-1"},"status":{"conditions":[)"
           R"({"type":"Ready","status":"True"}]}},)"
           R"({"metadata":{"name":"firetower-agent-2"},"status":{"conditions":[)"
           R"({"type":"Ready","status":"False"}],"containerStatuses":[{"name":"agent","state":)"
           R"({"waiting":{"reason":"ImagePullBackOff","message":"no such image"}}}]}})"));
  const Ran ran = Doctor();
  EXPECT_THAT(ran.out, StartsWith("ok    pod-security  namespace ops enforces \"privileged\""));
  EXPECT_THAT(ran.out, HasSubstr("warn  agents        1 of 2 agents are ready; firetower-agent-2: "
                                 "ImagePullBackOff: no such image\n"));
  EXPECT_THAT(Targets(), Not(Contains(HasSubstr("/events"))));
}

TEST_F(DoctorOfACluster, SkipsByNameWhatMayNotBeRead) {
  Say(kNamespace, "");
  Say(kSet, "");
  const Ran ran = Doctor();
  EXPECT_THAT(ran.out, StartsWith("skip  pod-security  forbidden: get namespaces: you may not\n"
                                  "      fix: ask for that right; 'kubectl auth can-i get "
                                  "namespaces' checks it\n"
                                  "skip  agents        forbidden: get daemonsets.apps in namespace "
                                  "ops: you may not\n"));
  EXPECT_THAT(Doctor({"-o", "json"}).out,
              AllOf(HasSubstr(R"("name":"pod-security","status":"skip")"),
                    HasSubstr(R"("status":"fail")")));
}

TEST_F(DoctorOfACluster, DoesNotBlameAProbeForAPodThatHasNotStarted) {
  Say(kNamespace, kPrivileged);
  Say(kSet, Set(1, 1, 0));
  for (const auto& [status, says] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"("phase":"Pending")", "its phase is Pending"},
           {R"("phase":"Running","conditions":[{"type":"Ready","status":"False"}])", "its probe"},
           {R"("phase":"Pending","conditions":[{"type":"PodScheduled","status":"False",)"
            R"("reason":"Unschedulable","message":"no room"}])",
            "Unschedulable: no room"}}) {
    Say("/api/v1/namespaces/ops/pods",
        List(std::string(R"({"metadata":{"name":"a"},"status":{)") + status + "}}"));
    EXPECT_THAT(Doctor().out, HasSubstr(std::string("0 of 1 agents are ready; a: ") + says));
  }
}

// A release with hub.enabled=false has no hub; without the right to read Deployments this is
// unknown.
TEST_F(DoctorOfACluster, ThereNeedBeNoHub) {
  Say(kNamespace, kPrivileged);
  Say(kSet, Set(2, 2, 2));
  const std::string deployments = "/apis/apps/v1/namespaces/ops/deployments";
  Say(deployments, List(""));
  Ran ran = Doctor();
  EXPECT_EQ(ran.exit_code, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("ok    agents        2 of 2 agents are ready\n"
                                 "skip  hub           no hub is installed in namespace ops\n"));
  EXPECT_THAT(Targets(), Contains(AllOf(HasSubstr("/deployments?"), HasSubstr("firetower-hub"))));
  for (const std::string& body :
       {List(R"({"metadata":{"name":"firetower-hub"}})"), std::string()}) {
    Say(deployments, body);
    ran = Doctor();
    EXPECT_EQ(ran.exit_code, ExitCode::kUnreachable) << body;
    EXPECT_THAT(ran.out, HasSubstr("fail  hub           no hub runs in namespace ops: "));
  }
}

// Events that may not be read cost their words, no more.
TEST_F(DoctorOfACluster, DoesWithoutEvents) {
  Say(kNamespace, Namespace(""));
  Say(kSet, Set(2, 1, 1));
  Say("/api/v1/namespaces/ops/events", "");
  EXPECT_THAT(Doctor().out,
              AllOf(HasSubstr("warn  pod-security  namespace ops has no label"),
                    HasSubstr("fail  agents        1 of 2 nodes have an agent's pod\n")));
}

TEST_F(DoctorOfACluster, SaysThatThereIsNothingYet) {
  const Ran ran = Doctor();
  EXPECT_THAT(ran.out, HasSubstr("warn  pod-security  there is no namespace ops\n"));
  EXPECT_THAT(ran.out, HasSubstr("kubectl create namespace ops && " + kCommand));
  EXPECT_THAT(ran.out, HasSubstr("warn  agents        namespace ops has no DaemonSet "));
}

TEST_F(DoctorOfACluster, AnApiServerThatIsAwayIsNoCheck) {
  RunOptions options;
  options.environment = {"KUBECONFIG=" + kubeconfig() + "2"};
  ASSERT_TRUE(WriteFileAtomic(kubeconfig() + "2",
                              "clusters: [{name: c, cluster: {server: \"http://127.0.0.1:1\"}}]\n"
                              "users: [{name: u, user: {token: secret}}]\n"
                              "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
                              "current-context: c\n"));
  const Ran ran = RunFiretower({"doctor", "--context", "c"}, options);
  EXPECT_EQ(ran.exit_code, ExitCode::kUnreachable);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("cannot reach http://127.0.0.1:1"));
}

}  // namespace
}  // namespace firetower::cli
