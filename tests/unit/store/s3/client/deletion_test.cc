// SPDX-License-Identifier: Apache-2.0
#include "store/s3/deletion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/s3/s3_store.h"
#include "tests/support/s3/scripted_client.h"

namespace firetower::store::s3 {
namespace {

using ::firetower::testing::ErrorXml;
using ::firetower::testing::FakeHttpClient;
using ::firetower::testing::FakePause;
using ::firetower::testing::FixedCredentials;
using ::firetower::testing::Script;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

std::string Answer(const std::string& entries) {
  return "<DeleteResult>" + entries + "</DeleteResult>";
}
std::string Gone(const std::string& key) { return "<Deleted><Key>" + key + "</Key></Deleted>"; }
std::string Failed(const std::string& key, const std::string& code) {
  return "<Error><Key>" + key + "</Key><Code>" + code + "</Code><Message>AKID SECRET-VALUE" +
         "</Message></Error>";
}

class DeletionTest : public ::testing::Test {
 protected:
  std::vector<Status> Delete(const std::vector<std::string>& keys) {
    if (store_ == nullptr) {
      Client::Parts parts{.config = config_};
      parts.transport = std::make_unique<FakeHttpClient>(script_);
      parts.credentials = std::make_unique<FixedCredentials>();
      parts.clock = &clock_;
      parts.pause = &pause_;
      store_ = std::make_unique<S3Store>(std::move(parts));
    }
    return store_->DeleteEach(keys);
  }

  Config config_{.bucket = "bucket", .prefix = "p/", .endpoint = "http://s3", .path_style = true};
  std::shared_ptr<Script> script_ = std::make_shared<Script>();
  FakeClock clock_{0, 1'763'700'000 * kNsPerSecond};
  FakePause pause_{clock_};
  std::unique_ptr<S3Store> store_;
};

TEST_F(DeletionTest, AsksOnceForAllBelowThePrefix) {
  script_->Then(200, Answer(Gone("p/a") + Gone("p/b")));
  const std::vector<Status> results = Delete({"a", "b"});
  ASSERT_THAT(results, SizeIs(2));
  EXPECT_TRUE(results[0] && results[1]);
  ASSERT_THAT(script_->sent, SizeIs(1));
  EXPECT_EQ(script_->sent[0].method, "POST");
  EXPECT_EQ(script_->sent[0].url, "http://s3/bucket?delete=");
  const std::string body =
      "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Object><Key>p/a</Key></Object>"
      "<Object><Key>p/b</Key></Object></Delete>";
  EXPECT_EQ(script_->sent[0].body, body);
  // printf %s "$body" | openssl md5 -binary | base64
  EXPECT_EQ(script_->sent[0].Header("Content-MD5"), "LEQD6CqGv/wW2lxdQWxY1A==");
}

TEST_F(DeletionTest, SendsTheChecksumThatIsConfigured) {
  config_.checksum = Checksum::kCrc32c;
  script_->Then(200, Answer(Gone("p/a")));
  EXPECT_TRUE(Delete({"a"})[0]);
  EXPECT_EQ(script_->sent[0].Header("Content-MD5"), "");
  EXPECT_THAT(script_->sent[0].Header("x-amz-checksum-crc32c"), SizeIs(8));
}

TEST_F(DeletionTest, TellsOfEachKeyWhatCameOfIt) {
  script_->Then(200, Answer(Failed("p/no", "AccessDenied") + Gone("p/yes") +
                            Failed("p/gone", "NoSuchKey") + Failed("p/busy", "SlowDown") +
                            Gone("p/both") + Failed("p/both", "InternalError") + Gone("other")));
  const auto results = Delete({"yes", "no", "gone", "busy", "both", "silent"});
  ASSERT_THAT(results, SizeIs(6));
  EXPECT_TRUE(results[0]);
  ASSERT_FALSE(results[1]);
  EXPECT_EQ(results[1].error().code(), ErrorCode::kPermission);
  EXPECT_THAT(results[1].error().message(),
              AllOf(HasSubstr("s3://bucket/p/no"), HasSubstr("AccessDenied"),
                    Not(HasSubstr("SECRET-VALUE"))));
  EXPECT_TRUE(results[2]) << "what is not there is deleted";
  for (const size_t later : {3, 4, 5}) {
    ASSERT_FALSE(results[later]) << later;
    EXPECT_EQ(results[later].error().code(), ErrorCode::kUnavailable) << later;
  }
  EXPECT_THAT(results[5].error().message(), HasSubstr("did not confirm"));
}

TEST_F(DeletionTest, CountsNothingAsDeletedOfAnAnswerThatWasCut) {
  const std::string whole = Answer(Gone("p/a") + Gone("p/b"));
  script_->Then(200, whole.substr(0, whole.size() - 5)).Then(200, "");
  for (int answer = 0; answer < 2; ++answer) {
    for (const Status& result : Delete({"a", "b"})) {
      ASSERT_FALSE(result);
      EXPECT_EQ(result.error().code(), ErrorCode::kCorrupt);
    }
  }
}

TEST_F(DeletionTest, TakesAnErrorInA200ForOne) {
  script_->Then(200, ErrorXml("InternalError")).Then(200, Answer(Gone("p/a")));
  EXPECT_TRUE(Delete({"a"})[0]);
  script_->Then(200, ErrorXml("AccessDenied")).Then(403, ErrorXml("AccessDenied"));
  EXPECT_EQ(Delete({"a"})[0].error().code(), ErrorCode::kPermission);
}

TEST_F(DeletionTest, GoesOneByOneWhereTheServerKnowsNoOtherWay) {
  for (const auto& [status, body] :
       {std::pair(501, ErrorXml("NotImplemented")), std::pair(405, ErrorXml("MethodNotAllowed")),
        std::pair(501, std::string("what?"))}) {
    store_.reset();
    script_->sent.clear();
    script_->Then(status, body).Then(204).Then(404, ErrorXml("NoSuchKey"));
    for (const Status& result : Delete({"a", "b"})) EXPECT_TRUE(result) << status;
    ASSERT_THAT(script_->sent, SizeIs(3));
    EXPECT_EQ(script_->sent[2].method, "DELETE");
    EXPECT_EQ(script_->sent[2].url, "http://s3/bucket/p/b");
    // It is not asked again.
    script_->Then(403, ErrorXml("AccessDenied"));
    EXPECT_EQ(Delete({"c"})[0].error().code(), ErrorCode::kPermission);
    EXPECT_EQ(script_->sent[3].method, "DELETE");
  }
}

// Some say 400 of what they do not know, and of many other things.
TEST_F(DeletionTest, GoesOneByOneOnceWhereARequestMakesNoSense) {
  script_->Then(400, ErrorXml("MalformedXML")).Then(204).Then(200, Answer(Gone("p/b")));
  EXPECT_TRUE(Delete({"a"})[0]);
  EXPECT_TRUE(Delete({"b"})[0]);
  EXPECT_EQ(script_->sent[2].method, "POST");
}

// A right to delete objects need not be one to delete several, a proxy may let through no body, and
// some servers have no such path.
TEST_F(DeletionTest, GoesOneByOneWhereSeveralTogetherAreRefused) {
  for (const auto& [status, body] :
       {std::pair(403, ErrorXml("AccessDenied")), std::pair(404, std::string()),
        std::pair(404, std::string("404 page not found")),
        std::pair(413, std::string("too large"))}) {
    script_->sent.clear();
    script_->Then(status, body).Then(204).Then(204);
    for (const Status& result : Delete({"a", "b"})) EXPECT_TRUE(result) << status;
    EXPECT_THAT(script_->sent, SizeIs(3)) << status;
  }
}

TEST_F(DeletionTest, ARefusalOfOneAsWellIsOfAllOfThem) {
  script_->Then(403, ErrorXml("AccessDenied")).Then(403, ErrorXml("AccessDenied"));
  for (const Status& result : Delete({"a", "b", "c"})) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), ErrorCode::kPermission);
  }
  EXPECT_THAT(script_->sent, SizeIs(2));
}

TEST_F(DeletionTest, LeavesAServerAloneThatIsBusy) {
  for (int i = 0; i < 20; ++i) script_->Then(503, ErrorXml("SlowDown"));
  for (const Status& result : Delete({"a", "b"}))
    EXPECT_EQ(result.error().code(), ErrorCode::kUnavailable);
  for (const auto& sent : script_->sent) EXPECT_EQ(sent.method, "POST");
}

TEST_F(DeletionTest, AsksForAThousandAtMost) {
  std::vector<std::string> keys;
  std::string first, second;
  for (int i = 0; i < 1001; ++i) {
    keys.push_back("k" + std::to_string(i));
    (i < 1000 ? first : second) += Gone("p/" + keys.back());
  }
  script_->Then(200, Answer(first)).Then(200, Answer(second));
  const auto results = Delete(keys);
  ASSERT_THAT(results, SizeIs(1001));
  for (const Status& result : results) EXPECT_TRUE(result);
  EXPECT_THAT(script_->sent, SizeIs(2));
}

TEST_F(DeletionTest, WhatIsNoKeySpoilsNoOther) {
  script_->Then(200, Answer(Gone("p/a") + Gone("p/b")));
  const auto results = Delete({"a", "tab\there", "", "b"});
  ASSERT_THAT(results, SizeIs(4));
  EXPECT_EQ(results[1].error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(results[2].error().code(), ErrorCode::kInvalid);
  EXPECT_TRUE(results[0] && results[3]);
}

TEST_F(DeletionTest, OfNothingAsksNothing) {
  EXPECT_THAT(Delete({}), SizeIs(0));
  EXPECT_THAT(script_->sent, SizeIs(0));
}

}  // namespace
}  // namespace firetower::store::s3
