// SPDX-License-Identifier: Apache-2.0
#include "net/server/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <semaphore>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "query/http/errors.h"
#include "tests/unit/net/server/raw_client.h"
#include "tests/unit/net/server/served_certificate.h"

namespace firetower::net {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

HttpResponse Echo(const HttpRequest& request) {
  HttpResponse response;
  response.route = "/echo";
  if (request.path == "/throw") throw std::runtime_error("secret of the server");
  if (request.path == "/big") {
    response.body.assign(8 << 20, 'x');
    response.content_type = "application/octet-stream";
    return response;
  }
  response.body = request.method + " " + request.path;
  for (const auto& [name, value] : request.params) response.body += " " + name + "=" + value;
  return response;
}

// Over plain TCP, and over TLS: the same promises hold.
class HttpServerTest : public ::testing::TestWithParam<const char*> {
 protected:
  HttpServerOptions OnAnyPort() const {
    HttpServerOptions options;
    options.listen = "127.0.0.1:0";
    options.error_format = query::JsonError;
    if (GetParam() == std::string_view("tls")) options.tls = certificate_.files();
    return options;
  }
  std::unique_ptr<HttpServer> StartEcho() const { return StartEcho(OnAnyPort()); }
  static std::unique_ptr<HttpServer> StartEcho(HttpServerOptions options) {
    auto server = HttpServer::Start(std::move(options), Echo);
    EXPECT_TRUE(server) << server.error().message();
    return server ? *std::move(server) : nullptr;
  }

 private:
  ServedCertificate certificate_{"server"};
};
INSTANTIATE_TEST_SUITE_P(Over, HttpServerTest, ::testing::Values("tcp", "tls"),
                         [](const auto& over) { return over.param; });

TEST_P(HttpServerTest, AnswersOnIpv4AndIpv6) {
  auto server = StartEcho();
  EXPECT_EQ(BodyOf(Fetch(server->url(), "/a%20b?x=1&y=%7B%7D")), "GET /a b x=1 y={}");
  HttpServerOptions six = OnAnyPort();
  six.listen = "[::1]:0";
  auto other = HttpServer::Start(six, Echo);
  if (!other) GTEST_SKIP() << "HttpServer.AnswersOnIpv4AndIpv6: no IPv6 loopback here";
  EXPECT_THAT((*other)->address(), StartsWith("[::1]:"));
  EXPECT_EQ(BodyOf(Fetch((*other)->url(), "/")), "GET /");
}

TEST_P(HttpServerTest, HeadHasTheLengthAndNoBody) {
  auto server = StartEcho();
  RawClient client(server->url());
  ASSERT_TRUE(client.Send("HEAD /ab HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
  std::string response = client.Receive();
  EXPECT_THAT(response, HasSubstr("Content-Length: 8\r\n"));  // "HEAD /ab"
  EXPECT_EQ(BodyOf(response), "");
}

TEST_P(HttpServerTest, IgnoresRanges) {
  auto server = StartEcho();
  EXPECT_EQ(BodyOf(Fetch(server->url(), "/abcdef", "RANGE: bytes=0-1\r\n")), "GET /abcdef");
  std::string long_range = "Range: bytes=" + std::string(8000, '1') + "-\r\n";
  EXPECT_THAT(Fetch(server->url(), "/", long_range), StartsWith("HTTP/1.1 200"));
}

TEST_P(HttpServerTest, KeepsAConnectionAndAnswersPipelinedRequestsInOrder) {
  auto server = StartEcho();
  RawClient client(server->url());
  ASSERT_TRUE(client.Send("GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n"));
  EXPECT_EQ(BodyOf(client.ReceiveOne()), "GET /1");
  EXPECT_EQ(BodyOf(client.ReceiveOne()), "GET /2");
  ASSERT_TRUE(client.Send("GET /3 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"));
  EXPECT_EQ(BodyOf(client.ReceiveOne()), "GET /3");
  // A body that comes later, in pieces.
  ASSERT_TRUE(client.Send("GET /5 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n"));
  EXPECT_EQ(client.Receive(50), "");
  ASSERT_TRUE(client.Send("a"));
  EXPECT_EQ(client.Receive(50), "");
  ASSERT_TRUE(client.Send("bc"));
  EXPECT_EQ(BodyOf(client.ReceiveOne()), "GET /5");
  ASSERT_TRUE(client.Send("GET /4 HTTP/1.1\r\nHost: x\r\n\r\n"));
  EXPECT_EQ(BodyOf(client.ReceiveOne()), "GET /4");
}

TEST_P(HttpServerTest, SaysCloseAtTheLastRequestOfAConnection) {
  HttpServerOptions options = OnAnyPort();
  options.requests_per_connection = 2;
  auto server = StartEcho(options);
  RawClient client(server->url());
  std::string request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  ASSERT_TRUE(client.Send(request));
  EXPECT_THAT(client.ReceiveOne(), Not(HasSubstr("Connection: close")));
  ASSERT_TRUE(client.Send(request));
  EXPECT_THAT(client.Receive(), HasSubstr("Connection: close"));
}

TEST_P(HttpServerTest, TurnsAnExceptionIntoA500ThatTellsNothing) {
  auto server = StartEcho();
  std::string response = Fetch(server->url(), "/throw");
  EXPECT_THAT(response, StartsWith("HTTP/1.1 500"));
  EXPECT_THAT(response, Not(HasSubstr("secret")));
  EXPECT_EQ(BodyOf(Fetch(server->url(), "/after")), "GET /after");
}

TEST_P(HttpServerTest, RefusesWhatIsNotHttp) {
  auto server = StartEcho();
  for (const char* request :
       {"\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/3.0\r\n\r\n", "BREW / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1 x\r\n\r\n", "GET /%zz?a=%zz HTTP/1.1\r\nHost: x\r\n\r\n",
        "\x16\x03\x01\x02\x01\x01\r\n\r\n"}) {
    std::string response = Exchange(server->url(), request);
    EXPECT_THAT(response, StartsWith("HTTP/1.1 400")) << request;
    EXPECT_THAT(response, HasSubstr("\"code\":\"invalid_argument\"")) << request;
  }
}

TEST_P(HttpServerTest, RefusesAnOversizedHead) {
  auto server = StartEcho();
  std::string header = "X-Long: " + std::string(20'000, 'a') + "\r\n";
  EXPECT_THAT(Fetch(server->url(), "/", header), StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(Fetch(server->url(), "/" + std::string(10'000, 'a')),
              AllOf(StartsWith("HTTP/1.1 414"), HasSubstr("more than 8192 bytes")));
  std::string many;
  for (int i = 0; i < 4000; ++i) many += "A: b\r\n";
  EXPECT_THAT(Fetch(server->url(), "/", many), StartsWith("HTTP/1.1 431"));
}

TEST_P(HttpServerTest, RefusesAnOversizedBodyWithoutReadingIt) {
  auto server = StartEcho();
  RawClient client(server->url());
  ASSERT_TRUE(client.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n"));
  // The answer is there although the body is still on its way.
  EXPECT_THAT(client.ReceiveOne(), StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(Fetch(server->url(), "/", "Transfer-Encoding: gzip, chunked\r\n"),
              StartsWith("HTTP/1.1 411"));
}

TEST_P(HttpServerTest, HandsOverTheBodyInEitherForm) {
  auto server = HttpServer::Start(OnAnyPort(), [](const HttpRequest& request) {
    HttpResponse response;
    response.body = request.content_type + "|" + request.content_encoding + "|" +
                    request.accept_encoding + "|" + request.connect_version + "|" + request.body;
    return response;
  });
  ASSERT_TRUE(server);
  const std::string head =
      "POST / HTTP/1.1\r\nHost: x\r\ncontent-type: application/proto\r\n"
      "Content-Encoding: gzip\r\nAccept-Encoding: x\r\nConnect-Protocol-Version: 1\r\n";
  const std::string told = "application/proto|gzip|x|1|hello\r\n\r\nyou";
  EXPECT_EQ(BodyOf(Exchange((*server)->url(), head + "Content-Length: 12\r\n\r\nhello\r\n\r\nyou")),
            told);
  RawClient client((*server)->url());
  // The next request on the connection begins where the last chunk ends.
  ASSERT_TRUE(client.Send(head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"));
  ASSERT_TRUE(client.Send("7\r\n\r\n\r\nyou\r\n0\r\n\r\nPOST / HTTP/1.1\r\nHost: x\r\n\r\n"));
  EXPECT_EQ(BodyOf(client.ReceiveOne()), told);
  EXPECT_EQ(BodyOf(client.ReceiveOne()), "||||");
}

TEST_P(HttpServerTest, TimesASlowRequestOut) {
  HttpServerOptions options = OnAnyPort();
  options.read_timeout_ns = 300 * kNsPerMs;
  auto server = StartEcho(options);
  RawClient client(server->url());
  int64_t begin_ns = Clock::System().MonotonicNs();
  // A byte now and then must not renew the deadline.
  std::string head = "GET / HTTP/1.1\r\nHost: " + std::string(200, 'x');
  std::string response;
  for (char byte : head) {
    if (!client.Send({&byte, 1})) break;
    response = client.Receive(20);
    if (!response.empty()) break;
  }
  EXPECT_THAT(response, StartsWith("HTTP/1.1 408"));
  int64_t taken_ns = Clock::System().MonotonicNs() - begin_ns;
  EXPECT_GE(taken_ns, 290 * kNsPerMs);
  EXPECT_LT(taken_ns, 3 * kNsPerSecond);
}

TEST_P(HttpServerTest, AnswersOthersWhileManyPeersAreSlowOrSilent) {
  auto server = StartEcho();
  std::vector<std::unique_ptr<RawClient>> peers;
  for (int i = 0; i < 60; ++i) {
    peers.push_back(std::make_unique<RawClient>(server->url()));
    if (i % 2 == 0) peers.back()->Send("GET / HTT");
    // Readers that never read a large answer.
    if (i % 20 == 1) peers.back()->Send("GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  int64_t begin_ns = Clock::System().MonotonicNs();
  EXPECT_EQ(BodyOf(Fetch(server->url(), "/livez")), "GET /livez");
  EXPECT_LT(Clock::System().MonotonicNs() - begin_ns, 2 * kNsPerSecond);
}

TEST_P(HttpServerTest, MakesRoomForNewConnectionsByClosingIdleOnes) {
  HttpServerOptions options = OnAnyPort();
  options.max_connections = 4;
  options.idle_timeout_ns = 60 * kNsPerSecond;
  auto server = StartEcho(options);
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 4; ++i) idle.push_back(std::make_unique<RawClient>(server->url()));
  EXPECT_EQ(BodyOf(Fetch(server->url(), "/new")), "GET /new");
  // Nor do unfinished requests keep the place.
  for (int i = 0; i < 4; ++i) {
    idle.push_back(std::make_unique<RawClient>(server->url()));
    idle.back()->Send("GET / HT");
  }
  EXPECT_EQ(BodyOf(Fetch(server->url(), "/newer")), "GET /newer");
}

// A connection that was answered for the last time ends when its peer closes, and not a second
// later: with few places, and one connection for each request, there would soon be none left.
TEST_P(HttpServerTest, EndsAnsweredConnectionsWithTheirPeers) {
  HttpServerOptions options = OnAnyPort();
  options.max_connections = 4;
  auto server = StartEcho(options);
  const int64_t begin_ns = Clock::System().MonotonicNs();
  for (int i = 0; i < 40; ++i) {
    ASSERT_EQ(BodyOf(Fetch(server->url(), "/one", "Connection: close\r\n")), "GET /one") << i;
  }
  // Four places for a second each would be ten seconds.
  EXPECT_LT(Clock::System().MonotonicNs() - begin_ns, 4 * kNsPerSecond);
}

// One that has not asked yet keeps its place for the next who comes.
TEST_P(HttpServerTest, ClosesAnsweredConnectionsBeforeNewOnes) {
  HttpServerOptions options = OnAnyPort();
  options.max_connections = 4;
  auto server = StartEcho(options);
  // Answered, and not closed by their peers.
  std::vector<std::unique_ptr<RawClient>> answered;
  for (int i = 0; i < 3; ++i) {
    answered.push_back(std::make_unique<RawClient>(server->url()));
    answered.back()->Send("GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(BodyOf(answered.back()->ReceiveOne()), "GET /x");
  }
  std::vector<std::unique_ptr<RawClient>> later;
  for (int i = 0; i < 2; ++i) later.push_back(std::make_unique<RawClient>(server->url()));
  for (const auto& client : later) {
    ASSERT_TRUE(client->Send("GET /later HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
    EXPECT_EQ(BodyOf(client->ReceiveOne()), "GET /later");
  }
}

TEST_P(HttpServerTest, ServesWhoWaitsForRoomOnceThereIsSome) {
  HttpServerOptions options = OnAnyPort();
  options.max_connections = 1;
  std::binary_semaphore begun{0};
  std::binary_semaphore end{0};
  auto server = HttpServer::Start(options, [&](const HttpRequest& request) {
    if (request.path == "/slow") {
      begun.release();
      end.acquire();
    }
    return Echo(request);
  });
  ASSERT_TRUE(server) << server.error().message();
  RawClient first((*server)->url());
  ASSERT_TRUE(first.Send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n"));
  begun.acquire();
  // A handshake waits for room, too; one that is under way is ended for the next who comes.
  const auto later =
      GetParam() == std::string_view("tls") ? std::launch::deferred : std::launch::async;
  const auto ask = [&](std::string_view target) { return BodyOf(Fetch((*server)->url(), target)); };
  std::future<std::string> second = std::async(std::launch::async, ask, "/second");
  std::future<std::string> third = std::async(later, ask, "/third");
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  end.release();
  EXPECT_EQ(BodyOf(first.ReceiveOne()), "GET /slow");
  EXPECT_EQ(second.get(), "GET /second");
  EXPECT_EQ(third.get(), "GET /third");
}

TEST_P(HttpServerTest, DropsAReaderThatTakesNothing) {
  HttpServerOptions options = OnAnyPort();
  options.write_timeout_ns = 200 * kNsPerMs;
  auto server = StartEcho(options);
  RawClient client(server->url());
  ASSERT_TRUE(client.Send("GET /big HTTP/1.1\r\nHost: x\r\n\r\n"));
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  // Bytes in the socket buffers still arrive, the rest does not.
  EXPECT_LT(client.Receive().size(), size_t{8 << 20});
}

TEST_P(HttpServerTest, AnswersALargeBodyWhole) {
  auto server = StartEcho();
  EXPECT_EQ(BodyOf(Fetch(server->url(), "/big")).size(), size_t{8 << 20});
}

TEST_P(HttpServerTest, ServesManyClientsAtOnceAndCountsEachRequest) {
  HttpServerOptions options = OnAnyPort();
  std::atomic<int> seen = 0;
  std::atomic<int> wrong = 0;
  options.observer = [&](const RequestStats& stats) {
    ++seen;
    if (stats.route != "/echo" || stats.status != 200 || stats.seconds < 0) ++wrong;
  };
  auto server = StartEcho(options);
  std::vector<std::thread> clients;
  std::atomic<int> good = 0;
  for (int i = 0; i < 16; ++i) {
    clients.emplace_back([&, i] {
      std::string path = "/c" + std::to_string(i);
      for (int n = 0; n < 20; ++n) good += BodyOf(Fetch(server->url(), path)) == "GET " + path;
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(good, 320);
  server->Stop();
  EXPECT_EQ(seen, 320);
  EXPECT_EQ(wrong, 0);
}

// Answers once nobody waits for it any more, and says so.
class WaitsUntilGone {
 public:
  HttpResponse Answer(const HttpRequest& request) {
    if (request.path != "/slow") return {};
    begun_.release();
    std::binary_semaphore gone{0};
    const std::stop_callback on_gone(request.gone, [&] { gone.release(); });
    if (gone.try_acquire_for(std::chrono::seconds(10))) ended_.release();
    return {};
  }
  bool Begins() { return begun_.try_acquire_for(std::chrono::seconds(10)); }
  bool Ends() { return ended_.try_acquire_for(std::chrono::seconds(5)); }

 private:
  std::counting_semaphore<8> begun_{0};
  std::counting_semaphore<8> ended_{0};
};

TEST_P(HttpServerTest, TellsAHandlerWhenItsClientHasGone) {
  WaitsUntilGone slow;
  auto server = HttpServer::Start(OnAnyPort(),
                                  [&](const HttpRequest& request) { return slow.Answer(request); });
  ASSERT_TRUE(server) << server.error().message();
  {
    RawClient impatient((*server)->url());
    ASSERT_TRUE(impatient.Send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n"));
    ASSERT_TRUE(slow.Begins());
    // A client that stays and sends its next request early has not disconnected.
    ASSERT_TRUE(impatient.Send("GET /next HTTP/1.1\r\nHost: x\r\n\r\n"));
    EXPECT_EQ(impatient.Receive(50), "");
  }
  EXPECT_TRUE(slow.Ends());
  EXPECT_THAT(Fetch((*server)->url(), "/other"), StartsWith("HTTP/1.1 200"));
}

TEST_P(HttpServerTest, TellsHandlersThatStillRunWhenItStops) {
  WaitsUntilGone slow;
  auto server = HttpServer::Start(OnAnyPort(),
                                  [&](const HttpRequest& request) { return slow.Answer(request); });
  ASSERT_TRUE(server) << server.error().message();
  RawClient client((*server)->url());
  ASSERT_TRUE(client.Send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n"));
  ASSERT_TRUE(slow.Begins());
  int64_t begin_ns = Clock::System().MonotonicNs();
  (*server)->Stop();
  EXPECT_LT(Clock::System().MonotonicNs() - begin_ns, 4 * kNsPerSecond);
  EXPECT_TRUE(slow.Ends());
}

TEST_P(HttpServerTest, StopsInBoundsWithPeersConnectedAndIsIdempotent) {
  auto server = StartEcho();
  std::string url = server->url();
  RawClient silent(url);
  RawClient slow(url);
  slow.Send("GET / HT");
  RawClient deaf(url);
  deaf.Send("GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
  int64_t begin_ns = Clock::System().MonotonicNs();
  server->Stop();
  server->Stop();
  EXPECT_LT(Clock::System().MonotonicNs() - begin_ns, 4 * kNsPerSecond);
  EXPECT_FALSE(RawClient(url).connected());
}

TEST_P(HttpServerTest, FailsToListenWithTheAddressAndWhatToDo) {
  auto first = StartEcho();
  HttpServerOptions taken;
  taken.listen = first->address();
  auto second = HttpServer::Start(taken, Echo);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message(), HasSubstr(first->address()));
  EXPECT_THAT(second.error().message(), HasSubstr("choose another port with --listen"));
  for (const char* bad : {"", "7070", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:70000", "::1:80",
                          "[::1:80", "127.0.0.1:", "no.such.host.invalid:80"}) {
    HttpServerOptions options;
    options.listen = bad;
    auto server = HttpServer::Start(options, Echo);
    ASSERT_FALSE(server) << bad;
    EXPECT_THAT(server.error().message(), HasSubstr("'" + std::string(bad) + "'"));
  }
}

}  // namespace
}  // namespace firetower::net
