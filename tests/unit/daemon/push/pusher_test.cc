// SPDX-License-Identifier: Apache-2.0
#include "daemon/push/pusher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "base/file.h"
#include "profile/pprof.h"
#include "tests/support/http/fake_http_client.h"
#include "tests/support/push/proto_message.h"
#include "tests/support/stored_profiles.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::BundleOf;
using ::firetower::testing::kFirstWindow;
using ::firetower::testing::ProtoMessage;
using ::firetower::testing::Row;
using net::ClientRequest;
using net::HttpResponse;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

// A Pyroscope server: what it is sent, and what it answers to each request.
class Server {
 public:
  struct Seen {
    std::vector<std::string> pods;  // of the request's series
    std::string authorization;
    std::string body;
  };
  using Reply = std::function<Result<HttpResponse>(const Seen& seen, const store::CallLimits&)>;

  // Replies come in turn, the last for all that follow.
  explicit Server(std::vector<Reply> replies) : replies_(std::move(replies)) {}

  Result<HttpResponse> Answer(const ClientRequest& request, const store::CallLimits& limits) {
    const Reply* reply = nullptr;
    Seen seen = Read(request);
    {
      std::lock_guard lock(mutex_);
      reply = &replies_[std::min(seen_.size(), replies_.size() - 1)];
      seen_.push_back(seen);
      changed_.notify_all();
    }
    return (*reply)(seen, limits);
  }
  void WaitFor(size_t requests) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return seen_.size() >= requests; });
  }
  std::vector<Seen> seen() {
    std::lock_guard lock(mutex_);
    return seen_;
  }
  // Returns the pods of each request.
  std::vector<std::vector<std::string>> pods() {
    std::vector<std::vector<std::string>> all;
    for (const Seen& one : seen()) all.push_back(one.pods);
    return all;
  }

 private:
  static Seen Read(const ClientRequest& request) {
    Seen seen{.pods = {}, .authorization = {}, .body = testing::TextOf(request.body)};
    for (const ProtoMessage& series : ProtoMessage(seen.body).Messages(1)) {
      for (const ProtoMessage& label : series.Messages(1)) {
        if (label.Text(1) == "pod") seen.pods.push_back(label.Text(2));
      }
    }
    for (const net::NamedValue& header : request.headers) {
      if (header.first == "Authorization") seen.authorization = header.second;
    }
    return seen;
  }

  const std::vector<Reply> replies_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Seen> seen_;
};

std::unique_ptr<net::HttpClient> ToServer(Server& server) {
  return std::make_unique<testing::FakeHttpClient>(
      [&server](const ClientRequest& request, const CallLimits& limits) {
        return server.Answer(request, limits);
      });
}

Server::Reply Answers(int status, const std::string& retry_after = "") {
  return [=](const Server::Seen&, const store::CallLimits&) {
    HttpResponse response{.status = status, .headers = {{"content-type", "application/proto"}}};
    if (!retry_after.empty()) response.headers.push_back({"retry-after", retry_after});
    return Result<HttpResponse>(std::move(response));
  };
}
Server::Reply Fails() {
  return [](const Server::Seen&, const store::CallLimits&) {
    return Result<HttpResponse>(Error(ErrorCode::kUnavailable, "connection refused"));
  };
}
// 400 to whatever holds the profile of that pod.
Server::Reply RefusesPod(const std::string& pod) {
  return [=](const Server::Seen& seen, const store::CallLimits& limits) {
    const bool holds = std::ranges::find(seen.pods, pod) != seen.pods.end();
    return Answers(holds ? 400 : 200)(seen, limits);
  };
}

// Remembers how long it was to wait, and does not.
class NoPause : public store::s3::Pause {
 public:
  void For(int64_t ns, const store::CallLimits&) override {
    waits_ns.push_back(ns);
    on_pause();
  }
  std::vector<int64_t> waits_ns;           // to be read when the pusher has ended
  std::function<void()> on_pause = [] {};  // on its thread
};

// Pyroscope's requests, to a server whose answers reject so many of what they take, as OTLP's can.
class Rejecting : public PushProtocol {
 public:
  explicit Rejecting(uint64_t rejected) : rejected_(rejected) {}
  Status Add(const store::CatalogRow& row, std::string_view pprof) override {
    return requests_->Add(row, pprof);
  }
  size_t bytes() const override { return requests_->bytes(); }
  std::string TakeBody() override { return requests_->TakeBody(); }
  const net::NamedValues& headers() const override { return requests_->headers(); }
  PushAnswer Judge(const HttpResponse&, int, int64_t) const override {
    return {.rejected = rejected_, .reason = "no room"};
  }

 private:
  const std::unique_ptr<PushProtocol> requests_ = NewPyroscopeProtocol("prod");
  const uint64_t rejected_;
};

class PusherTest : public ::testing::Test {
 protected:
  // Pushes a window of two profiles, of which the server rejects so many; what was logged.
  std::string LoggedOfRejected(uint64_t rejected) {
    Server server({Answers(200)});
    ::testing::internal::CaptureStderr();
    {
      Pusher pusher(target_, std::make_unique<Rejecting>(rejected), ToServer(server), registry_,
                    Clock::System(), pause_, options_);
      pusher.Start();
      pusher.Offer(Window({"a", "b"}));
      End(pusher);
    }
    return ::testing::internal::GetCapturedStderr();
  }
  std::unique_ptr<Pusher> To(Server& server) {
    auto pusher = std::make_unique<Pusher>(target_, NewPyroscopeProtocol("prod"), ToServer(server),
                                           registry_, Clock::System(), pause_, options_);
    pusher->Start();
    return pusher;
  }
  static std::shared_ptr<const std::string> Window(const std::vector<std::string>& pods) {
    std::vector<store::CatalogRow> rows;
    for (const std::string& pod : pods) rows.push_back(Row("shop", pod, "web", kFirstWindow));
    return std::make_shared<const std::string>(BundleOf(rows));
  }
  static void End(Pusher& pusher, int64_t seconds = 60) {
    pusher.RequestStop();
    pusher.Finish(Clock::System().MonotonicNs() + seconds * kNsPerSecond);
  }
  // "profiles_total", "sent": the counter of this server.
  double Counter(const std::string& family, const std::string& result) const {
    const std::string text = registry_.Render(ExpositionFormat::kText);
    const std::string series = "\nfiretower_push_" + family + "{server=\"" + target_.name +
                               "\",result=\"" + result + "\"} ";
    const size_t at = text.find(series);
    EXPECT_NE(at, std::string::npos) << series;
    return at == std::string::npos ? -1 : std::stod(text.substr(at + series.size()));
  }
  std::vector<double> Profiles() const {
    return {Counter("profiles_total", "sent"), Counter("profiles_total", "dropped"),
            Counter("profiles_total", "refused")};
  }
  std::vector<double> Requests() const {
    return {Counter("requests_total", "ok"), Counter("requests_total", "failed"),
            Counter("requests_total", "refused")};
  }

  PushTarget target_{.name = "pyroscope+http://there"};
  PusherOptions options_;
  MetricsRegistry registry_;
  NoPause pause_;
  testing::ScratchFolder folder_;
};

TEST_F(PusherTest, SendsAWindowInOneRequestAndTheNextOneAfterIt) {
  Server server({Answers(200)});
  const auto pusher = To(server);
  pusher->Offer(Window({"a", "b"}));
  server.WaitFor(1);
  pusher->Offer(Window({"c"}));
  End(*pusher);
  EXPECT_THAT(server.pods(), ElementsAre(ElementsAre("a", "b"), ElementsAre("c")));
  EXPECT_THAT(Profiles(), ElementsAre(3, 0, 0));
  EXPECT_THAT(Requests(), ElementsAre(2, 0, 0));
}

TEST_F(PusherTest, DividesALargeWindow) {
  options_.request_bytes = 1;
  Server server({Answers(200)});
  const auto pusher = To(server);
  pusher->Offer(Window({"a", "b", "c"}));
  End(*pusher);
  EXPECT_THAT(server.pods(), ElementsAre(ElementsAre("a"), ElementsAre("b"), ElementsAre("c")));
  EXPECT_THAT(Profiles(), ElementsAre(3, 0, 0));
}

TEST_F(PusherTest, TriesTheSameAgainUntilItIsTaken) {
  Server server({Answers(503), Fails(), Answers(429), Answers(200)});
  const auto pusher = To(server);
  pusher->Offer(Window({"a", "b"}));
  server.WaitFor(4);
  End(*pusher);
  const std::vector<Server::Seen> seen = server.seen();
  ASSERT_THAT(seen, SizeIs(4));
  for (const Server::Seen& one : seen) EXPECT_EQ(one.body, seen[0].body);
  EXPECT_THAT(Profiles(), ElementsAre(2, 0, 0));
  EXPECT_THAT(Requests(), ElementsAre(1, 3, 0));
}

TEST_F(PusherTest, WaitsLongerEachTimeUpToABoundAndAsLongAsItIsAsked) {
  options_.first_retry_ns = 4 * kNsPerSecond;
  options_.last_retry_ns = 10 * kNsPerSecond;
  Server server({Answers(503), Answers(503), Answers(503), Answers(503, "30"), Answers(200)});
  const auto pusher = To(server);
  pusher->Offer(Window({"a"}));
  server.WaitFor(5);
  End(*pusher);
  // The first is the spread, of 0 here.
  ASSERT_THAT(pause_.waits_ns, SizeIs(5));
  const int64_t most_seconds[] = {4, 8, 10};
  for (size_t i = 0; i < std::size(most_seconds); ++i) {
    EXPECT_GT(pause_.waits_ns[i + 1], 0) << i;
    EXPECT_LE(pause_.waits_ns[i + 1], most_seconds[i] * kNsPerSecond) << i;
  }
  EXPECT_EQ(pause_.waits_ns[4], 30 * kNsPerSecond);
}

TEST_F(PusherTest, SpreadsTheFirstRequestOfAWindow) {
  options_.spread_ns = 10 * kNsPerSecond;
  Server server({Answers(200)});
  const auto pusher = To(server);
  pusher->Offer(Window({"a"}));
  server.WaitFor(1);
  End(*pusher);
  ASSERT_THAT(pause_.waits_ns, SizeIs(1));
  EXPECT_GE(pause_.waits_ns[0], 0);
  EXPECT_LE(pause_.waits_ns[0], 10 * kNsPerSecond);
}

// So one bad profile costs no other.
TEST_F(PusherTest, WhenARequestIsRefusedForWhatItHoldsEachOfItsProfilesGoesAlone) {
  Server server({RefusesPod("b")});
  const auto pusher = To(server);
  pusher->Offer(Window({"a", "b", "c"}));
  server.WaitFor(4);
  pusher->Offer(Window({"d", "e"}));
  End(*pusher);
  EXPECT_THAT(server.pods(),
              ElementsAre(ElementsAre("a", "b", "c"), ElementsAre("a"), ElementsAre("b"),
                          ElementsAre("c"), ElementsAre("d", "e")));
  EXPECT_THAT(Profiles(), ElementsAre(4, 0, 1));
  EXPECT_THAT(Requests(), ElementsAre(3, 0, 2));
}

TEST_F(PusherTest, WhatIsRefusedForOtherReasonsIsNotTriedAgain) {
  Server server({Answers(401), Answers(200)});
  const auto pusher = To(server);
  pusher->Offer(Window({"a", "b"}));
  server.WaitFor(1);
  pusher->Offer(Window({"c"}));
  End(*pusher);
  EXPECT_THAT(server.pods(), ElementsAre(ElementsAre("a", "b"), ElementsAre("c")));
  EXPECT_THAT(Profiles(), ElementsAre(1, 0, 2));
}

TEST_F(PusherTest, ARequestOfWhichAllIsRejectedIsARefusedOne) {
  const std::string log = LoggedOfRejected(2);
  EXPECT_THAT(Profiles(), ElementsAre(0, 0, 2));
  EXPECT_THAT(Requests(), ElementsAre(0, 0, 1));
  EXPECT_THAT(log, HasSubstr("profiles refused"));
  EXPECT_THAT(log, HasSubstr("no room"));
  EXPECT_THAT(log, Not(HasSubstr("pushed")));
}

TEST_F(PusherTest, WhatIsRejectedOfARequestIsRefusedAndTheRestSent) {
  const std::string log = LoggedOfRejected(1);
  EXPECT_THAT(Profiles(), ElementsAre(1, 0, 1));
  EXPECT_THAT(Requests(), ElementsAre(1, 0, 0));
  EXPECT_THAT(log, HasSubstr("profiles refused"));
  EXPECT_THAT(log, HasSubstr("profiles=1"));
}

TEST_F(PusherTest, LeavesOutAProfileThatCannotBeReadOnce) {
  store::BundleWriter writer(kFirstWindow * kNsPerSecond);
  const store::CatalogRow bad = Row("shop", "bad", "web", kFirstWindow);
  const store::CatalogRow good = Row("shop", "good", "web", kFirstWindow);
  ASSERT_TRUE(writer.Add(bad, "no profile"));
  ASSERT_TRUE(writer.Add(good, profile::EncodePprof(testing::ProfileOf(good))));
  Server server({Answers(503), Answers(200)});
  const auto pusher = To(server);
  pusher->Offer(std::make_shared<const std::string>(*std::move(writer).Finish()));
  server.WaitFor(2);
  End(*pusher);
  EXPECT_THAT(server.pods(), Each(ElementsAre("good")));
  EXPECT_THAT(Profiles(), ElementsAre(1, 1, 0));
}

// Whoever offers never waits; what is being sent is not what goes.
TEST_F(PusherTest, DropsTheOldestWindowsBeyondItsBound) {
  const size_t each = Window({"a"})->size();
  options_.max_queue_bytes = 3 * each;
  std::mutex hanging;
  hanging.lock();
  Server server({[&](const Server::Seen& seen, const store::CallLimits& limits) {
                   std::lock_guard wait(hanging);
                   return Answers(200)(seen, limits);
                 },
                 Answers(200)});
  const auto pusher = To(server);
  pusher->Offer(Window({"a"}));
  server.WaitFor(1);
  for (const char* pod : {"b", "c", "d", "e"}) pusher->Offer(Window({pod}));
  EXPECT_THAT(Profiles(), ElementsAre(0, 2, 0));
  EXPECT_THAT(registry_.Render(ExpositionFormat::kText),
              HasSubstr("\nfiretower_push_queue_bytes{server=\"pyroscope+http://there\"} " +
                        std::to_string(3 * each) + "\n"));
  hanging.unlock();
  End(*pusher);
  EXPECT_THAT(server.pods(), ElementsAre(ElementsAre("a"), ElementsAre("d"), ElementsAre("e")));
  EXPECT_THAT(Profiles(), ElementsAre(3, 2, 0));
}

// A server that is away keeps no old window alive while newer ones go.
TEST_F(PusherTest, WhatWaitsForItsNextTryIsTheOldest) {
  options_.max_queue_bytes = Window({"a"})->size();
  Server server({Fails(), Answers(200)});
  std::unique_ptr<Pusher> pusher;
  pause_.on_pause = [&] {
    // The first pause is the spread.
    if (pause_.waits_ns.size() == 2) pusher->Offer(Window({"b"}));
  };
  pusher = To(server);
  pusher->Offer(Window({"a"}));
  server.WaitFor(2);
  End(*pusher);
  EXPECT_THAT(server.pods(), ElementsAre(ElementsAre("a"), ElementsAre("b")));
  EXPECT_THAT(Profiles(), ElementsAre(1, 1, 0));
}

TEST_F(PusherTest, AtItsEndTriesOnceMoreAndDropsWhatIsNotTaken) {
  Server server({Fails()});
  const auto pusher = To(server);
  pusher->Offer(Window({"a", "b"}));
  server.WaitFor(1);
  End(*pusher);
  EXPECT_THAT(Profiles(), ElementsAre(0, 2, 0));
  EXPECT_THAT(server.pods(), SizeIs(Ge(1u)));
}

TEST_F(PusherTest, AtItsEndBreaksOffWhatHangs) {
  Server server({[](const Server::Seen&, const store::CallLimits& limits) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any().wait(lock, limits.stop, [] { return false; });
    return Result<HttpResponse>(Error(ErrorCode::kUnavailable, "cancelled"));
  }});
  const auto pusher = To(server);
  pusher->Offer(Window({"a"}));
  server.WaitFor(1);
  End(*pusher, /*seconds=*/0);
  EXPECT_THAT(Profiles(), ElementsAre(0, 1, 0));
}

TEST_F(PusherTest, ReadsItsTokenForEachRequest) {
  target_.token_file = folder_.path() + "/token";
  ASSERT_TRUE(WriteFileAtomic(target_.token_file, "old\n"));
  Server server({[&](const Server::Seen& seen, const store::CallLimits& limits) {
                   EXPECT_TRUE(WriteFileAtomic(target_.token_file, "new\n"));
                   return Answers(503)(seen, limits);
                 },
                 Answers(200)});
  const auto pusher = To(server);
  pusher->Offer(Window({"a"}));
  server.WaitFor(2);
  End(*pusher);
  EXPECT_EQ(server.seen()[0].authorization, "Bearer old");
  EXPECT_EQ(server.seen()[1].authorization, "Bearer new");
}

TEST_F(PusherTest, WithoutItsTokenNothingIsSent) {
  target_.token_file = folder_.path() + "/none";
  Server server({Answers(200)});
  const auto pusher = To(server);
  pusher->Offer(Window({"a"}));
  End(*pusher);
  EXPECT_THAT(server.seen(), SizeIs(0));
  EXPECT_THAT(Profiles(), ElementsAre(0, 1, 0));
}

}  // namespace
}  // namespace firetower::daemon
