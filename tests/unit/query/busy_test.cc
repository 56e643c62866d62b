// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <latch>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "query/api.h"
#include "tests/support/memory_store.h"
#include "tests/unit/net/server/raw_client.h"
#include "tests/unit/query/fixture.h"

namespace firetower::query {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Far longer than an answer takes, and far shorter than any time-out here.
constexpr auto kSoon = std::chrono::seconds(20);

// A bucket that accepts requests and answers none until the test releases it.
class HangingStore : public firetower::testing::MemoryStore {
 public:
  Result<std::vector<store::ObjectInfo>> List(std::string_view prefix, std::string_view after,
                                              size_t limit) const override {
    Hang();
    return MemoryStore::List(prefix, after, limit);
  }
  Result<std::vector<std::string>> ListFolders(std::string_view prefix) const override {
    Hang();
    return MemoryStore::ListFolders(prefix);
  }
  void Answer() { answers_.count_down(); }
  // Waits for that number of hanging calls.
  bool AreAsked(int calls) const {
    for (int i = 0; i < calls; ++i) {
      if (!asked_.try_acquire_for(kSoon)) return false;
    }
    return true;
  }

 private:
  void Hang() const {
    asked_.release();
    answers_.wait();
  }
  mutable std::counting_semaphore<> asked_{0};
  mutable std::latch answers_{1};
};

const std::string kQuestion = "GET /api/v1/types HTTP/1.1\r\n";
// A request as Grafana's data source sends it.
const std::string kCall =
    "POST /querier.v1.QuerierService/LabelNames HTTP/1.1\r\nContent-Type: application/json\r\n"
    "Content-Length: 2\r\n";

// Many at once, each on a connection and a thread of its own.
class Askers {
 public:
  Askers(const std::string& url, int count, const std::string& head = kQuestion) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this, url, head] {
        net::RawClient client(url);
        client.Send(head + "Host: x\r\nConnection: close\r\n\r\n" +
                    (head.starts_with("POST") ? "{}" : ""));
        std::string answer = client.Receive(120'000);
        const std::lock_guard lock(mutex_);
        answers_.push_back(std::move(answer));
        answered_.release();
      });
    }
  }
  // The next `count` answers to come.
  bool Answered(int count) {
    for (int i = 0; i < count; ++i) {
      if (!answered_.try_acquire_for(kSoon)) return false;
    }
    return true;
  }
  std::vector<std::string> answers() {
    const std::lock_guard lock(mutex_);
    return answers_;
  }

 private:
  std::mutex mutex_;  // the threads and the test meet here
  std::vector<std::string> answers_;
  std::counting_semaphore<> answered_{0};
  std::vector<std::jthread> threads_;  // last: they use what is above
};

// Without an answer Fetch gives up after three seconds.
bool IsAnswered(const std::string& url, const char* path, const char* body) {
  const std::string response = net::Fetch(url, path);
  return response.starts_with("HTTP/1.1 200") && response.find(body) != std::string::npos;
}

// Eight threads, of which two run questions and four have one waiting.
TEST(Busy, ProbesAndMetricsAreAnsweredWhileTheStoreHangs) {
  HangingStore store;
  Fixture fixture({}, &store);
  const std::string url = fixture.Serve();
  constexpr int kQuestions = 20;
  constexpr int kHeld = 6;
  Askers askers(url, kQuestions);

  ASSERT_TRUE(store.AreAsked(2));
  ASSERT_TRUE(askers.Answered(kQuestions - kHeld)) << "who has no room is told so at once";
  for (const std::string& answer : askers.answers()) {
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 503"));
    EXPECT_THAT(answer, HasSubstr("Retry-After: 2\r\n"));
    EXPECT_THAT(answer, HasSubstr("retry in"));
  }
  EXPECT_TRUE(IsAnswered(url, "/livez", "ok"));
  EXPECT_TRUE(IsAnswered(url, "/readyz", "ok"));
  EXPECT_TRUE(IsAnswered(url, "/metrics", "# accept"));
  EXPECT_TRUE(IsAnswered(url, "/", "/api/v1/flame"));

  store.Answer();
  ASSERT_TRUE(askers.Answered(kHeld));
  for (const std::string& answer : askers.answers()) {
    EXPECT_THAT(answer, ::testing::AnyOf(StartsWith("HTTP/1.1 200"), StartsWith("HTTP/1.1 503")));
  }
  EXPECT_TRUE(IsAnswered(url, "/api/v1/types", "cpu"));
}

TEST(Busy, CallsOfADataSourceWaitForTheirTurnToo) {
  HangingStore store;
  Fixture fixture({}, &store);
  const std::string url = fixture.Serve();
  constexpr int kCalls = 9;
  constexpr int kHeld = 6;
  Askers askers(url, kCalls, kCall);
  ASSERT_TRUE(store.AreAsked(2));
  ASSERT_TRUE(askers.Answered(kCalls - kHeld));
  for (const std::string& answer : askers.answers()) {
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 503"));
    EXPECT_THAT(answer, HasSubstr("\"code\":\"unavailable\""));
  }
  EXPECT_TRUE(IsAnswered(url, "/readyz", "ok"));
  store.Answer();
  ASSERT_TRUE(askers.Answered(kHeld));
}

TEST(Busy, WhoWaitedForTooLongIsTold) {
  HangingStore store;
  net::AdmissionOptions admission;
  admission.running = 1;
  admission.waiting = 1;
  admission.longest_wait_ns = kNsPerMs;
  Fixture fixture({}, &store, admission);
  const std::string url = fixture.Serve();
  Askers first(url, 1);
  ASSERT_TRUE(store.AreAsked(1));
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(net::Fetch(url, "/api/v1/types"), HasSubstr("Retry-After: 2\r\n"));
  }
  store.Answer();
  ASSERT_TRUE(first.Answered(1));
  EXPECT_THAT(first.answers().at(0), StartsWith("HTTP/1.1 200"));
}

// Knows Jane, and asks a hanging server about all other callers with a token.
class HangingAuthorizer : public AllowAll {
 public:
  Result<bool> Recall(const net::HttpRequest& request) const override {
    if (request.authorization.empty()) return Error(ErrorCode::kPermission, "no token");
    return request.authorization == "Bearer jane";
  }
  Status Identify(const net::HttpRequest& request) const override {
    if (request.authorization == "Bearer jane") return OkStatus();
    asked_.release();
    answers_.wait();
    return Error(ErrorCode::kPermission, "nobody's token");
  }
  bool IsAsked() const { return asked_.try_acquire_for(kSoon); }
  bool IsAskedMore() const { return asked_.try_acquire(); }
  void Answer() { answers_.count_down(); }

 private:
  mutable std::counting_semaphore<> asked_{0};
  mutable std::latch answers_{1};
};

TEST(Busy, WhoIsNotKnownTakesNoPlaceOfWhoIs) {
  HangingAuthorizer authorizer;
  Fixture fixture({}, nullptr, {.running = 1, .waiting = 1, .strangers = 3}, &authorizer);
  const std::string url = fixture.Serve();
  const std::string stranger = kQuestion + "Authorization: Bearer 0\r\n";
  constexpr int kStrangers = 10;
  constexpr int kHeld = 3;
  Askers strangers(url, kStrangers, stranger);
  ASSERT_TRUE(authorizer.IsAsked());
  ASSERT_TRUE(strangers.Answered(kStrangers - kHeld));
  for (const std::string& answer : strangers.answers()) {
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 503"));
    EXPECT_THAT(answer, HasSubstr("Retry-After: 2\r\n"));
  }
  EXPECT_FALSE(authorizer.IsAskedMore()) << "one at a time";

  Askers jane(url, 1, kQuestion + "Authorization: Bearer jane\r\n");
  ASSERT_TRUE(jane.Answered(1));
  EXPECT_THAT(jane.answers().at(0), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(net::Fetch(url, "/api/v1/types"), StartsWith("HTTP/1.1 401")) << "without a token";
  EXPECT_TRUE(IsAnswered(url, "/readyz", "ok"));

  authorizer.Answer();
  ASSERT_TRUE(strangers.Answered(kHeld));
  EXPECT_THAT(strangers.answers().back(), StartsWith("HTTP/1.1 401"));
}

// The store hangs as it does for known callers; an unknown caller does not wait for it.
TEST(Busy, WhoHasNoTokenIsToldSoAtOnce) {
  HangingStore store;
  HangingAuthorizer authorizer;
  Fixture fixture({}, &store, {.running = 1, .waiting = 0, .strangers = 1}, &authorizer);
  const std::string url = fixture.Serve();
  Askers jane(url, 1, kQuestion + "Authorization: Bearer jane\r\n");
  ASSERT_TRUE(store.AreAsked(1));
  EXPECT_THAT(net::Fetch(url, "/api/v1/types"), StartsWith("HTTP/1.1 401"));
  store.Answer();
  ASSERT_TRUE(jane.Answered(1));
}

}  // namespace
}  // namespace firetower::query
