// SPDX-License-Identifier: Apache-2.0
// Replies are those of the Kubernetes API concepts page, cut to the fields that matter.
#include "k8s/watch/reflector.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "k8s/watch/object_store.h"
#include "tests/support/k8s/scripted_api_server.h"

namespace firetower::k8s {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int64_t kMinuteNs = 60 * kNsPerSecond;

std::string Pod(std::string_view name, std::string_view version, std::string_view phase = "Running",
                std::string_view uid = "") {
  return fmt::format(R"({{"metadata":{{"name":"{}","namespace":"shop","uid":"{}",)"
                     R"("resourceVersion":"{}"}},"status":{{"phase":"{}"}}}})",
                     name, uid.empty() ? name : uid, version, phase);
}

std::string Event(std::string_view type, std::string_view object) {
  return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, object);
}

std::string Bookmark(std::string_view version, bool ends_list = false) {
  return Event(
      "BOOKMARK",
      fmt::format(R"({{"metadata":{{"resourceVersion":"{}"{}}}}})", version,
                  ends_list ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : ""));
}

std::string List(std::string_view version, std::string_view items, std::string_view token = "") {
  return fmt::format(R"({{"metadata":{{"resourceVersion":"{}","continue":"{}"}},"items":[{}]}})",
                     version, token, items);
}

std::string StatusObject(int code, std::string_view reason) {
  return fmt::format(R"({{"kind":"Status","code":{},"reason":"{}","message":"so it is"}})", code,
                     reason);
}

class CountingMetrics : public ReflectorMetrics {
 public:
  void OnRequest(std::string_view, std::string_view verb, int status) override {
    requests.push_back(fmt::format("{} {}", verb, status));
  }
  void OnRestart(std::string_view, std::string_view reason, bool relist) override {
    restarts.push_back(std::string(reason) + (relist ? " relist" : ""));
  }
  void OnSkipped(std::string_view, std::string_view reason) override {
    skipped.emplace_back(reason);
  }
  std::vector<std::string> requests;
  std::vector<std::string> restarts;
  std::vector<std::string> skipped;
};

class Log : public ObjectListener<std::string> {
 public:
  void OnUpsert(const std::string& key, const std::shared_ptr<const std::string>& value) override {
    lines.push_back("+" + key + " " + *value);
  }
  void OnDelete(const std::string& key, const std::shared_ptr<const std::string>& last) override {
    lines.push_back("-" + key + " " + *last);
  }
  std::vector<std::string> Take() { return std::exchange(lines, {}); }
  std::vector<std::string> lines;
};

class ReflectorTest : public ::testing::Test {
 protected:
  explicit ReflectorTest(bool watch_list = false)
      : reflector_(server_, {"pods", "/api/v1/pods", "spec.nodeName=node-1", "", {"status.phase"}},
                   store_, metrics_, clock_, /*seed=*/1, {.watch_list = watch_list}) {}

  static Result<std::string> Phase(const Node& pod) {
    return std::string(TextAt(pod, {"status", "phase"}));
  }
  // One step that the server answers so.
  int64_t Step(ScriptedReply reply) {
    server_.Expect(std::move(reply));
    return reflector_.StepNs();
  }
  // A list with one pod at version 10.
  void Sync() {
    ASSERT_EQ(Step({.pieces = {List("10", Pod("a", "5"))}}), 0);
    log_.Take();
  }
  std::vector<std::string> Keys() {
    std::vector<std::string> keys;
    if (store_.Get() == nullptr) return {"nothing"};
    for (const auto& [key, entry] : *store_.Get()) keys.push_back(key + " " + *entry.value);
    return keys;
  }
  ReflectorHealth Health() { return reflector_.state()->health; }

  FakeClock clock_{1000 * kNsPerSecond, 5000 * kNsPerSecond};
  ScriptedApiServer server_{clock_};
  Log log_;
  ObjectStore<std::string> store_{Phase, 100, &log_};
  CountingMetrics metrics_;
  Reflector reflector_;
};

class StreamingReflectorTest : public ReflectorTest {
 protected:
  StreamingReflectorTest() : ReflectorTest(true) {}
};

TEST_F(ReflectorTest, ListsFromTheCacheThenWatchesFromTheListsVersion) {
  Sync();
  EXPECT_THAT(server_.last_target(),
              AllOf(HasSubstr("/api/v1/pods?limit=500"), HasSubstr("&resourceVersion=0&"),
                    HasSubstr("&fieldSelector=spec.nodeName%3Dnode-1"), Not(HasSubstr("watch"))));
  EXPECT_EQ(Health(), ReflectorHealth::kSynced);
  EXPECT_EQ(reflector_.state()->last_sync_wall_ns, clock_.WallNs());
  Step({.lasts_ns = 5 * kMinuteNs});
  EXPECT_THAT(server_.last_target(),
              AllOf(HasSubstr("watch=1"), HasSubstr("allowWatchBookmarks=true"),
                    HasSubstr("&resourceVersion=10"), HasSubstr("fieldSelector=")));
  EXPECT_THAT(metrics_.requests, ElementsAre("list 200", "watch 200"));
}

TEST_F(ReflectorTest, AsksForWatchesOfDifferentLengths) {
  Sync();
  std::vector<int> seconds;
  for (int i = 0; i < 20; ++i) {
    Step({.lasts_ns = 5 * kMinuteNs});
    const std::string& target = server_.last_target();
    seconds.push_back(std::stoi(target.substr(target.find("timeoutSeconds=") + 15)));
    EXPECT_GE(seconds.back(), 300);
    EXPECT_LE(seconds.back(), 600);
  }
  EXPECT_NE(*std::min_element(seconds.begin(), seconds.end()),
            *std::max_element(seconds.begin(), seconds.end()));
}

TEST_F(ReflectorTest, ReadsAListInPages) {
  server_.Expect({.pieces = {List("10", Pod("a", "5"), "next/page=")}});
  EXPECT_EQ(Step({.pieces = {List("10", Pod("b", "6"))}}), 0);
  EXPECT_THAT(server_.last_target(),
              AllOf(HasSubstr("continue=next%2Fpage%3D"), HasSubstr("limit=500"),
                    Not(HasSubstr("resourceVersion"))));
  EXPECT_THAT(Keys(), ElementsAre("shop/a Running", "shop/b Running"));
}

TEST_F(ReflectorTest, AnExpiredPageBeginsAgainWithoutPages) {
  server_.Expect({.pieces = {List("10", Pod("a", "5"), "t")}});
  Step({.status = 410, .pieces = {StatusObject(410, "Expired")}});
  EXPECT_THAT(Keys(), ElementsAre("nothing"));
  EXPECT_EQ(Step({.pieces = {List("20", Pod("b", "6"))}}), 0);
  EXPECT_THAT(server_.last_target(), AllOf(HasSubstr("limit=0"), Not(HasSubstr("resourceVersion")),
                                           Not(HasSubstr("continue"))));
  EXPECT_THAT(Keys(), ElementsAre("shop/b Running"));
}

TEST_F(ReflectorTest, PagesOfTwoVersionsAreNoSet) {
  server_.Expect({.pieces = {List("10", Pod("a", "5"), "t")}});
  Step({.pieces = {List("11", Pod("b", "6"))}});
  EXPECT_THAT(Keys(), ElementsAre("nothing"));
}

TEST_F(ReflectorTest, ACutListChangesNothing) {
  Sync();
  Step({.status = 410});
  const std::string list = List("30", Pod("b", "6"));
  EXPECT_GT(Step({.pieces = {list.substr(0, list.size() - 1)}}), 0);
  EXPECT_THAT(Keys(), ElementsAre("shop/a Running"));
  EXPECT_EQ(Health(), ReflectorHealth::kFailing);
}

TEST_F(ReflectorTest, TakesEventsWhateverTheyAreCalled) {
  Sync();
  Step(
      {.pieces = {Event("ADDED", Pod("a", "11", "Failed")) + Event("MODIFIED", Pod("b", "12")) +
                  Event("DELETED", Pod("a", "13", "Succeeded")) + Event("DELETED", Pod("c", "14"))},
       .lasts_ns = kMinuteNs});
  EXPECT_THAT(log_.Take(), ElementsAre("+shop/a Failed", "+shop/b Running", "-shop/a Succeeded"));
  EXPECT_THAT(Keys(), ElementsAre("shop/b Running"));
  Step({.lasts_ns = kMinuteNs});
  EXPECT_THAT(server_.last_target(), HasSubstr("&resourceVersion=14"));
}

TEST_F(ReflectorTest, EventsMayBeCutAnywhere) {
  Sync();
  std::vector<std::string> bytes;
  for (const char c : Event("ADDED", Pod("b", "11")) + Bookmark("12")) bytes.emplace_back(1, c);
  Step({.pieces = bytes, .lasts_ns = kMinuteNs});
  EXPECT_THAT(Keys(), ElementsAre("shop/a Running", "shop/b Running"));
}

TEST_F(ReflectorTest, TheSameNameWithANewUidIsAnotherPod) {
  Sync();
  Step(
      {.pieces = {Event("MODIFIED", Pod("a", "11", "Pending", "another"))}, .lasts_ns = kMinuteNs});
  EXPECT_THAT(log_.Take(), ElementsAre("-shop/a Running", "+shop/a Pending"));
}

TEST_F(ReflectorTest, BookmarksMoveTheVersionOnly) {
  Sync();
  Step({.pieces = {Bookmark("99")}, .lasts_ns = kMinuteNs});
  EXPECT_THAT(log_.Take(), IsEmpty());
  Step({.lasts_ns = kMinuteNs});
  EXPECT_THAT(server_.last_target(), HasSubstr("&resourceVersion=99"));
}

TEST_F(ReflectorTest, VersionsAreOpaque) {
  ASSERT_EQ(Step({.pieces = {List("z/9+", Pod("a", "x"))}}), 0);
  Step({.pieces = {Event("MODIFIED", Pod("a", "b"))}, .lasts_ns = kMinuteNs});
  EXPECT_THAT(server_.last_target(), HasSubstr("&resourceVersion=z%2F9%2B"));
  Step({.lasts_ns = kMinuteNs});
  EXPECT_THAT(server_.last_target(), HasSubstr("&resourceVersion=b"));
}

// Both forms of 410, and both reasons that servers give.
TEST_F(ReflectorTest, GoneInEitherFormListsAgainAndDeletesWhatVanished) {
  const std::vector<ScriptedReply> forms = {
      {.status = 410, .pieces = {StatusObject(410, "Gone")}, .lasts_ns = kMinuteNs},
      {.pieces = {Event("ERROR", StatusObject(410, "Expired"))}, .lasts_ns = kMinuteNs},
      {.pieces = {Event("ERROR", StatusObject(500, "Expired"))}, .lasts_ns = kMinuteNs},
      {.pieces = {Event("ERROR", StatusObject(500, "Gone"))}, .lasts_ns = kMinuteNs},
  };
  int version = 20;
  for (const ScriptedReply& form : forms) {
    ASSERT_EQ(Step({.pieces = {List("10", Pod("a", "5"))}}), 0);
    log_.Take();
    Step(form);
    EXPECT_THAT(Keys(), ElementsAre("shop/a Running")) << "until the new set is whole";
    ASSERT_EQ(Step({.pieces = {List(std::to_string(++version), Pod("b", "6"))}}), 0);
    EXPECT_THAT(server_.last_target(),
                AllOf(Not(HasSubstr("resourceVersion")), Not(HasSubstr("watch"))));
    EXPECT_THAT(log_.Take(), ElementsAre("-shop/a Running", "+shop/b Running"));
    Step({.status = 410, .lasts_ns = kMinuteNs});
  }
}

TEST_F(ReflectorTest, AVersionTooLargeListsAgainWithoutIt) {
  Sync();
  Step(
      {.status = 504,
       .pieces = {
           R"({"kind":"Status","code":504,"reason":"Timeout","message":"Too large resource version: 9",)"
           R"("details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}})"}});
  Step({.pieces = {List("3", Pod("a", "2"))}});
  EXPECT_THAT(server_.last_target(), Not(HasSubstr("resourceVersion")));
}

TEST_F(ReflectorTest, AConnectionThatBreaksResumesTheWatch) {
  Sync();
  const int64_t wait_ns = Step({.pieces = {Event("ADDED", Pod("b", "11"))},
                                .lasts_ns = kMinuteNs,
                                .error = Error(ErrorCode::kCorrupt, "cut")});
  EXPECT_GT(wait_ns, 0);
  EXPECT_EQ(Health(), ReflectorHealth::kFailing);
  Step({.pieces = {Bookmark("12")}, .lasts_ns = kMinuteNs});
  EXPECT_THAT(server_.last_target(), AllOf(HasSubstr("watch=1"), HasSubstr("&resourceVersion=11")));
  EXPECT_EQ(Health(), ReflectorHealth::kSynced);
  EXPECT_THAT(Keys(), ElementsAre("shop/a Running", "shop/b Running"));
}

TEST_F(ReflectorTest, AnEventCutInTheMiddleResumesBeforeIt) {
  Sync();
  EXPECT_GT(
      Step({.pieces = {Event("ADDED", Pod("b", "11")) + R"({"type":"DEL)"}, .lasts_ns = kMinuteNs}),
      0);
  Step({.lasts_ns = kMinuteNs});
  EXPECT_THAT(server_.last_target(), HasSubstr("&resourceVersion=11"));
}

TEST_F(ReflectorTest, AnEventThatIsNoneIsCountedAndListsAgain) {
  for (const std::string& event :
       {std::string("{\"type\":\"ADDED\"}"), Event("RENAMED", Pod("b", "11")),
        std::string("<html>"), std::string("{\"type\":\"ADDED\",\"object\":{\"metadata\":{}}}"),
        std::string("{\"a\" 1}")}) {
    Sync();
    metrics_.skipped.clear();
    EXPECT_GT(Step({.pieces = {event}, .lasts_ns = kMinuteNs}), 0) << event;
    EXPECT_THAT(metrics_.skipped, ElementsAre("not understood")) << event;
    EXPECT_THAT(metrics_.restarts.back(), "not understood relist") << event;
  }
}

TEST_F(ReflectorTest, ObjectsThatAreTooLongAreLeftOutAndCounted) {
  Sync();
  const std::string large = Event("ADDED", Pod("large", "11", std::string(9 << 20, 'x')));
  EXPECT_EQ(Step({.pieces = {large + Event("ADDED", Pod("b", "12"))}, .lasts_ns = kMinuteNs}), 0);
  EXPECT_THAT(Keys(), ElementsAre("shop/a Running", "shop/b Running"));
  EXPECT_THAT(metrics_.skipped, ElementsAre("event"));
}

TEST_F(ReflectorTest, AWatchThatEndsAtOnceBacksOff) {
  Sync();
  int64_t waited_ns = 0;
  for (int i = 0; i < 100; ++i) {
    const int64_t wait_ns = Step({});
    EXPECT_GE(wait_ns, 200 * kNsPerMs);
    EXPECT_LE(wait_ns, 30 * kNsPerSecond);
    waited_ns += wait_ns;
    clock_.Advance(wait_ns);
  }
  // Half of 30 s on average, once it has grown.
  EXPECT_GT(waited_ns, 100 * 10 * kNsPerSecond);
}

TEST_F(ReflectorTest, AWatchThatEndsAtOnceGoesOnSoonWhereItToldSomething) {
  Sync();
  for (int i = 0; i < 20; ++i) clock_.Advance(Step({.status = 503}));
  for (int i = 11; i < 60; ++i) {
    const int64_t wait_ns = Step({.pieces = {Event("ADDED", Pod("b", std::to_string(i)))}});
    EXPECT_GE(wait_ns, 200 * kNsPerMs) << "it does not spin";
    EXPECT_LE(wait_ns, 800 * kNsPerMs) << "though an outage was just before";
    clock_.Advance(wait_ns);
  }
}

TEST_F(ReflectorTest, AWatchThatExpiresAtOnceDoesNotSpin) {
  int64_t waited_ns = 0;
  for (int i = 0; i < 50; ++i) {
    waited_ns += Step({.pieces = {List("10", Pod("a", "5"))}});
    const int64_t wait_ns = Step({.status = 410});
    EXPECT_GT(wait_ns, 0);
    clock_.Advance(wait_ns);
    waited_ns += wait_ns;
  }
  EXPECT_GT(waited_ns, 50 * 5 * kNsPerSecond);
}

TEST_F(ReflectorTest, BackoffStartsOverAfterTwoHealthyMinutes) {
  Sync();
  for (int i = 0; i < 20; ++i) clock_.Advance(Step({.status = 503}));
  Step({.lasts_ns = 3 * kMinuteNs});
  for (int i = 0; i < 10; ++i) {
    EXPECT_LE(Step({.status = 503, .lasts_ns = 3 * kMinuteNs}), 800 * kNsPerMs);
  }
}

TEST_F(ReflectorTest, RefusalsForAWhileKeepTheSetAndTheVersion) {
  Sync();
  for (const int status : {401, 429, 500, 503}) {
    EXPECT_GT(Step({.status = status, .pieces = {StatusObject(status, "x")}}), 0);
    EXPECT_EQ(Health(), ReflectorHealth::kFailing);
    EXPECT_THAT(reflector_.state()->message, HasSubstr("so it is"));
    Step({.lasts_ns = kMinuteNs});
    EXPECT_THAT(server_.last_target(),
                AllOf(HasSubstr("watch=1"), HasSubstr("&resourceVersion=10")));
  }
  EXPECT_THAT(Keys(), ElementsAre("shop/a Running"));
}

TEST_F(ReflectorTest, RetryAfterIsHonoured) {
  Sync();
  const int64_t wait_ns = Step({.status = 429, .retry_after_ns = 17 * kNsPerSecond});
  EXPECT_GT(wait_ns, 17 * kNsPerSecond);
  EXPECT_LE(wait_ns, 18 * kNsPerSecond);
}

TEST_F(ReflectorTest, StartsWithoutAServerAndLosesNothingWhenItGoes) {
  int64_t longest_ns = 0;
  for (int i = 0; i < 200; ++i) {  // about an hour
    const int64_t wait_ns = reflector_.StepNs();
    EXPECT_GT(wait_ns, 0);
    longest_ns = std::max(longest_ns, wait_ns);
    clock_.Advance(wait_ns);
  }
  EXPECT_LE(longest_ns, 30 * kNsPerSecond);
  EXPECT_FALSE(reflector_.state()->has_synced);
  Sync();
  for (int i = 0; i < 200; ++i) clock_.Advance(reflector_.StepNs());
  EXPECT_THAT(Keys(), ElementsAre("shop/a Running"));
}

TEST_F(ReflectorTest, AMissingRightIsSaidAndTriedSlowly) {
  Sync();
  const auto refuse = [&] {
    return Step({.status = 403, .pieces = {StatusObject(403, "Forbidden")}});
  };
  // A server that has just started knows nobody's rights yet.
  for (int i = 0; i < 2; ++i) {
    const int64_t wait_ns = refuse();
    EXPECT_GE(wait_ns, kNsPerSecond);
    EXPECT_LE(wait_ns, 10 * kNsPerSecond);
    EXPECT_EQ(Health(), ReflectorHealth::kForbidden);
  }
  for (int i = 0; i < 3; ++i) {
    const int64_t wait_ns = refuse();
    EXPECT_GE(wait_ns, kMinuteNs);
    EXPECT_LE(wait_ns, 75 * kNsPerSecond);
    EXPECT_EQ(Health(), ReflectorHealth::kForbidden);
  }
  EXPECT_THAT(Keys(), ElementsAre("shop/a Running"));
  Sync();
  EXPECT_EQ(Health(), ReflectorHealth::kSynced);
  EXPECT_LE(refuse(), 10 * kNsPerSecond) << "it counts anew";
}

TEST_F(ReflectorTest, AResourceThatIsAbsentForAMinuteEmptiesTheSet) {
  Sync();
  const int64_t since_ns = clock_.MonotonicNs();
  int looks = 0;
  while (clock_.MonotonicNs() < since_ns + kMinuteNs) {
    const int64_t wait_ns = Step({.status = 404, .pieces = {"404 page not found\n"}});
    EXPECT_THAT(Keys(), ElementsAre("shop/a Running")) << "a server that starts says so too";
    EXPECT_EQ(Health(), ReflectorHealth::kAbsent);
    EXPECT_GE(wait_ns, 10 * kNsPerSecond) << "it does not spin";
    EXPECT_LE(wait_ns, 15 * kNsPerSecond) << "what is installed is found soon";
    clock_.Advance(wait_ns);
    ++looks;
  }
  EXPECT_LE(looks, 6);
  Step({.status = 404});
  EXPECT_THAT(Keys(), IsEmpty());
  EXPECT_THAT(log_.Take(), ElementsAre("-shop/a Running"));
  EXPECT_LE(Step({.status = 404}), 15 * kNsPerSecond) << "however long it is away";
  ASSERT_EQ(Step({.pieces = {List("2", Pod("a", "1"))}}), 0);
  EXPECT_EQ(Health(), ReflectorHealth::kSynced);
}

TEST_F(StreamingReflectorTest, AStreamingListIsSeenWholeOrNotAtAll) {
  Step({.pieces = {Event("ADDED", Pod("a", "9")), Event("ADDED", Pod("b", "3"))},
        .lasts_ns = 2 * kNsPerSecond});
  EXPECT_THAT(
      server_.last_target(),
      AllOf(HasSubstr("sendInitialEvents=true"), HasSubstr("resourceVersionMatch=NotOlderThan"),
            HasSubstr("allowWatchBookmarks=true"), Not(HasSubstr("resourceVersion=9"))));
  EXPECT_THAT(Keys(), ElementsAre("nothing"));
  Step({.pieces = {Event("ADDED", Pod("a", "9")), Event("ADDED", Pod("b", "3")),
                   Bookmark("12", true), Event("DELETED", Pod("b", "13"))},
        .lasts_ns = kMinuteNs});
  EXPECT_THAT(server_.last_target(), HasSubstr("sendInitialEvents=true"));
  EXPECT_THAT(Keys(), ElementsAre("shop/a Running"));
  EXPECT_THAT(log_.Take(), ElementsAre("+shop/a Running", "+shop/b Running", "-shop/b Running"));
  Step({.lasts_ns = kMinuteNs});
  EXPECT_THAT(server_.last_target(),
              AllOf(HasSubstr("&resourceVersion=13"), Not(HasSubstr("sendInitial"))));
}

TEST_F(StreamingReflectorTest, ItsEndIsTheVersionToResumeFrom) {
  Step({.pieces = {Event("ADDED", Pod("a", "40")), Bookmark("12", true)}, .lasts_ns = kMinuteNs});
  Step({.lasts_ns = kMinuteNs});
  EXPECT_THAT(server_.last_target(), HasSubstr("&resourceVersion=12"));
}

TEST_F(StreamingReflectorTest, ServersThatDoNotKnowItAreListed) {
  const std::vector<ScriptedReply> answers = {
      {.status = 400},
      {.status = 403},
      {.status = 422, .pieces = {StatusObject(422, "Invalid")}},
      {.pieces = {Event("ADDED", Pod("a", "9")), Bookmark("10")}},
      {.lasts_ns = 10 * kNsPerSecond, .error = Error(ErrorCode::kUnavailable, "no answer in time")},
  };
  for (const ScriptedReply& answer : answers) {
    Reflector reflector(server_, {"pods", "/api/v1/pods", "", "", {}}, store_, metrics_, clock_, 1);
    server_.Expect(answer);
    EXPECT_EQ(reflector.StepNs(), 0);
    server_.Expect({.pieces = {List("10", Pod("a", "5"))}});
    EXPECT_EQ(reflector.StepNs(), 0);
    EXPECT_THAT(server_.last_target(), AllOf(HasSubstr("limit=500"), Not(HasSubstr("watch"))));
    EXPECT_EQ(reflector.state()->health, ReflectorHealth::kSynced);
  }
}

TEST_F(StreamingReflectorTest, AServerThatIsAwayIsNotOneThatDoesNotKnow) {
  Step({.status = 0, .error = Error(ErrorCode::kUnavailable, "connection refused")});
  Step({.status = 503});
  Step({.pieces = {Bookmark("12", true)}, .lasts_ns = kMinuteNs});
  EXPECT_THAT(server_.targets(), ::testing::Each(HasSubstr("sendInitialEvents=true")));
  EXPECT_EQ(Health(), ReflectorHealth::kSynced);
}

TEST_F(StreamingReflectorTest, AnExpiredVersionStreamsAnewWithoutIt) {
  Step({.pieces = {Event("ADDED", Pod("a", "9")), Bookmark("12", true)}, .lasts_ns = kMinuteNs});
  Step({.pieces = {Event("ERROR", StatusObject(410, "Expired"))}, .lasts_ns = kMinuteNs});
  log_.Take();
  Step({.pieces = {Event("ADDED", Pod("b", "20")), Bookmark("30", true)}, .lasts_ns = kMinuteNs});
  EXPECT_THAT(server_.last_target(),
              AllOf(HasSubstr("sendInitialEvents"), Not(HasSubstr("resourceVersion=12"))));
  EXPECT_THAT(log_.Take(), ElementsAre("-shop/a Running", "+shop/b Running"));
}

TEST(ObjectStore, LeavesOutWhatIsBeyondItsCapAndKeepsWhatItCannotRead) {
  FieldSet all;
  all.Keep({});
  const auto node = [&](const std::string& json) { return *ParseObject(json, all); };
  ObjectStore<std::string> store(
      [](const Node& pod) -> Result<std::string> {
        std::string phase(TextAt(pod, {"status", "phase"}));
        if (phase == "bad") return Error(ErrorCode::kInvalid, "bad");
        return phase;
      },
      2);
  store.BeginSet();
  for (const char* name : {"a", "b", "c"}) store.AddToSet(node(Pod(name, "1")));
  store.CommitSet();
  EXPECT_EQ(store.Get()->size(), 2u);
  EXPECT_EQ(store.left_out(), 1u);
  const auto before = store.Get();
  store.Upsert(node(Pod("a", "2", "bad")));
  store.Flush();
  EXPECT_EQ(*store.Get()->at("shop/a").value, "Running");
  store.BeginSet();
  store.AddToSet(node(Pod("a", "3", "bad")));
  store.CommitSet();
  EXPECT_EQ(*store.Get()->at("shop/a").value, "Running");
  EXPECT_EQ(before->size(), 2u) << "a snapshot never changes";
}

}  // namespace
}  // namespace firetower::k8s
