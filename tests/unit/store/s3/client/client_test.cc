// SPDX-License-Identifier: Apache-2.0
#include "store/s3/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/s3/scripted_client.h"

namespace firetower::store::s3 {
namespace {

using ::firetower::testing::ErrorXml;
using ::firetower::testing::FakeHttpClient;
using ::firetower::testing::FakePause;
using ::firetower::testing::FixedCredentials;
using ::firetower::testing::Script;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Not;
using ::testing::SizeIs;

constexpr int64_t kWall = 1'763'700'000 * kNsPerSecond;  // Fri, 21 Nov 2025 04:40:00 GMT

class ClientTest : public ::testing::Test {
 protected:
  Client& client() {
    if (client_ == nullptr) {
      Client::Parts parts{.config = config_};
      parts.transport = std::make_unique<FakeHttpClient>(script_);
      parts.credentials = std::make_unique<FixedCredentials>(session_token_, &fetches_);
      parts.clock = &clock_;
      parts.pause = &pause_;
      client_ = std::make_unique<Client>(std::move(parts));
    }
    return *client_;
  }
  Result<net::HttpResponse> Put(const CallLimits& limits = {}) {
    return client().Send(
        {.method = "PUT", .key = "a/b.zip", .body = "hello", .body_is_object = true}, limits);
  }

  Config config_{
      .bucket = "bucket", .prefix = "p/", .endpoint = "http://s3:9000", .path_style = true};
  std::string session_token_;
  int fetches_ = 0;
  std::shared_ptr<Script> script_ = std::make_shared<Script>();
  FakeClock clock_{1'000 * kNsPerSecond, kWall};
  FakePause pause_{clock_};

 private:
  std::unique_ptr<Client> client_;
};

// A gateway that quotes what it was sent, and a long message that is cut in the middle of it.
TEST_F(ClientTest, RepeatsNoSecretThatAServerQuotes) {
  session_token_ = "FwoGZXIvYXdzEBYaDEXAMPLEtoken+with/all==";
  const std::string secret = "SECRET-VALUE";
  const std::string quoted = "key:" + secret + std::string(200, ' ') +
                             "x-amz-security-token:" + session_token_ + " twice " + session_token_;
  for (const int status : {403, 400, 200}) {
    script_->Then(status,
                  "<Error><Code>InvalidRequest</Code><Message>" + quoted + "</Message></Error>");
    const auto listed = client().Send({.on_bucket = true, .answers_xml = true}, {});
    ASSERT_FALSE(listed) << status;
    const std::string& told = listed.error().message();
    EXPECT_THAT(told, HasSubstr("x-amz-security-token:[secret]")) << status;
    EXPECT_THAT(told, AllOf(HasSubstr("key:[secret]"), Not(HasSubstr(secret)),
                            Not(HasSubstr(session_token_.substr(0, 12)))))
        << status;
  }
}

TEST_F(ClientTest, RepeatsNoSecretThatAServerQuotesInXmlsWay) {
  session_token_ = "FwoG+with/all==";
  const std::string quoted = "token FwoG&#43;with&#x2f;all=&#61; key SECRET&#x2D;VALUE &#43; end";
  script_->Then(403, "<Error><Code>InvalidRequest</Code><Message>" + quoted + "</Message></Error>");
  const auto listed = client().Send({.on_bucket = true, .answers_xml = true}, {});
  ASSERT_FALSE(listed);
  EXPECT_THAT(listed.error().message(), HasSubstr("token [secret] key [secret] + end"));
}

TEST_F(ClientTest, SignsWhatItSends) {
  session_token_ = "TOKEN";
  script_->Then(200);
  ASSERT_TRUE(Put());
  const auto& sent = script_->sent.at(0);
  EXPECT_EQ(sent.method, "PUT");
  EXPECT_EQ(sent.url, "http://s3:9000/bucket/p/a/b.zip");
  EXPECT_EQ(sent.Header("Host"), "s3:9000");
  EXPECT_EQ(sent.Header("x-amz-date"), "20251121T044000Z");
  EXPECT_EQ(sent.Header("x-amz-security-token"), "TOKEN");
  // sha256sum of "hello"
  EXPECT_EQ(sent.Header("x-amz-content-sha256"),
            "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
  EXPECT_THAT(sent.Header("Authorization"),
              AllOf(HasSubstr("Credential=AKID/20251121/us-east-1/s3/aws4_request"),
                    HasSubstr("SignedHeaders=host;x-amz-content-sha256;x-amz-date;"
                              "x-amz-security-token"),
                    Not(HasSubstr("accept-encoding"))));
  EXPECT_EQ(sent.Header("Content-MD5"), "");
  for (const auto& header : sent.headers) EXPECT_THAT(header.second, Not(HasSubstr("SECRET")));
}

TEST_F(ClientTest, TriesAgainWhatMayGoThrough) {
  script_->Then(503, ErrorXml("SlowDown")).ThenFails(ErrorCode::kUnavailable);
  script_->Then(500, "not XML").Then(400, ErrorXml("RequestTimeout")).Then(200);
  ASSERT_TRUE(Put());
  EXPECT_THAT(script_->sent, SizeIs(5));
  EXPECT_THAT(pause_.waits_ns, SizeIs(4));
  // Full jitter: the nth wait is below 100 ms times 2^(n-1).
  for (size_t i = 0; i < pause_.waits_ns.size(); ++i) {
    EXPECT_LE(pause_.waits_ns[i], (100 * kNsPerMs) << i);
  }
  EXPECT_EQ(client().counts().requests, 5u);
  EXPECT_EQ(client().counts().retries, 4u);
}

TEST_F(ClientTest, EndsAfterItsTries) {
  for (int i = 0; i < 8; ++i) script_->Then(503, ErrorXml("SlowDown"));
  const auto answer = Put();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(answer.error().message(),
              AllOf(HasSubstr("s3://bucket/p/a/b.zip: PUT: 503 SlowDown"), HasSubstr("8 tries")));
}

TEST_F(ClientTest, WaitsAsLongAsItIsTold) {
  script_->Then(503, ErrorXml("SlowDown"), {{"retry-after", "7"}});
  script_->Then(503, "", {{"retry-after", "Fri, 21 Nov 2025 04:40:27 GMT"}}).Then(200);
  ASSERT_TRUE(Put());
  ASSERT_THAT(pause_.waits_ns, SizeIs(2));
  EXPECT_THAT(pause_.waits_ns[0],
              AllOf(Ge(7 * kNsPerSecond), Le(7 * kNsPerSecond + 100 * kNsPerMs)));
  // 20 seconds after the first wait, or a little less.
  EXPECT_THAT(pause_.waits_ns[1],
              AllOf(Ge(19 * kNsPerSecond), Le(20 * kNsPerSecond + 200 * kNsPerMs)));
}

TEST_F(ClientTest, FailsAtOnceWhenItIsToldToWaitLongerThanItMay) {
  script_->Then(503, ErrorXml("SlowDown"), {{"retry-after", "120"}});
  const auto answer = Put();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(pause_.waits_ns, SizeIs(0));
  EXPECT_THAT(answer.error().message(), HasSubstr("no time is left"));
}

TEST_F(ClientTest, StopsTryingWhenNobodyWaits) {
  std::stop_source stop;
  pause_.on_pause = [&] { stop.request_stop(); };
  script_->Then(503, ErrorXml("SlowDown"));
  const auto answer = Put({.stop = stop.get_token()});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(answer.error().message(), HasSubstr("cancelled"));
  EXPECT_THAT(script_->sent, SizeIs(1));
}

TEST_F(ClientTest, SharesABudgetOfTriesBetweenCalls) {
  // 500 tokens, 5 a try: after a hundred retries in vain nothing is tried again.
  script_->on_send = [&] { script_->Then(503, ErrorXml("SlowDown")); };
  script_->Then(503, ErrorXml("SlowDown"));
  for (int i = 0; i < 40; ++i) ASSERT_FALSE(Put());
  EXPECT_EQ(client().counts().retries, 100u);
  const auto answer = Put();
  EXPECT_THAT(answer.error().message(), HasSubstr("too much has failed lately"));
  EXPECT_EQ(client().counts().requests, 41u + 100u);
}

TEST_F(ClientTest, NeverTriesARefusedKeyAgain) {
  for (const char* code : {"AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch"}) {
    script_->Then(403, ErrorXml(code));
    const auto answer = Put();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code(), ErrorCode::kPermission);
    EXPECT_THAT(answer.error().message(), AllOf(HasSubstr(code), HasSubstr("the test")));
  }
  EXPECT_THAT(script_->sent, SizeIs(3));
  EXPECT_EQ(fetches_, 1);
}

TEST_F(ClientTest, TakesNewCredentialsOnceWhenTheOldOnesExpired) {
  script_->Then(400, ErrorXml("ExpiredToken")).Then(200);
  ASSERT_TRUE(Put());
  EXPECT_EQ(fetches_, 2);
  script_->Then(400, ErrorXml("ExpiredToken")).Then(400, ErrorXml("ExpiredToken"));
  const auto answer = Put();
  EXPECT_EQ(answer.error().code(), ErrorCode::kPermission);
  EXPECT_EQ(fetches_, 3);
}

TEST_F(ClientTest, LearnsTheRegionFromARedirect) {
  config_.endpoint = "";
  config_.path_style = false;
  script_->Then(301, ErrorXml("PermanentRedirect"), {{"x-amz-bucket-region", "eu-west-1"}});
  script_->Then(200).Then(200);
  ASSERT_TRUE(Put());
  EXPECT_EQ(script_->sent[0].url, "https://bucket.s3.us-east-1.amazonaws.com/p/a/b.zip");
  EXPECT_EQ(script_->sent[1].url, "https://bucket.s3.eu-west-1.amazonaws.com/p/a/b.zip");
  EXPECT_THAT(script_->sent[1].Header("Authorization"), HasSubstr("/eu-west-1/s3/"));
  ASSERT_TRUE(Put());
  EXPECT_THAT(script_->sent, SizeIs(3));  // it remembers
}

TEST_F(ClientTest, LearnsTheRegionFromAnError) {
  script_->Then(400, ErrorXml("AuthorizationHeaderMalformed", "<Region>eu-central-1</Region>"));
  script_->Then(200);
  ASSERT_TRUE(Put());
  EXPECT_THAT(script_->sent[1].Header("Authorization"), HasSubstr("/eu-central-1/s3/"));
}

TEST_F(ClientTest, DoesNotGoInCircles) {
  script_->Then(301, "", {{"x-amz-bucket-region", "eu-west-1"}});
  script_->Then(301, "", {{"x-amz-bucket-region", "eu-west-1"}});
  EXPECT_EQ(Put().error().code(), ErrorCode::kInvalid);
  // Back and forth between two.
  for (int i = 0; i < 5; ++i) {
    script_->Then(301, "", {{"x-amz-bucket-region", i % 2 == 0 ? "us-east-1" : "eu-west-1"}});
  }
  EXPECT_EQ(Put().error().code(), ErrorCode::kInvalid);
}

TEST_F(ClientTest, IgnoresARegionThatIsNone) {
  script_->Then(301, ErrorXml("PermanentRedirect", "<Region>../../x</Region>"));
  EXPECT_EQ(Put().error().code(), ErrorCode::kInvalid);
}

TEST_F(ClientTest, CorrectsAWrongClockWhenTheServerSaysSo) {
  // An hour behind the server.
  script_->Then(403, ErrorXml("RequestTimeTooSkewed"), {{"date", "Fri, 21 Nov 2025 05:40:00 GMT"}});
  script_->Then(200).Then(200, "", {{"date", "Fri, 21 Nov 2025 09:00:00 GMT"}}).Then(200);
  ASSERT_TRUE(Put());
  EXPECT_EQ(script_->sent[1].Header("x-amz-date"), "20251121T054000Z");
  // Only then: a date of its own is nothing to go by.
  ASSERT_TRUE(Put());
  ASSERT_TRUE(Put());
  EXPECT_EQ(script_->sent[3].Header("x-amz-date"), "20251121T054000Z");
}

TEST_F(ClientTest, TellsTheSkewOfTheLastAnswerThatHasADate) {
  EXPECT_EQ(client().server_skew_ns(), 0) << "nothing was asked yet";
  // 04:40:00 here. A skew that the server puts up with is told as well, and ends with the next
  // answer.
  script_->Then(200, "", {{"date", "Fri, 21 Nov 2025 04:45:00 GMT"}}).Then(200);
  script_->Then(200, "", {{"date", "Fri, 21 Nov 2025 04:40:00 GMT"}});
  script_->Then(404, ErrorXml("NoSuchBucket"), {{"date", "Fri, 21 Nov 2025 04:29:59 GMT"}});
  ASSERT_TRUE(Put());
  EXPECT_EQ(client().server_skew_ns(), 300 * kNsPerSecond);
  ASSERT_TRUE(Put());
  EXPECT_EQ(client().server_skew_ns(), 300 * kNsPerSecond) << "no date, nothing new";
  ASSERT_TRUE(Put());
  EXPECT_EQ(client().server_skew_ns(), 0);
  EXPECT_FALSE(Put());
  EXPECT_EQ(client().server_skew_ns(), -600 * kNsPerSecond) << "04:29:59 lasts until 04:30:00";
  clock_.Advance(600 * kNsPerSecond);
  EXPECT_EQ(client().server_skew_ns(), 0) << "a clock may have been set since";
}

TEST_F(ClientTest, GivesUpOnAClockThatIsRight) {
  script_->Then(403, ErrorXml("RequestTimeTooSkewed"), {{"date", "Fri, 21 Nov 2025 04:40:01 GMT"}});
  EXPECT_EQ(Put().error().code(), ErrorCode::kInvalid);
}

TEST_F(ClientTest, SendsAChecksumWhereABucketInsists) {
  const std::string xml =
      "<Error><Code>InvalidRequest</Code><Message>Content-MD5 OR x-amz-checksum- HTTP header is "
      "required for Put Object requests with Object Lock parameters</Message></Error>";
  script_->Then(400, xml).Then(200).Then(200);
  ASSERT_TRUE(Put());
  // printf hello | openssl md5 -binary | base64
  EXPECT_EQ(script_->sent[1].Header("Content-MD5"), "XUFAKrxLKna5cZ2REBfFkg==");
  ASSERT_TRUE(Put());
  EXPECT_EQ(script_->sent[2].Header("Content-MD5"), "XUFAKrxLKna5cZ2REBfFkg==");
}

TEST_F(ClientTest, SendsTheChecksumItIsTold) {
  config_.checksum = Checksum::kCrc32c;
  script_->Then(200);
  ASSERT_TRUE(Put());
  EXPECT_EQ(script_->sent[0].Header("x-amz-checksum-crc32c"), "mnG7TA==");
  EXPECT_EQ(script_->sent[0].Header("Content-MD5"), "");
}

TEST_F(ClientTest, TakesA200WithAnErrorForAnError) {
  const Call complete{.method = "POST", .key = "a", .answers_xml = true};
  script_->Then(200, "\n  " + ErrorXml("InternalError"));
  script_->Then(200, "<CompleteMultipartUploadResult/>");
  ASSERT_TRUE(client().Send(complete, {}));
  EXPECT_THAT(script_->sent, SizeIs(2));
  script_->Then(200, ErrorXml("AccessDenied"));
  EXPECT_EQ(client().Send(complete, {}).error().code(), ErrorCode::kPermission);
}

TEST_F(ClientTest, PassesOnWhatIsNotWorthAnotherTry) {
  script_->ThenFails(ErrorCode::kPermission);  // a certificate
  EXPECT_EQ(Put().error().code(), ErrorCode::kPermission);
  EXPECT_THAT(script_->sent, SizeIs(1));
}

struct Meant {
  int status;
  const char* s3_code;
  ErrorCode code;
};

TEST_F(ClientTest, SaysWhatACallerCanDo) {
  for (const Meant& meant :
       {Meant{404, "NoSuchKey", ErrorCode::kNotFound},
        Meant{404, "NoSuchBucket", ErrorCode::kInvalid}, Meant{404, "", ErrorCode::kNotFound},
        Meant{404, "NoSuchVersion", ErrorCode::kNotFound},
        // versitygw's for a key that it does not know.
        Meant{404, "XAdminUserNotFound", ErrorCode::kPermission},
        Meant{404, "NoSuchAnything", ErrorCode::kInvalid}, Meant{403, "", ErrorCode::kPermission},
        Meant{401, "", ErrorCode::kPermission},
        Meant{501, "NotImplemented", ErrorCode::kUnsupported},
        Meant{507, "XMinioStorageFull", ErrorCode::kExhausted},
        Meant{507, "", ErrorCode::kExhausted}, Meant{400, "InvalidRange", ErrorCode::kCorrupt},
        Meant{400, "", ErrorCode::kInvalid}, Meant{418, "", ErrorCode::kInvalid}}) {
    script_->Then(meant.status, *meant.s3_code == '\0' ? "" : ErrorXml(meant.s3_code));
    const auto answer = Put();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code(), meant.code) << meant.status << ' ' << meant.s3_code;
    EXPECT_THAT(answer.error().message(), HasSubstr(std::to_string(meant.status)));
  }
}

// Taken for an object that is gone it would be an answer, to a delete even a good one.
TEST_F(ClientTest, AWebServersPageIsNoAnswerAboutAnObject) {
  script_->Then(404, "<!DOCTYPE HTML><html><body><h1>404 Not Found</h1></body></html>");
  const auto answer = Put();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(answer.error().message(), AllOf(HasSubstr("404"), HasSubstr("correct endpoint")));
  EXPECT_THAT(script_->sent, SizeIs(1));
}

TEST_F(ClientTest, NamesTheOptionOfAKeyThatIsNotThere) {
  for (const auto& [status, code] :
       {std::pair(404, "kms:KeyNotFound"), std::pair(400, "KMS.NotFoundException"),
        std::pair(400, "KMS.DisabledException")}) {
    script_->Then(status, ErrorXml(code));
    const auto answer = Put();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code(), ErrorCode::kInvalid) << code;
    EXPECT_THAT(answer.error().message(), HasSubstr("sse-kms-key-id")) << code;
  }
}

}  // namespace
}  // namespace firetower::store::s3
