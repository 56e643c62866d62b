// SPDX-License-Identifier: Apache-2.0
// The store against a server on the loopback that misbehaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "net/client/curl_client.h"
#include "store/access/file_source.h"
#include "store/s3/s3_store.h"
#include "tests/support/command.h"
#include "tests/support/k8s/fake_http_server.h"
#include "tests/support/s3/scripted_client.h"

namespace firetower::store::s3 {
namespace {

using ::firetower::k8s::FakeHttpServer;
using ::firetower::k8s::FakePeer;
using ::firetower::testing::ErrorXml;
using ::firetower::testing::ScratchFolder;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

using Reply = std::function<bool(FakePeer&, const std::string& request)>;

// Answers one request after the other, the last way for all that follow.
class FaultServer {
 public:
  explicit FaultServer(std::vector<Reply> replies, FakeHttpServer::Options options = {})
      : replies_(std::move(replies)),
        server_(options, [this](FakePeer& peer, const std::string& request) {
          const Reply* reply = nullptr;
          {
            const std::lock_guard lock(mutex_);
            reply = &replies_[std::min(requests_.size(), replies_.size() - 1)];
            requests_.push_back(request);
          }
          arrived_.release();
          return (*reply)(peer, request);
        }) {}

  std::vector<std::string> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  void AwaitRequest() { arrived_.acquire(); }
  std::string endpoint(const char* scheme = "http") const {
    return std::string(scheme) + "://127.0.0.1:" + std::to_string(server_.port());
  }
  int connections() const { return server_.connections(); }

 private:
  const std::vector<Reply> replies_;
  std::mutex mutex_;
  std::vector<std::string> requests_;
  std::counting_semaphore<> arrived_{0};
  FakeHttpServer server_;
};

Reply Answer(std::string status, std::string body = "", std::string headers = "") {
  return [=](FakePeer& peer, const std::string&) { return peer.Reply(status, body, headers); };
}
Reply CloseAfter(Reply reply) {
  return [=](FakePeer& peer, const std::string& request) {
    reply(peer, request);
    return false;
  };
}
Reply Reset() {
  return [](FakePeer& peer, const std::string&) {
    peer.ResetOnClose();
    return false;
  };
}
// One byte a second of a body of a thousand, until the client has had enough.
Reply Drip() {
  return [](FakePeer& peer, const std::string&) {
    peer.Write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
    while (!peer.AwaitCloseFor(1000) && peer.Write("x")) {
    }
    return false;
  };
}
Reply Silence() {
  return [](FakePeer& peer, const std::string&) {
    peer.AwaitClose();
    return false;
  };
}

std::unique_ptr<S3Store> Open(const std::string& url) {
  const Environment environment = [](const char* name) -> std::string {
    if (std::string_view(name) == "AWS_ACCESS_KEY_ID") return "AKID";
    if (std::string_view(name) == "AWS_SECRET_ACCESS_KEY") return "SECRET";
    return "";
  };
  auto store = S3Store::Open(url, environment);
  EXPECT_TRUE(store) << store.error().message();
  return store ? *std::move(store) : nullptr;
}
std::unique_ptr<S3Store> Open(const FaultServer& server, const std::string& options = "") {
  return Open("s3://bucket?proxy=none&endpoint=" + server.endpoint() + options);
}

double Seconds(const std::function<void()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(S3Faults, SendsNothingThatAFrontEndRewrites) {
  FaultServer server({Answer("200 OK")});
  ASSERT_TRUE(Open(server)->Put("a", "hello"));
  const std::string request = server.requests().at(0);
  EXPECT_THAT(request, StartsWith("PUT /bucket/a HTTP/1.1\r\n"));
  EXPECT_THAT(request, AllOf(HasSubstr("Content-Length: 5\r\n"), HasSubstr("\r\n\r\nhello"),
                             Not(ContainsRegex("[Ee]xpect")), Not(ContainsRegex("[Cc]hunked")),
                             Not(ContainsRegex("[Aa]ccept-[Ee]ncoding"))));
}

TEST(S3Faults, KeepsItsConnection) {
  FaultServer server({Answer("200 OK", "hello")});
  const auto store = Open(server);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(*store->Get("a"), "hello");
  EXPECT_EQ(server.connections(), 1);
}

TEST(S3Faults, SendsABodyAgainWhenAKeptConnectionIsGone) {
  FaultServer server({CloseAfter(Answer("200 OK")), Answer("200 OK")});
  const auto store = Open(server);
  ASSERT_TRUE(store->Put("a", "first"));
  ScratchFolder folder;
  const std::string path = folder.path() + "/f";
  std::string large(3 << 20, '\0');
  for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 2654435761u >> 13);
  std::ofstream(path, std::ios::binary) << large;
  ASSERT_TRUE(store->PutFrom("b", *FileSource::Open(path)));
  EXPECT_EQ(server.connections(), 2);
  const std::string request = server.requests().back();
  EXPECT_TRUE(request.substr(request.find("\r\n\r\n") + 4) == large);
}

// Reads to its end once, for the digest.
class ShrinkingSource : public ObjectSource {
 public:
  uint64_t size() const override { return 3 << 20; }
  Status ReadAt(uint64_t, std::span<std::byte> out) const override {
    read_ += out.size();
    if (read_ > size() + (1 << 20)) return Error(ErrorCode::kCorrupt, "f: became shorter");
    std::ranges::fill(out, std::byte{'x'});
    return OkStatus();
  }

 private:
  mutable uint64_t read_ = 0;
};

TEST(S3Faults, AFileThatCannotBeReadAnyMoreIsToldAndNotTriedAgain) {
  FaultServer server({Answer("200 OK")});
  const auto store = Open(server);
  const Status put = store->PutFrom("a", ShrinkingSource());
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code(), ErrorCode::kCorrupt);
  EXPECT_THAT(put.error().message(),
              AllOf(HasSubstr("s3://bucket/a"), HasSubstr("f: became shorter")));
  EXPECT_EQ(store->counts().requests, 1u);
  EXPECT_THAT(server.requests(), SizeIs(0));  // none that is whole
}

TEST(S3Faults, ComesBackAfter503) {
  FaultServer server(
      {Answer("503 Slow Down", ErrorXml("SlowDown"), "Retry-After: 1\r\n"), Answer("200 OK")});
  const auto store = Open(server);
  EXPECT_GE(Seconds([&] { EXPECT_TRUE(store->Put("a", "x")); }), 1.0);
  EXPECT_EQ(store->counts().retries, 1u);
}

TEST(S3Faults, ComesBackAfterAReset) {
  FaultServer server({Reset(), Answer("200 OK", "hello")});
  EXPECT_EQ(*Open(server)->Get("a"), "hello");
}

TEST(S3Faults, ComesBackAfterABodyThatWasCutOff) {
  FaultServer server({[](FakePeer& peer, const std::string&) {
                        peer.Write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel");
                        return false;
                      },
                      Answer("200 OK", "hello")});
  EXPECT_EQ(*Open(server)->Get("a"), "hello");
}

TEST(S3Faults, EndsWhenAServerDripsBytes) {
  FaultServer server({Drip()});
  const auto store = Open(server, "&stall-timeout=1s&timeout=5s");
  Result<std::string> got = Error(ErrorCode::kInternal, "");
  EXPECT_LT(Seconds([&] { got = store->Get("a", 2000); }), 12.0);
  EXPECT_EQ(got.error().code(), ErrorCode::kUnavailable);
  EXPECT_GE(store->counts().requests, 2u);  // it was the stall that ended the first, not the time
}

TEST(S3Faults, EndsAtOnceWhenStopped) {
  FaultServer server({Silence()});
  const auto store = Open(server);
  std::stop_source stop;
  const auto limited = store->Limited({.stop = stop.get_token()});
  std::jthread stopper([&] {
    server.AwaitRequest();
    stop.request_stop();
  });
  Result<std::string> got = Error(ErrorCode::kInternal, "");
  EXPECT_LT(Seconds([&] { got = limited->Get("a", 100); }), 0.5);
  EXPECT_EQ(got.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(got.error().message(), HasSubstr("cancelled"));
}

TEST(S3Faults, EndsAtItsDeadline) {
  FaultServer server({Silence()});
  const auto store = Open(server);
  const auto limited =
      store->Limited({.deadline_ns = Clock::System().MonotonicNs() + 300 * kNsPerMs});
  Result<std::string> got = Error(ErrorCode::kInternal, "");
  const double seconds = Seconds([&] { got = limited->Get("a", 100); });
  EXPECT_GE(seconds, 0.25);
  EXPECT_LT(seconds, 1.0);
  EXPECT_EQ(got.error().code(), ErrorCode::kUnavailable);
}

TEST(S3Faults, SaysWhereNobodyListens) {
  uint16_t port = 0;
  {
    FaultServer gone({Silence()});
    port = static_cast<uint16_t>(std::stoi(gone.endpoint().substr(17)));
  }
  const auto store =
      Open("s3://bucket?timeout=1s&proxy=none&endpoint=http://127.0.0.1:" + std::to_string(port));
  const Status checked = store->Check();
  EXPECT_EQ(checked.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(checked.error().message(), HasSubstr("127.0.0.1:" + std::to_string(port)));
  EXPECT_THAT(checked.error().message(), Not(HasSubstr("SECRET")));
}

TEST(S3Faults, TakesNoMoreThanItAskedFor) {
  FaultServer server({Answer("200 OK", std::string(100'000, 'x'))});
  const auto store = Open(server);
  EXPECT_EQ(store->Get("a", 99'999).error().code(), ErrorCode::kExhausted);
  EXPECT_EQ(store->Get("a", 100'000)->size(), 100'000u);
  // The answer to a range of ten bytes is a megabyte.
  EXPECT_EQ(store->GetRange("a", 0, 10).error().code(), ErrorCode::kUnsupported);
}

TEST(S3Faults, CutsOffAnEndlessRefusal) {
  FaultServer server({[](FakePeer& peer, const std::string&) {
    peer.Write("HTTP/1.1 403 Forbidden\r\n\r\n<Error><Code>AccessDenied</Code>");
    const std::string more(1 << 16, ' ');
    while (peer.Write(more)) {
    }
    return false;
  }});
  EXPECT_EQ(Open(server)->Get("a").error().code(), ErrorCode::kPermission);
}

TEST(S3Faults, RefusesEndlessHeaders) {
  FaultServer server({[](FakePeer& peer, const std::string&) {
    peer.Write("HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 2000 && peer.Write("x-filler: " + std::string(100, 'x') + "\r\n"); ++i) {
    }
    peer.Write("Content-Length: 1\r\n\r\nx");
    return false;
  }});
  EXPECT_EQ(Open(server, "&timeout=1s")->Get("a", 100).error().code(), ErrorCode::kUnavailable);
}

TEST(S3Faults, FollowsNoLocation) {
  FaultServer other({Answer("200 OK", "stolen")});
  FaultServer server(
      {Answer("307 Temporary Redirect", "", "Location: " + other.endpoint() + "/\r\n")});
  EXPECT_EQ(Open(server)->Get("a").error().code(), ErrorCode::kInvalid);
  EXPECT_THAT(other.requests(), SizeIs(0));
}

TEST(S3Faults, LearnsTheRegionFromARedirect) {
  FaultServer server({Answer("301 Moved Permanently", ErrorXml("PermanentRedirect"),
                             "x-amz-bucket-region: eu-west-3\r\n"),
                      Answer("200 OK", "hello")});
  EXPECT_EQ(*Open(server)->Get("a"), "hello");
  EXPECT_THAT(server.requests()[1], HasSubstr("/eu-west-3/s3/aws4_request"));
}

TEST(S3Faults, CorrectsItsClock) {
  FaultServer server({Answer("403 Forbidden", ErrorXml("RequestTimeTooSkewed"),
                             "Date: Mon, 01 Jan 2035 12:00:00 GMT\r\n"),
                      Answer("200 OK", "hello")});
  EXPECT_EQ(*Open(server)->Get("a"), "hello");
  EXPECT_THAT(server.requests()[1], HasSubstr("x-amz-date: 20350101T12"));
}

TEST(S3Faults, GoesThroughAProxyButNotWithItsOwnCredentialsAddresses) {
  FaultServer proxy({Answer("200 OK", "hello")});
  const auto store = Open("s3://bucket?endpoint=http://s3.invalid&proxy=" + proxy.endpoint());
  EXPECT_EQ(*store->Get("a"), "hello");
  EXPECT_THAT(proxy.requests().at(0), StartsWith("GET http://s3.invalid/bucket/a HTTP/1.1\r\n"));
  const auto transport = *net::CurlClient::Create({.proxy = proxy.endpoint()});
  FaultServer metadata({Answer("200 OK", "token")});
  const auto answer = transport->Send({.url = metadata.endpoint() + "/", .link_local = true}, {});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "token");
  EXPECT_THAT(proxy.requests(), SizeIs(1));
}

// No tunnel, no bucket: somebody has to give a password, or to let it through.
TEST(S3Faults, AsksAProxyThatRefusesTunnelsOnce) {
  for (const auto& [status, advice] :
       {std::pair("407 Proxy Authentication Required", "give it in https_proxy"),
        std::pair("403 Forbidden", "name it in no_proxy")}) {
    FaultServer proxy({CloseAfter(Answer(status))});
    const auto store = Open("s3://bucket?endpoint=https://store.test&proxy=" + proxy.endpoint());
    const Status put = store->Put("a", "hello");
    EXPECT_EQ(put.error().code(), ErrorCode::kPermission) << put.error().message();
    EXPECT_THAT(put.error().message(), HasSubstr(advice));
    EXPECT_THAT(proxy.requests(), SizeIs(1));
    EXPECT_THAT(proxy.requests().at(0), AllOf(StartsWith("CONNECT store.test:443 HTTP/1.1\r\n"),
                                              Not(HasSubstr("AKID")), Not(HasSubstr("hello"))));
  }
}

TEST(S3Faults, ComesBackToAProxyThatIsBusy) {
  FaultServer proxy({CloseAfter(Answer("503 Service Unavailable"))});
  const auto store =
      Open("s3://bucket?endpoint=https://store.test&timeout=5s&proxy=" + proxy.endpoint());
  EXPECT_EQ(store->Put("a", "hello").error().code(), ErrorCode::kUnavailable);
  EXPECT_GT(proxy.requests().size(), 1u);
}

TEST(S3Faults, TrustsTheAuthorityItIsTold) {
  const k8s::TestCertificate authority = k8s::MakeAuthority("authority");
  const k8s::TestCertificate certificate =
      k8s::MakeCertificate(authority, "127.0.0.1", "IP:127.0.0.1");
  ScratchFolder folder;
  const std::string ca_file = folder.path() + "/ca.pem";
  std::ofstream(ca_file) << authority.certificate_pem;
  FaultServer server({Answer("200 OK", "hello")}, {.certificate = &certificate});
  const std::string url = "s3://bucket?proxy=none&endpoint=" + server.endpoint("https");
  EXPECT_EQ(*Open(url + "&ca-file=" + ca_file)->Get("a"), "hello");
  const auto refused = Open(url)->Get("a");
  EXPECT_EQ(refused.error().code(), ErrorCode::kPermission);
  EXPECT_THAT(refused.error().message(), HasSubstr("ca-file"));
  std::ofstream(ca_file) << "nothing";
  const auto unreadable =
      S3Store::Open(url + "&ca-file=" + ca_file, [](const char*) { return ""; });
  EXPECT_EQ(unreadable.error().code(), ErrorCode::kInvalid);
}

TEST(S3Faults, ServesManyThreads) {
  // The server takes one connection at a time, so each is for one request.
  FaultServer server({CloseAfter(Answer("200 OK", "hello", "Connection: close\r\n"))});
  const auto store = Open(server);
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 10; ++n) good += *store->Get("a") == "hello";
      });
    }
  }
  EXPECT_EQ(good, 40);
  EXPECT_EQ(store->counts().requests, 40u);
  EXPECT_EQ(store->counts().received_bytes, 200u);
}

}  // namespace
}  // namespace firetower::store::s3
