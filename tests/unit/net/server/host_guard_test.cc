// SPDX-License-Identifier: Apache-2.0
#include "net/server/host_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "net/server/http_server.h"
#include "tests/unit/net/server/raw_client.h"

namespace firetower::net {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kUrl = "http://127.0.0.1:7070";

bool Passes(const HostGuard& guard, std::string host) {
  HttpRequest request;
  request.host = std::move(host);
  return !guard.Refusal(request).has_value();
}

TEST(HostGuard, PassesAddressesAndNamesThatNoStrangersDnsSays) {
  const HostGuard guard({{}, "give up"}, kUrl, "Node7.corp.example");
  for (const char* host : {"127.0.0.1", "127.0.0.1:7070", "10.0.0.7:7070", "[::1]", "[::1]:7070",
                           "[fe80::1%eth0]:80", "localhost", "localhost:7070", "LocalHost:1",
                           "localhost.:7070", "node7.corp.example:7070", "NODE7", "node7:7070",
                           // HTTP/1.0 clients may omit it; a browser always sends one.
                           ""}) {
    EXPECT_TRUE(Passes(guard, host)) << host;
  }
}

TEST(HostGuard, RefusesEveryOtherName) {
  const HostGuard guard({{}, "give up"}, kUrl, "node7.corp.example");
  for (const char* host :
       {"evil.example", "evil.example:7070", "localhost.evil.example", "127.0.0.1.evil.example",
        "localhost@evil.example", "evil.example:127.0.0.1", "[::1].evil.example", "[::1]:x", "[::1",
        "::1", "127.0.0.1x", "127.1", "corp.example", "node7.evil.example", "localhost..", ".", ":",
        "*"}) {
    EXPECT_FALSE(Passes(guard, host)) << host;
  }
}

TEST(HostGuard, PassesTheNamesItWasTold) {
  const HostGuard guard({{"Profiles.example", "other"}, "give up"}, kUrl, "");
  EXPECT_TRUE(Passes(guard, "profiles.example:443"));
  EXPECT_TRUE(Passes(guard, "OTHER."));
  EXPECT_FALSE(Passes(guard, "profiles.example.evil.example"));
  EXPECT_TRUE(Passes(HostGuard({{"*"}, ""}, kUrl, ""), "evil.example"));
}

TEST(HostGuard, SaysWhatWhyAndWhatToDo) {
  HttpRequest request;
  request.host = "evil.example:7070";
  const auto refusal =
      HostGuard({{}, "add the name to --allowed-hosts"}, kUrl, "").Refusal(request);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->status, 421);  // RFC 9110 §15.5.20
  EXPECT_THAT(refusal->body,
              AllOf(HasSubstr("'evil.example:7070'"), HasSubstr("DNS rebinding"),
                    HasSubstr("ask http://127.0.0.1:7070, or add the name to --allowed-hosts")));
}

std::unique_ptr<HttpServer> StartGuarded(const std::string& listen,
                                         std::optional<HostRule> host_rule) {
  HttpServerOptions options;
  options.listen = listen;
  options.host_rule = std::move(host_rule);
  auto server = HttpServer::Start(options, [](const HttpRequest&) {
    HttpResponse response;
    response.body = "secret";
    return response;
  });
  EXPECT_TRUE(server) << server.error().message();
  return server ? *std::move(server) : nullptr;
}

std::string Ask(const HttpServer& server, const std::string& host) {
  return Exchange(server.url(), "GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
}

TEST(HostGuard, GuardsAServerOnALoopbackAddress) {
  for (const char* listen : {"127.0.0.1:0", "localhost:0", "127.9.9.9:0"}) {
    auto server = StartGuarded(listen, HostRule{{}, "give up"});
    EXPECT_THAT(Ask(*server, "evil.example"), StartsWith("HTTP/1.1 421 ")) << listen;
    EXPECT_EQ(Ask(*server, "evil.example").find("secret"), std::string::npos);
    EXPECT_EQ(BodyOf(Ask(*server, "localhost:1234")), "secret");
    EXPECT_EQ(BodyOf(Ask(*server, server->address())), "secret");
    char own[256] = "";
    ASSERT_EQ(::gethostname(own, sizeof(own) - 1), 0);
    EXPECT_EQ(BodyOf(Ask(*server, own)), "secret");
  }
  auto without = StartGuarded("127.0.0.1:0", std::nullopt);
  EXPECT_EQ(BodyOf(Ask(*without, "evil.example")), "secret");
}

// In a pod it is asked by Services' names, proxies and whatever else a cluster has.
TEST(HostGuard, OnOtherAddressesNamesCountOnceThereAreSome) {
  auto open = StartGuarded("0.0.0.0:0", HostRule{{}, "give up"});
  EXPECT_EQ(BodyOf(Ask(*open, "firetower-agent.firetower.svc:7070")), "secret");
  auto named = StartGuarded("0.0.0.0:0", HostRule{{"firetower-agent.firetower.svc"}, "give up"});
  EXPECT_EQ(BodyOf(Ask(*named, "firetower-agent.firetower.svc:7070")), "secret");
  EXPECT_THAT(Ask(*named, "evil.example"), StartsWith("HTTP/1.1 421 "));
}

}  // namespace
}  // namespace firetower::net
