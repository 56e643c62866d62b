// SPDX-License-Identifier: Apache-2.0
#include "service/access/kube_authorizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/k8s/recording_api_server.h"

namespace firetower::service {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* kJane =
    R"({"status":{"authenticated":true,"user":{"username":"jane","uid":"u-1",)"
    R"("groups":["devs","system:authenticated"],"extra":{"scopes":["a","b"]}}}})";
constexpr const char* kNobody = R"({"status":{"user":{}}})";
constexpr const char* kYes = R"({"status":{"allowed":true}})";
constexpr const char* kNo = R"({"status":{"allowed":false,"reason":"no"}})";

class KubeAuthorizerTest : public ::testing::Test {
 protected:
  Result<profile::Selector> Narrow(const std::string& selector,
                                   const std::string& authorization = "Bearer t0ken") {
    net::HttpRequest request;
    request.authorization = authorization;
    return authorizer_.Narrow(request, *profile::Selector::Parse(selector));
  }
  std::string Answered(const std::string& selector) {
    const Result<profile::Selector> narrowed = Narrow(selector);
    return narrowed ? narrowed->ToString() : "error: " + narrowed.error().message();
  }

  FakeClock clock_{kNsPerSecond, 0};
  k8s::RecordingApiServer server_;
  KubeAuthorizer authorizer_{server_, clock_};
};

TEST_F(KubeAuthorizerTest, AsksNothingWithoutAToken) {
  for (const char* authorization : {"", "Bearer", "Bearer ", "Basic amFuZTp4", "t0ken"}) {
    const Result<profile::Selector> refused = Narrow("{}", authorization);
    ASSERT_FALSE(refused) << authorization;
    EXPECT_EQ(refused.error().code(), ErrorCode::kPermission);
  }
  EXPECT_THAT(server_.requests(), SizeIs(0));
}

TEST_F(KubeAuthorizerTest, RefusesATokenThatIsNobodys) {
  server_.Answer(201, kNobody);
  EXPECT_THAT(Answered("{}"), HasSubstr("does not know this token"));
}

TEST_F(KubeAuthorizerTest, AsksForTheRightInTheNamespaceAsTheUser) {
  server_.Answer(201, kJane);
  server_.Answer(201, kNo);
  server_.Answer(201, kYes);
  EXPECT_EQ(Answered(R"({namespace="shop",pod=~"a.*"})"), R"({namespace="shop",pod=~"a.*"})");
  ASSERT_THAT(server_.requests(), SizeIs(3));
  EXPECT_THAT(server_.requests()[0].body, HasSubstr(R"("spec":{"token":"t0ken"})"));
  const k8s::ApiRequest& asked = server_.requests()[2];
  EXPECT_EQ(asked.target, "/apis/authorization.k8s.io/v1/subjectaccessreviews");
  for (const char* part : {R"("user":"jane","uid":"u-1","groups":["devs","system:authenticated"])",
                           R"("extra":{"scopes":["a","b"]})",
                           R"("namespace":"shop","verb":"get","group":"firetower.dev")",
                           R"("resource":"profilingpolicies","subresource":"profiles")"}) {
    EXPECT_THAT(asked.body, HasSubstr(part));
  }
}

TEST_F(KubeAuthorizerTest, WhoMayNotReadAllNamesOne) {
  server_.Answer(201, kJane);
  server_.Answer(201, kNo);
  EXPECT_THAT(Answered(R"({pod="a"})"), HasSubstr(R"(ask for one with {namespace="…"})"));
  // Every value of it would be read otherwise.
  EXPECT_THAT(Answered(R"({namespace=~"shop|front"})"), HasSubstr("error: jane may not read"));
  server_.Answer(201, kNo);
  EXPECT_THAT(Answered(R"({namespace="front"})"),
              HasSubstr("profilingpolicies.firetower.dev/profiles -n front"));
}

TEST_F(KubeAuthorizerTest, APatternOfOneNameNamesIt) {
  server_.Answer(201, kJane);
  server_.Answer(201, kNo);
  server_.Answer(201, kYes);
  EXPECT_EQ(Answered(R"({namespace=~"shop-1"})"), R"({namespace=~"shop-1"})");
  ASSERT_THAT(server_.requests(), SizeIs(3));
  EXPECT_THAT(server_.requests()[2].body, HasSubstr(R"("namespace":"shop-1")"));
  for (const char* several :
       {R"({namespace=~"shop.1"})", R"({namespace=~""})", R"({namespace=~".*"})",
        R"({namespace!~"shop"})", R"({pod=~"shop"})"}) {
    EXPECT_THAT(Answered(several), HasSubstr("may not read the profiles of all namespaces"));
  }
}

TEST_F(KubeAuthorizerTest, AsksNothingAboutANameThatIsNoNamespaces) {
  server_.Answer(201, kJane);
  const std::string name(64, 'n');
  EXPECT_THAT(Answered("{namespace=\"" + name + "\"}"), HasSubstr("is no namespace's name"));
  EXPECT_THAT(server_.requests(), SizeIs(1));
}

TEST_F(KubeAuthorizerTest, HostsNeedARightOfTheirOwn) {
  server_.Answer(201, kJane);
  server_.Answer(201, kYes);
  server_.Answer(201, kNo);
  EXPECT_EQ(Answered("{}"), R"({namespace!="-"})");
  EXPECT_THAT(Answered(R"({namespace="-"})"), HasSubstr("may not read the hosts' profiles"));
  EXPECT_EQ(Answered(R"({namespace="shop"})"), R"({namespace="shop"})");
}

TEST_F(KubeAuthorizerTest, WhoMayReadEverythingIsAnsweredAsAsked) {
  for (const char* answer : {kJane, kYes, kYes}) server_.Answer(201, answer);
  EXPECT_EQ(Answered(R"({container="web"})"), R"({container="web"})");
}

TEST_F(KubeAuthorizerTest, KeepsAnswersForAWhileAndRefusalsForLess) {
  server_.Answer(201, kJane);
  server_.Answer(201, kNo);
  server_.Answer(201, kYes);
  Answered(R"({namespace="shop"})");
  clock_.Advance(KubeAuthorizer::kKeepRefusedNs);
  server_.Answer(201, kYes);
  EXPECT_EQ(Answered(R"({namespace="front"})"), R"({namespace="front"})") << "asked again";
  EXPECT_THAT(server_.requests(), SizeIs(4));
  clock_.Advance(KubeAuthorizer::kKeepNs);
  server_.Answer(201, kNobody);
  EXPECT_THAT(Answered(R"({namespace="shop"})"), HasSubstr("does not know"));
}

TEST_F(KubeAuthorizerTest, AnAwayApiServerIsNoRefusal) {
  const Result<profile::Selector> narrowed = Narrow("{}");
  ASSERT_FALSE(narrowed);
  EXPECT_EQ(narrowed.error().code(), ErrorCode::kUnavailable);
}

// Nobody who asks has done anything wrong then.
TEST_F(KubeAuthorizerTest, SaysWhenItMayNotAskItself) {
  server_.Answer(403, R"({"kind":"Status","message":"tokenreviews is forbidden"})");
  const Result<profile::Selector> narrowed = Narrow("{}");
  ASSERT_FALSE(narrowed);
  EXPECT_EQ(narrowed.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(narrowed.error().message(), HasSubstr("grant its account create of tokenreviews"));
  EXPECT_THAT(narrowed.error().message(), HasSubstr("tokenreviews is forbidden"));
  server_.Answer(201, kJane);
  server_.Answer(403, R"({"kind":"Status","message":"subjectaccessreviews is forbidden"})");
  EXPECT_EQ(Narrow("{}").error().code(), ErrorCode::kUnavailable);
}

TEST_F(KubeAuthorizerTest, TellsWhoIsKnownAndAsksOnce) {
  net::HttpRequest request;
  const Status nobody = authorizer_.Identify(request);
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code(), ErrorCode::kPermission);
  EXPECT_THAT(nobody.error().message(), HasSubstr("Authorization: Bearer"));
  request.authorization = "Bearer t0ken";
  EXPECT_EQ(authorizer_.Identify(request).error().code(), ErrorCode::kUnavailable);
  server_.Answer(201, kJane);
  EXPECT_TRUE(authorizer_.Identify(request));
  EXPECT_TRUE(authorizer_.Identify(request));
  EXPECT_THAT(server_.requests(), SizeIs(2)) << "one of them not answered";
}

// Nobody is asked for it.
TEST_F(KubeAuthorizerTest, RecallsWhoWasKnownLately) {
  net::HttpRequest request;
  const auto recalled = [&] { return authorizer_.Recall(request); };
  EXPECT_EQ(recalled().error().code(), ErrorCode::kPermission) << "no token";
  request.authorization = "Bearer t0ken";
  EXPECT_EQ(recalled().value_or(true), false);
  server_.Answer(201, kJane);
  ASSERT_TRUE(authorizer_.Identify(request));
  EXPECT_EQ(recalled().value_or(false), true);
  clock_.Advance(KubeAuthorizer::kKeepNs);
  EXPECT_EQ(recalled().value_or(false), true) << "known lately";
  server_.Answer(201, kNobody);
  ASSERT_FALSE(authorizer_.Identify(request));
  EXPECT_EQ(recalled().error().code(), ErrorCode::kPermission) << "known to be nobody's";
  clock_.Advance(KubeAuthorizer::kKeepRefusedNs);
  EXPECT_EQ(recalled().value_or(true), false);
  server_.Answer(201, kJane);
  ASSERT_TRUE(authorizer_.Identify(request));
  clock_.Advance(KubeAuthorizer::kKeepNs + KubeAuthorizer::kFamiliarNs);
  EXPECT_EQ(recalled().value_or(true), false) << "long ago";
  EXPECT_THAT(server_.requests(), SizeIs(3));
}

TEST_F(KubeAuthorizerTest, AsksAboutSoManyUnknownTokensAndNoMore) {
  net::HttpRequest jane;
  jane.authorization = "Bearer jane";
  server_.Answer(201, kJane);
  ASSERT_TRUE(authorizer_.Identify(jane));
  clock_.Advance(KubeAuthorizer::kKeepNs);
  int sent = 0;
  const auto flood = [&](int count) {
    int asked = 0;
    for (int i = 0; i < count; ++i) {
      net::HttpRequest request;
      request.authorization = "Bearer " + std::to_string(++sent);
      const size_t before = server_.requests().size();
      server_.Answer(201, kNobody);
      const Status refused = authorizer_.Identify(request);
      const bool was_asked = server_.requests().size() > before;
      EXPECT_EQ(refused.error().code(),
                was_asked ? ErrorCode::kPermission : ErrorCode::kUnavailable);
      asked += was_asked ? 1 : 0;
    }
    return asked;
  };
  EXPECT_EQ(flood(200), 50);
  EXPECT_EQ(flood(200), 0);
  clock_.Advance(2 * kNsPerSecond);
  EXPECT_EQ(flood(200), 20);
  // Callers that were known before are asked about all the same.
  const size_t before = server_.requests().size();
  EXPECT_NE(authorizer_.Identify(jane).error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(server_.requests().size(), before + 1);
}

// In a pod whose account may read nothing, and without the API server.
TEST(OwnToken, ReadsEverythingAndIsReadAtEachRequest) {
  const std::string path = ::testing::TempDir() + "/own-token-" + std::to_string(::getpid());
  std::ofstream(path) << "mine\n";
  const FakeClock clock(kNsPerSecond, 0);
  k8s::RecordingApiServer server;
  const KubeAuthorizer authorizer(server, clock, path);
  net::HttpRequest request;
  request.authorization = "Bearer mine";
  const auto asked = profile::Selector::Parse(R"({namespace=~".*"})");
  EXPECT_EQ(authorizer.Recall(request).value_or(false), true);
  EXPECT_TRUE(authorizer.Identify(request));
  EXPECT_EQ(authorizer.Narrow(request, *asked)->ToString(), asked->ToString());
  EXPECT_TRUE(authorizer.ReadMetrics(request));
  EXPECT_THAT(server.requests(), SizeIs(0));
  for (const char* other : {"Bearer mine2", "Bearer min", "Bearer mine\n", "Bearer ", ""}) {
    request.authorization = other;
    EXPECT_FALSE(authorizer.Identify(request)) << other;
    EXPECT_FALSE(authorizer.Narrow(request, *asked)) << other;
  }
  std::ofstream(path) << "next";
  request.authorization = "Bearer mine";
  EXPECT_FALSE(authorizer.Identify(request));
  request.authorization = "Bearer next";
  EXPECT_TRUE(authorizer.Identify(request));
  // An empty file is no token that somebody could have.
  std::ofstream(path) << "";
  request.authorization = "Bearer ";
  EXPECT_FALSE(authorizer.Identify(request));
  std::filesystem::remove(path);
  request.authorization = "Bearer next";
  EXPECT_FALSE(authorizer.Identify(request));
}

}  // namespace
}  // namespace firetower::service
