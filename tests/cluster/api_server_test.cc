// SPDX-License-Identifier: Apache-2.0
// The client and the reflector against a real kube-apiserver; with_api_server.py starts it.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <thread>
#include <utility>

#include "k8s/client/api_client.h"
#include "k8s/watch/object_store.h"
#include "k8s/watch/reflector.h"
#include "k8s/watch/stream_sinks.h"
#include "tests/cluster/text_sink.h"

namespace firetower::k8s {
namespace {

using ::firetower::testing::TextSink;
using ::testing::HasSubstr;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";

class QuietMetrics : public ReflectorMetrics {
 public:
  void OnRequest(std::string_view, std::string_view verb, int status) override {
    requests.push_back(fmt::format("{} {}", verb, status));
  }
  void OnRestart(std::string_view, std::string_view, bool) override {}
  void OnSkipped(std::string_view, std::string_view) override { ++skipped; }
  std::vector<std::string> requests;
  int skipped = 0;
};

std::unique_ptr<ApiClient> Client(std::string_view context = "admin") {
  (void)std::signal(SIGPIPE, SIG_IGN);  // as the programs do
  const char* kubeconfig = std::getenv("FIRETOWER_TEST_KUBECONFIG");
  if (kubeconfig == nullptr) return nullptr;
  Result<ClientConfig> config = LoadKubeconfig(kubeconfig, context);
  EXPECT_TRUE(config) << config.error().message();
  return std::make_unique<ApiClient>(*config, "firetower-test", Clock::System());
}

class RealApiServer : public ::testing::Test {
 protected:
  void SetUp() override {
    client_ = Client();
    if (client_ == nullptr) GTEST_SKIP() << "FIRETOWER_TEST_KUBECONFIG names no API server";
  }

  ApiReply Call(const std::string& method, const std::string& target, const std::string& body = "",
                const std::string& type = "application/json") {
    TextSink sink;
    Result<ApiReply> reply = client_->Send({method, target, body, body.empty() ? "" : type}, sink);
    EXPECT_TRUE(reply) << reply.error().message();
    return reply.value_or(ApiReply{});
  }
  void Create(const std::string& name, const std::string& value = "x") {
    const std::string body =
        fmt::format(R"({{"metadata":{{"name":"{}"}},"data":{{"key":"{}"}}}})", name, value);
    EXPECT_EQ(Call("POST", kMaps, body).status, 201) << name;
  }
  void Delete(const std::string& name) {
    EXPECT_EQ(Call("DELETE", std::string(kMaps) + "/" + name).status, 200) << name;
  }
  static Result<std::string> Value(const Node& map) {
    return std::string(TextAt(map, {"data", "key"}));
  }

  std::unique_ptr<ApiClient> client_;
  std::unique_ptr<ApiClient> watcher_ = Client();
  QuietMetrics metrics_;
};

// Acts on each change that a watch reports, and ends the watch after the last action.
class Acting : public ObjectListener<std::string> {
 public:
  Acting(std::vector<std::function<void()>> actions, ApiClient& watcher)
      : actions_(std::move(actions)), watcher_(watcher) {}
  void OnUpsert(const std::string& key, const std::shared_ptr<const std::string>& value) override {
    Next("+" + key + " " + *value);
  }
  void OnDelete(const std::string& key, const std::shared_ptr<const std::string>& last) override {
    Next("-" + key + " " + *last);
  }
  std::vector<std::string> lines;

 private:
  void Next(std::string line) {
    if (line.find("default/act") == std::string::npos) return;
    lines.push_back(std::move(line));
    if (next_ < actions_.size()) {
      actions_[next_++]();
    } else {
      watcher_.Cancel();
    }
  }
  std::vector<std::function<void()>> actions_;
  ApiClient& watcher_;
  size_t next_ = 0;
};

class RealWatch : public RealApiServer, public ::testing::WithParamInterface<bool> {};

// Behaviours 1, 2, 5, 15, 16: the set, then each change, by list and by streaming list.
TEST_P(RealWatch, FollowsWhatHappens) {
  Create("act", "one");
  Acting acting({[&] {
                   EXPECT_EQ(Call("PATCH", std::string(kMaps) + "/act", R"({"data":{"key":"two"}})",
                                  "application/merge-patch+json")
                                 .status,
                             200);
                 },
                 [&] { Delete("act"); }, [&] { Create("act", "again"); }, [&] { Delete("act"); }},
                *watcher_);
  ObjectStore<std::string> store(Value, 10000, &acting);
  Reflector reflector(*watcher_, {"configmaps", kMaps, "metadata.name=act", "", {"data.key"}},
                      store, metrics_, Clock::System(), 1, {.watch_list = GetParam()});
  if (!GetParam()) {
    EXPECT_EQ(reflector.StepNs(), 0);
  }
  reflector.StepNs();
  EXPECT_THAT(acting.lines,
              ::testing::ElementsAre("+default/act one", "+default/act two", "-default/act two",
                                     "+default/act again", "-default/act again"));
  EXPECT_TRUE(reflector.state()->has_synced);
  EXPECT_EQ(metrics_.skipped, 0);
}

INSTANTIATE_TEST_SUITE_P(ListAndStreamingList, RealWatch, ::testing::Bool());

// Behaviour 7; and 12: a page of more than 128 KiB comes gzipped and chunked.
TEST_F(RealApiServer, PagesAreOfOneVersionAndHoldEverything) {
  const std::string value(2000, 'v');
  for (int i = 0; i < 250; ++i) Create(fmt::format("page-{}", i), value);
  ObjectStore<std::string> store(Value, 10000);
  FieldSet fields = {"metadata.name", "metadata.namespace", "metadata.uid", "data.key"};
  store.BeginSet();
  std::string token;
  std::string version;
  int pages = 0;
  do {
    ListSink sink(fields, 1 << 20, store);
    Result<ApiReply> reply = client_->Send(
        {.target = std::string(kMaps) + "?limit=100" + (token.empty() ? "" : "&continue=" + token)},
        sink);
    ASSERT_TRUE(reply && reply->ok());
    ASSERT_TRUE(sink.Finish()) << sink.Finish().error().message();
    EXPECT_TRUE(version.empty() || version == sink.version());
    version = sink.version();
    token = sink.continue_token();
    ++pages;
  } while (!token.empty());
  store.CommitSet();
  EXPECT_EQ(pages, 3);
  EXPECT_GE(store.Get()->size(), 250u);
  EXPECT_EQ(*store.Get()->at("default/page-249").value, value);
}

// Behaviour 3: too old a version, as this server says it. Secrets have no watch cache here, and
// etcd was compacted.
TEST_F(RealApiServer, AVersionThatIsTooOldIsRecognized) {
  ObjectStore<std::string> store(Value, 10000);
  FieldSet fields = {"type", "object.metadata", "object.code", "object.reason", "object.message"};
  WatchSink sink(fields, false, "1", {1 << 20, kNsPerSecond, 10 * kNsPerSecond}, store,
                 [](const std::string&) {});
  Result<ApiReply> reply =
      client_->Send({.target = "/api/v1/secrets?watch=1&timeoutSeconds=3&resourceVersion=1"}, sink);
  const bool as_status = reply && reply->status == 410;
  EXPECT_TRUE(as_status || sink.verdict() == WatchVerdict::kExpired)
      << (reply ? std::to_string(reply->status) : reply.error().message()) << sink.message();
}

// Behaviour 30.
TEST_F(RealApiServer, AMissingRightIsSaid) {
  const std::unique_ptr<ApiClient> nobody = Client("nobody");
  ObjectStore<std::string> store(Value, 10000);
  Reflector reflector(*nobody, {"configmaps", kMaps, "", "", {}}, store, metrics_, Clock::System(),
                      1);
  EXPECT_EQ(reflector.StepNs(), 0);  // a streaming list is refused: perhaps a plain one is not
  // A server that has just begun refuses everyone for seconds: twice it is asked again soon.
  for (int i = 0; i < 2; ++i) EXPECT_LE(reflector.StepNs(), 10 * kNsPerSecond);
  EXPECT_GE(reflector.StepNs(), 60 * kNsPerSecond);
  EXPECT_EQ(reflector.state()->health, ReflectorHealth::kForbidden);
  EXPECT_THAT(reflector.state()->message,
              HasSubstr("\"nobody\" cannot list resource \"configmaps\""));
}

// Behaviour 26, the end of it.
TEST_F(RealApiServer, AWrongTokenIsSaid) {
  const std::unique_ptr<ApiClient> stranger = Client("stranger");
  ObjectStore<std::string> store(Value, 10000);
  Reflector reflector(*stranger, {"configmaps", kMaps, "", "", {}}, store, metrics_,
                      Clock::System(), 1);
  EXPECT_GT(reflector.StepNs(), 0);
  EXPECT_EQ(reflector.state()->health, ReflectorHealth::kFailing);
  EXPECT_THAT(reflector.state()->message, HasSubstr("401 Unauthorized"));
}

constexpr const char* kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr const char* kTowers = "/apis/test.firetower.dev/v1/towers";

class RealDefinition : public RealApiServer {
 protected:
  // Created, and served from then on.
  void Install() {
    // One that is being deleted still is in the way.
    const std::string mine = std::string(kDefinitions) + "/towers.test.firetower.dev";
    for (int i = 0; i < 2000 && Call("GET", mine).status != 404; ++i) {
    }
    installed_ = true;
    EXPECT_EQ(Call("POST", kDefinitions,
                   R"({"metadata":{"name":"towers.test.firetower.dev"},"spec":{)"
                   R"("group":"test.firetower.dev","scope":"Cluster","names":{"plural":"towers",)"
                   R"("kind":"Tower"},"versions":[{"name":"v1","served":true,"storage":true,)"
                   R"("schema":{"openAPIV3Schema":{"type":"object"}}}]}})")
                  .status,
              201);
    const std::string tower =
        R"({"apiVersion":"test.firetower.dev/v1","kind":"Tower","metadata":{"name":"one"}})";
    int status = 0;
    for (int i = 0; i < 2000 && status != 201; ++i) status = Call("POST", kTowers, tower).status;
    EXPECT_EQ(status, 201);
  }
  void Remove() {
    if (!std::exchange(installed_, false)) return;
    EXPECT_EQ(Call("DELETE", std::string(kDefinitions) + "/towers.test.firetower.dev").status, 200);
  }
  // Steps as a thread of watches does, without its longer waits; returns the last
  // wait.
  int64_t StepUntil(ReflectorHealth health) {
    int64_t wait_ns = 0;
    for (int i = 0; i < 200; ++i) {
      wait_ns = reflector_.StepNs();
      if (reflector_.state()->health == health) return wait_ns;
      std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(wait_ns, kNsPerSecond / 10)));
    }
    ADD_FAILURE() << reflector_.state()->message;
    return wait_ns;
  }

  // The definition goes while it is watched, once the watch has told of the object.
  class Removing : public ObjectListener<std::string> {
   public:
    explicit Removing(RealDefinition& test) : test_(test) {}
    void OnUpsert(const std::string&, const std::shared_ptr<const std::string>&) override {
      test_.Remove();
    }
    void OnDelete(const std::string&, const std::shared_ptr<const std::string>&) override {}

   private:
    RealDefinition& test_;
  };
  bool installed_ = false;
  Removing removing_{*this};
  ObjectStore<std::string> store_{Value, 10000, &removing_};
  Reflector reflector_{
      *watcher_, {"towers", kTowers, "", "", {}}, store_, metrics_, Clock::System(), 1};
};

// Behaviour 29: no definition, one that is installed, one that goes again, twice.
TEST_F(RealDefinition, MayComeAndGo) {
  for (int i = 0; i < 2; ++i) {
    const int64_t wait_ns = StepUntil(ReflectorHealth::kAbsent);
    EXPECT_GE(wait_ns, 10 * kNsPerSecond) << "it does not spin";
    EXPECT_LE(wait_ns, 15 * kNsPerSecond) << "what is installed is found soon";
    EXPECT_EQ(reflector_.state()->has_synced, i > 0);
    Install();
    const size_t before = metrics_.requests.size();
    StepUntil(ReflectorHealth::kAbsent);
    EXPECT_GE(metrics_.requests.size(), before + 2) << "a watch, and what told that it is gone";
    EXPECT_EQ(metrics_.requests[before], "watch 200");
    ASSERT_TRUE(store_.Get());
    EXPECT_TRUE(store_.Get()->empty()) << "the watch told that its object went";
  }
}

}  // namespace
}  // namespace firetower::k8s
