// SPDX-License-Identifier: Apache-2.0
// Questions to a cluster's hub: the real binary and its way there, against an API server that
// forwards ports to the API of tests/unit/query/fixture.h.
#include "cli/cluster/hub.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "base/file.h"
#include "cli/args/spec.h"
#include "net/url.h"
#include "tests/support/command.h"
#include "tests/support/k8s/fake_http_server.h"
#include "tests/support/k8s/fake_pod_port.h"
#include "tests/unit/cli/program.h"
#include "tests/unit/query/fixture.h"

namespace firetower::cli {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

const std::vector<std::string> kRange = {"--from", "2026-07-01T09:45:00Z", "--to",
                                         "2026-07-01T10:00:00Z"};

// One object of a list of pods, of the hub's manifest.
std::string Pod(const std::string& name, bool ready, const std::string& more = "") {
  return fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"firetower"{}}},"spec":{{"containers":[)"
      R"({{"name":"hub","ports":[{{"name":"http","containerPort":7080}}]}}]}},)"
      R"("status":{{"phase":"Running","conditions":[{{"type":"Ready","status":"{}"}}]}}}})",
      name, more, ready ? "True" : "False");
}

// How the fake behaves as a pod.
enum class Behaviour {
  kServes,
  kForbidden,
  kNothingListens,
  kClosesAfterEach,
  kKeepsStatusOnly,
  kNeverOpens,
  kNeverAnswers
};

constexpr const char* kNoStore =
    "HTTP/1.1 404 Not Found\r\nContent-Length: 41\r\n\r\n"
    "{\"error\":{\"message\":\"there is /metrics\"}}";

class HubTest : public ::testing::Test {
 protected:
  HubTest()
      : server_({.concurrent = true}, [this](k8s::FakePeer& peer, const std::string& request) {
          return Serve(peer, request);
        }) {
    Become("user: {token: secret}");
  }

  // Sets the current user, as kubeconfigs spell it.
  void Become(const std::string& user) {
    ASSERT_TRUE(WriteFileAtomic(
        kubeconfig(),
        fmt::format("clusters: [{{name: c, cluster: {{server: \"http://127.0.0.1:{}\"}}}}]\n"
                    "users: [{{name: u, {}}}]\n"
                    "contexts: [{{name: c, context: {{cluster: c, user: u, namespace: shop}}}}]\n"
                    "current-context: c\n",
                    server_.port(), user)));
  }
  std::string kubeconfig() const { return folder_.path() + "/kubeconfig"; }

  void HavePods(const std::vector<std::string>& pods) {
    std::lock_guard lock(mutex_);
    pods_.clear();
    for (const std::string& pod : pods) pods_ += (pods_.empty() ? "" : ",") + pod;
  }
  void Let(const std::string& pod, Behaviour behaviour) {
    std::lock_guard lock(mutex_);
    behaviours_[pod] = behaviour;
  }

  Ran Run(std::vector<std::string> arguments, RunOptions options = {}) {
    options.environment.push_back("KUBECONFIG=" + kubeconfig());
    return RunFiretower(arguments, options);
  }
  // To the hub, in the time that the fixture has something of.
  Ran Ask(std::vector<std::string> arguments, const RunOptions& options = {}) {
    arguments.insert(arguments.end(), {"--context", "c"});
    return RunInRange(std::move(arguments), options);
  }
  Ran RunInRange(std::vector<std::string> arguments, const RunOptions& options = {}) {
    arguments.insert(arguments.end(), kRange.begin(), kRange.end());
    return Run(std::move(arguments), options);
  }
  std::unique_ptr<HttpTransport> Transport(size_t max_reply_bytes = kMaxReplyBytes) {
    k8s::ClientConfig config;
    config.server = {false, "127.0.0.1", server_.port(), ""};
    config.token = "secret";
    return OpenHub(std::make_shared<KubeClient>(ClusterAccess{config, "shop"}, 5 * kNsPerSecond,
                                                false, Clock::System()),
                   "firetower", "", 5 * kNsPerSecond, max_reply_bytes);
  }

  // Names of pods whose port was asked for, in this order.
  std::vector<std::string> Ports() {
    std::lock_guard lock(mutex_);
    return ports_;
  }
  // The request heads that the API server and the hubs received.
  std::vector<std::string> OfApiServer() {
    std::lock_guard lock(mutex_);
    return of_api_server_;
  }
  std::vector<std::string> OfHub() {
    std::lock_guard lock(mutex_);
    return of_hub_;
  }
  // The selector of the last question to a hub.
  std::string LastSelector() {
    const std::string head = OfHub().back();
    const size_t mark = head.find('?');
    const net::NamedValues params =
        net::DecodeQuery(head.substr(mark + 1, head.find(" HTTP/") - mark - 1)).value();
    for (const auto& [name, value] : params) {
      if (name == "q") return value;
    }
    return "";
  }

  testing::ScratchFolder folder_;
  query::Fixture fixture_;

 private:
  bool Serve(k8s::FakePeer& peer, const std::string& request) {
    const std::string of_namespace = "GET /api/v1/namespaces/firetower/pods";
    std::string pods;
    {
      std::lock_guard lock(mutex_);
      of_api_server_.push_back(request);
      pods = pods_;
    }
    if (request.starts_with(of_namespace + "?limit=500&labelSelector=app.kubernetes.io%2Fname%3D"
                                           "firetower-hub "))
      return peer.Reply("200 OK", R"({"metadata":{},"items":[)" + pods + "]}");
    const size_t end = request.find("/portforward?ports=7080 ");
    if (!request.starts_with(of_namespace + "/") || end == std::string::npos)
      return peer.Reply("404 Not Found", "{}");
    const std::string pod = request.substr(of_namespace.size() + 1, end - of_namespace.size() - 1);
    Behaviour behaviour = Behaviour::kServes;
    {
      std::lock_guard lock(mutex_);
      ports_.push_back(pod);
      if (behaviours_.contains(pod)) behaviour = behaviours_[pod];
    }
    if (behaviour == Behaviour::kForbidden)
      return peer.Reply("403 Forbidden", R"({"kind":"Status","message":"you may not"})");
    if (behaviour == Behaviour::kNeverOpens) {
      peer.AwaitClose();
      return false;
    }
    k8s::FakePodPort port(peer, request);
    if (behaviour == Behaviour::kNothingListens) {
      port.Fail("connection refused");
      peer.AwaitClose();
      return false;
    }
    for (;;) {
      const std::string head = port.ReadRequest();
      if (head.empty() || behaviour == Behaviour::kNeverAnswers) {
        peer.AwaitClose();
        return false;
      }
      port.Write(behaviour == Behaviour::kKeepsStatusOnly ? kNoStore : Answer(head));
      if (behaviour == Behaviour::kClosesAfterEach) return false;
    }
  }

  std::string Answer(const std::string& head) {
    {
      std::lock_guard lock(mutex_);
      of_hub_.push_back(head);
    }
    const std::string target = head.substr(4, head.find(" HTTP/") - 4);
    const size_t mark = std::min(target.find('?'), target.size());
    net::HttpRequest request;
    request.method = "GET";
    request.path = target.substr(0, mark);
    request.params = net::DecodeQuery(target.substr(std::min(mark + 1, target.size()))).value();
    const net::HttpResponse response = fixture_.api().Serve(request);
    std::string text = fmt::format("HTTP/1.1 {} X\r\nContent-Length: {}\r\n", response.status,
                                   response.body.size());
    for (const auto& [name, value] : response.headers) text += name + ": " + value + "\r\n";
    return text + "\r\n" + response.body;
  }

  std::mutex mutex_;  // the server's threads and the test's
  std::string pods_ = Pod("hub-1", true);
  std::map<std::string, Behaviour> behaviours_;
  std::vector<std::string> ports_;
  std::vector<std::string> of_api_server_;
  std::vector<std::string> of_hub_;
  k8s::FakeHttpServer server_;
};

TEST_F(HubTest, AnswersAsAServerOfAUrlDoes) {
  const Ran ran = Ask({"top", "-A"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  ExpectGolden("top-containers.txt", ran.out);
  ExpectGolden("get.folded", Ask({"get", "{container=\"web\"}", "-o", "folded"}).out);
  ExpectGolden("types.txt", Ask({"types"}).out);
  ExpectGolden("profiles.txt", Ask({"profiles", "{namespace=\"shop\"}"}).out);
}

TEST_F(HubTest, ShowsBothTheTokenOfTheKubeconfig) {
  ASSERT_EQ(Ask({"types"}).exit_code, 0);
  EXPECT_THAT(OfApiServer(), SizeIs(2));
  EXPECT_THAT(OfApiServer(), Each(HasSubstr("Authorization: Bearer secret\r\n")));
  EXPECT_THAT(OfHub(), ElementsAre(HasSubstr("Authorization: Bearer secret\r\n")));
}

TEST_F(HubTest, ATokenThatIsNamedIsForTheHubAlone) {
  for (const bool by_flag : {true, false}) {
    RunOptions options;
    std::vector<std::string> line = {"types"};
    if (by_flag) line.insert(line.end(), {"--token", "other"});
    if (!by_flag) options.environment = {"FIRETOWER_TOKEN=other"};
    ASSERT_EQ(Ask(line, options).exit_code, 0);
    EXPECT_THAT(OfApiServer(), Each(HasSubstr("Authorization: Bearer secret\r\n")));
    EXPECT_THAT(OfHub().back(), HasSubstr("Authorization: Bearer other\r\n"));
  }
}

TEST_F(HubTest, AUserWithACertificateIsToldToShowAToken) {
  Become("user: {client-certificate-data: eA==, client-key-data: eA==}");
  const Ran ran = Ask({"top"});
  EXPECT_EQ(ran.exit_code, ExitCode::kUnreachable);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("this user of the kubeconfig has none"),
                             HasSubstr("why: the user's credentials, such as a client certificate"),
                             HasSubstr("$(kubectl create token ACCOUNT -n NAMESPACE)")));
  EXPECT_THAT(OfApiServer(), IsEmpty());
  EXPECT_EQ(Ask({"types", "--token", "other"}).exit_code, 0);
}

TEST_F(HubTest, SeveralQuestionsGoOverOneConnection) {
  const Ran ran = Ask({"top", "functions", "--symbols", "names", "-o", "name"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(OfHub(), ElementsAre(StartsWith("GET /api/v1/top?"), StartsWith("GET /api/v1/prof")));
  EXPECT_THAT(Ports(), ElementsAre("hub-1"));
}

TEST_F(HubTest, AConnectionThatTheHubClosedIsReplaced) {
  Let("hub-1", Behaviour::kClosesAfterEach);
  const std::unique_ptr<HttpTransport> transport = Transport();
  for (int i = 0; i < 3; ++i) {
    Outcome<net::HttpResponse> answer = transport->Get("/livez", nullptr);
    ASSERT_TRUE(answer) << answer.failure().Text("");
    EXPECT_EQ(answer->status, 200);
  }
  EXPECT_THAT(Ports(), ElementsAre("hub-1", "hub-1", "hub-1"));
  EXPECT_EQ(transport->name(), "hub firetower/hub-1");
}

TEST_F(HubTest, AnAnswerOverTheLimitIsNotTaken) {
  const std::string target = "/api/v1/types?from=0";
  const size_t size = Transport()->Get(target, nullptr)->body.size();
  ASSERT_GT(size, 0u);
  EXPECT_TRUE(Transport(size)->Get(target, nullptr));
  const Outcome<net::HttpResponse> cut = Transport(size - 1)->Get(target, nullptr);
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.failure().Text(""), HasSubstr("the answer is too large"));
}

TEST_F(HubTest, AReadyPodIsAskedFirstAndAnotherWhenItIsAway) {
  HavePods({Pod("hub-1", false), Pod("hub-2", true), Pod("hub-3", true)});
  EXPECT_EQ(Transport()->Get("/livez", nullptr)->status, 200);
  EXPECT_THAT(Ports(), ElementsAre("hub-2"));
  Let("hub-2", Behaviour::kNothingListens);
  Let("hub-3", Behaviour::kForbidden);
  EXPECT_EQ(Transport()->Get("/livez", nullptr)->status, 200);
  EXPECT_THAT(Ports(), ElementsAre("hub-2", "hub-2", "hub-3", "hub-1"));
}

TEST_F(HubTest, LooksForPodsThatRunAndForTheirPort) {
  std::vector<k8s::Node> pods;
  for (const std::string& json :
       {Pod("gone", true, R"(,"deletionTimestamp":"2026-07-01T00:00:00Z")"), Pod("late", false),
        std::string(R"({"metadata":{"name":"other"},"spec":{"containers":[{"ports":[)"
                    R"({"name":"debug","containerPort":1},{"name":"http","containerPort":81}]}]},)"
                    R"("status":{"phase":"Running","conditions":[{"type":"Ready",)"
                    R"("status":"True"}]}})"),
        std::string(R"({"metadata":{"name":"tls"},"spec":{"containers":[{"ports":[)"
                    R"({"name":"https","containerPort":82}]}]},"status":{"phase":"Running"}})"),
        std::string(R"({"metadata":{"name":"new"},"status":{"phase":"Pending"}})"),
        std::string(R"({"metadata":{"name":"../x"},"status":{"phase":"Running"}})")}) {
    k8s::FieldSet all;
    for (const char* key : {"metadata", "spec", "status"}) all.Keep({key});
    pods.push_back(k8s::ParseObject(json, all).value());
  }
  EXPECT_THAT(HubPodsOf(pods), ElementsAre(HubPod{"other", 81, true}, HubPod{"late", 7080, false},
                                           HubPod{"tls", 82, false, true}));
}

TEST_F(HubTest, SaysWhatIsMissingOnTheWay) {
  HavePods({});
  Ran ran = Ask({"types"});
  EXPECT_EQ(ran.exit_code, ExitCode::kUnreachable);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("no hub runs in namespace firetower"),
                             HasSubstr("app.kubernetes.io/name=firetower-hub"),
                             HasSubstr("--hub-namespace")));
  HavePods({Pod("hub-1", true)});
  Let("hub-1", Behaviour::kForbidden);
  ran = Ask({"types"});
  EXPECT_EQ(ran.exit_code, ExitCode::kUnreachable);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("forbidden: the port of hub firetower/hub-1"),
                             HasSubstr("you may not"),
                             HasSubstr("kubectl auth can-i create pods/portforward -n firetower")));
  Let("hub-1", Behaviour::kNothingListens);
  ran = Ask({"types"});
  EXPECT_EQ(ran.exit_code, ExitCode::kUnreachable);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("cannot reach hub firetower/hub-1"),
                             HasSubstr("the pod's kubelet says: connection refused")));
  Let("hub-1", Behaviour::kServes);
  ran = Ask({"types", "--hub-namespace", "elsewhere"});
  EXPECT_EQ(ran.exit_code, 1);  // the fake knows no such path
  fixture_.Change([](query::Fixture::Answers& answers) {
    answers.refusal = Error(ErrorCode::kPermission, "carol may not read profiles");
  });
  ran = Ask({"types"});
  EXPECT_EQ(ran.exit_code, ExitCode::kUnreachable);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("hub firetower/hub-1 refuses"),
                             HasSubstr("carol may not read profiles")));
}

TEST_F(HubTest, TellsWhichLimitEndedIt) {
  Let("hub-1", Behaviour::kNeverAnswers);
  Ran ran = Ask({"types", "--timeout", "300ms"});
  EXPECT_EQ(ran.exit_code, ExitCode::kUnreachable);
  EXPECT_THAT(ran.err,
              AllOf(HasSubstr("hub firetower/hub-1 did not answer within 300ms\n"),
                    HasSubstr("give it more time with --timeout"), Not(HasSubstr("cannot reach"))));
  Let("hub-1", Behaviour::kNeverOpens);
  ran = Ask({"types", "--timeout", "300ms"});
  EXPECT_EQ(ran.exit_code, ExitCode::kUnreachable);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("the API server did not open the port of hub "
                                       "firetower/hub-1 within 300ms\n"),
                             HasSubstr("--timeout"), Not(HasSubstr("cannot reach"))));
}

TEST_F(HubTest, QuestionsAreAboutOneNamespaceAsKubectls) {
  struct Row {
    std::vector<std::string> line;
    const char* selector;
  } rows[] = {
      {{"top"}, R"({namespace="shop"})"},
      {{"top", "-n", "pay"}, R"({namespace="pay"})"},
      {{"top", "-A"}, ""},
      {{"series", "-q", R"({pod=~"web.*"})"}, R"({pod=~"web.*",namespace="shop"})"},
      {{"labels", "pod", "-q", R"({namespace="pay"})"}, R"({namespace="pay"})"},
      {{"get", "-o", "folded", R"({pod="a"})"}, R"({pod="a",namespace="shop"})"},
      {{"get", "-o", "folded", "-A", R"({pod="a"})"}, R"({pod="a"})"},
      {{"flame", "-o", "json", "-n", "a", R"({namespace!="b"})"},
       R"({namespace!="b",namespace="a"})"},
  };
  for (const Row& row : rows) {
    (void)Ask(row.line);
    EXPECT_EQ(LastSelector(), row.selector) << row.line[0];
  }
}

TEST_F(HubTest, ThePluginAsksTheHubUnlessAServerIsNamed) {
  RunOptions plugin;
  plugin.argv0 = "/usr/local/bin/kubectl-firetower";
  EXPECT_EQ(RunInRange({"types"}, plugin).err, "");
  EXPECT_THAT(OfHub(), SizeIs(1));
  plugin.environment = {"FIRETOWER_SERVER=http://127.0.0.1:1"};
  EXPECT_THAT(Run({"types"}, plugin).err, HasSubstr("cannot reach http://127.0.0.1:1"));
  EXPECT_EQ(Ask({"types"}, plugin).err, "");
  EXPECT_THAT(OfHub(), SizeIs(2));
  plugin.environment = {};
  EXPECT_THAT(Run({"types", "--server", "http://127.0.0.1:1"}, plugin).err,
              StartsWith("kubectl firetower: cannot reach http://127.0.0.1:1"));
  // By its other name it asks this machine, whatever KUBECONFIG says.
  (void)Run({"types", "--timeout", "1s"});
  EXPECT_THAT(OfHub(), SizeIs(2));
}

TEST_F(HubTest, ATokenOfTheKubeconfigGoesToNoServer) {
  std::string seen;
  {
    k8s::FakeHttpServer server([&](k8s::FakePeer& peer, const std::string& request) {
      seen = request;
      return peer.Reply("500 X", "");
    });
    const std::string url = fmt::format("http://127.0.0.1:{}", server.port());
    (void)Run({"types", "--server", url});
    (void)Run({"types", "--server", url, "--token", "mine"});
  }
  EXPECT_THAT(seen, HasSubstr("Authorization: Bearer mine\r\n"));
  EXPECT_THAT(seen, Not(HasSubstr("secret")));
}

// The shell of an agent's pod has such a file.
TEST_F(HubTest, ATokenMayStandInAFile) {
  const std::string path = ::testing::TempDir() + "/cli-token";
  ASSERT_TRUE(WriteFileAtomic(path, "from-file\n"));
  std::vector<std::string> seen;
  k8s::FakeHttpServer server([&](k8s::FakePeer& peer, const std::string& request) {
    seen.push_back(request);
    return peer.Reply("500 X", "");
  });
  RunOptions options;
  options.environment = {"FIRETOWER_TOKEN_FILE=" + path};
  const std::string url = fmt::format("http://127.0.0.1:{}", server.port());
  (void)Run({"types", "--server", url}, options);
  (void)Run({"types", "--server", url, "--token", "mine"}, options);
  ASSERT_THAT(seen, SizeIs(2));
  EXPECT_THAT(seen[0], HasSubstr("Authorization: Bearer from-file\r\n"));
  EXPECT_THAT(seen[1], HasSubstr("Authorization: Bearer mine\r\n"));
  options.environment = {"FIRETOWER_TOKEN_FILE=/no/such/token"};
  EXPECT_THAT(Run({"types", "--server", url}, options).err, HasSubstr("/no/such/token"));
}

// The fake knows no namespaces.
TEST_F(HubTest, DoctorHasTheClustersChecksBeforeTheHubs) {
  const Ran ran = Run({"doctor", "--context", "c"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("warn  pod-security  there is no namespace firetower\n"));
  EXPECT_THAT(ran.out, HasSubstr("ok    kernel        6.1.0, BTF there\n"));
  EXPECT_THAT(Run({"doctor", "--context", "c", "-o", "json"}).out,
              AllOf(HasSubstr("\"status\":\"warn\""), HasSubstr("\"name\":\"kernel\"")));
  fixture_.Change([](query::Fixture::Answers& answers) {
    answers.checks.push_back({"store", query::CheckStatus::kFail, "it is away", "wait"});
  });
  EXPECT_EQ(Run({"doctor", "--context", "c"}).exit_code, ExitCode::kFailure);
}

// The chart installs such a hub when no store is configured (hub/hub.cc).
TEST_F(HubTest, DoctorTakesAHubWithoutAStoreAsItIs) {
  Let("hub-1", Behaviour::kKeepsStatusOnly);
  const Ran ran = Run({"doctor", "--context", "c"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("skip  hub           it has no store (store.url): it keeps only "
                                 "the status of policies\n"));
}

TEST_F(HubTest, UsageErrorsAreExitCode2) {
  for (const std::vector<std::string>& line :
       {std::vector<std::string>{"top", "--context", "c", "--server", "http://127.0.0.1:1"},
        {"top", "-n", "shop", "-A"},
        {"top", "-n", "Shop"},
        {"top", "--hub-namespace", "../x"},
        {"types", "--token", "two words"},
        {"doctor", "-n", "shop"}}) {
    const Ran ran = Run(line);
    EXPECT_EQ(ran.exit_code, ExitCode::kUsage) << line.back() << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 3) << ran.err;
  }
  EXPECT_THAT(OfApiServer(), IsEmpty());
}

}  // namespace
}  // namespace firetower::cli
