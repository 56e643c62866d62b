// SPDX-License-Identifier: Apache-2.0
#include "store/s3/sign/sigv4.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text/hex.h"
#include "base/text/percent.h"
#include "store/s3/sign/digest.h"

namespace firetower::store::s3 {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

// Amazon S3 API Reference, "Signature Calculations for the Authorization Header: Transferring
// Payload in a Single Chunk", examples.
constexpr std::string_view kDate = "20130524T000000Z";
constexpr SigningKey kKey{.access_key_id = "AKIAIOSFODNN7EXAMPLE",
                          .secret_access_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                          .region = "us-east-1"};

net::NamedValues Headers(std::string_view sha256) {
  return {{"Host", "examplebucket.s3.amazonaws.com"},
          {"x-amz-content-sha256", std::string(sha256)},
          {"x-amz-date", std::string(kDate)}};
}

TEST(SigV4, SignsTheGuidesRangedGet) {
  net::NamedValues headers = Headers(kEmptySha256);
  headers.push_back({"Range", "bytes=0-9"});
  const SigningRequest request{.method = "GET", .encoded_path = "/test.txt", .headers = headers};
  EXPECT_EQ(CanonicalRequest(request),
            "GET\n/test.txt\n\nhost:examplebucket.s3.amazonaws.com\nrange:bytes=0-9\n"
            "x-amz-content-sha256:"
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n"
            "x-amz-date:20130524T000000Z\n\nhost;range;x-amz-content-sha256;x-amz-date\n"
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(StringToSign(request, kKey, kDate),
            "AWS4-HMAC-SHA256\n20130524T000000Z\n20130524/us-east-1/s3/aws4_request\n"
            "7344ae5b7ee6c3e7e6b0fe0640412a37625d1fbfff95c48bbb2dc43964946972");
  EXPECT_EQ(Signer().Authorization(request, kKey, kDate),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
            "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(SigV4, SignsTheGuidesPut) {
  const std::string sha256 = Sha256Hex("Welcome to Amazon S3.");
  EXPECT_EQ(sha256, "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072");
  net::NamedValues headers = Headers(sha256);
  headers.push_back({"Date", "Fri, 24 May 2013 00:00:00 GMT"});
  headers.push_back({"x-amz-storage-class", "REDUCED_REDUNDANCY"});
  const std::string path = EncodeUriPath("/test$file.text");
  EXPECT_EQ(path, "/test%24file.text");
  EXPECT_THAT(
      Signer().Authorization(
          {.method = "PUT", .encoded_path = path, .headers = headers, .payload_sha256 = sha256},
          kKey, kDate),
      EndsWith("Signature="
               "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"));
}

TEST(SigV4, SignsTheGuidesQueries) {
  const net::NamedValues headers = Headers(kEmptySha256);
  const QueryParameter lifecycle[] = {{"lifecycle", ""}};
  EXPECT_THAT(
      Signer().Authorization(
          {.method = "GET", .encoded_path = "/", .query = lifecycle, .headers = headers}, kKey,
          kDate),
      EndsWith("Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"));
  const QueryParameter list[] = {{"prefix", "J"}, {"max-keys", "2"}};
  EXPECT_THAT(
      Signer().Authorization(
          {.method = "GET", .encoded_path = "/", .query = list, .headers = headers}, kKey, kDate),
      EndsWith("Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
}

TEST(SigV4, AgreesWithTheSuiteOfAws) {
  const std::string path = FIRETOWER_SOURCE_DIR "/tests/testdata/sigv4/suite.json";
  const nlohmann::json suite = nlohmann::json::parse(*ReadFile(path));
  auto text = [](const nlohmann::json& json) { return json.get<std::string>(); };
  const std::string access_key = text(suite["access_key_id"]);
  const std::string secret_key = text(suite["secret_access_key"]);
  const std::string region = text(suite["region"]);
  const std::string service = text(suite["service"]);
  const SigningKey key{.access_key_id = access_key,
                       .secret_access_key = secret_key,
                       .region = region,
                       .service = service};
  ASSERT_EQ(suite["cases"].size(), 24u);
  for (const nlohmann::json& one : suite["cases"]) {
    net::NamedValues headers;
    for (const auto& item : one["headers"].items()) {
      headers.push_back({item.key(), text(item.value())});
    }
    std::vector<QueryParameter> query;
    for (const auto& item : one["query"].items()) query.push_back({item.key(), text(item.value())});
    const std::string method = text(one["method"]);
    const std::string encoded_path = EncodeUriPath(text(one["path"]));
    const std::string sha256 = Sha256Hex(text(one["body"]));
    EXPECT_EQ(Signer().Authorization({.method = method,
                                      .encoded_path = encoded_path,
                                      .query = query,
                                      .headers = headers,
                                      .payload_sha256 = sha256},
                                     key, "20150830T123600Z"),
              text(one["authorization"]))
        << one["name"];
  }
}

// The derived key is kept; of whom, for what and for which day it was.
TEST(SigV4, OneSignerSignsLikeManyOfThem) {
  const net::NamedValues headers = Headers(kEmptySha256);
  const SigningRequest request{.method = "GET", .encoded_path = "/", .headers = headers};
  SigningKey secret = kKey, user = kKey, region = kKey, service = kKey;
  secret.secret_access_key = "another";
  user.access_key_id = "another";
  region.region = "eu-central-1";
  service.service = "sts";
  Signer one;
  std::set<std::string> different;
  for (const SigningKey& key : {kKey, secret, user, region, service, kKey}) {
    for (const std::string_view date : {kDate, std::string_view("20130525T000000Z")}) {
      const std::string signed_by_one = one.Authorization(request, key, date);
      EXPECT_EQ(signed_by_one, Signer().Authorization(request, key, date));
      different.insert(signed_by_one);
    }
  }
  EXPECT_EQ(different.size(), 10u);
}

TEST(SigV4, WritesItsDateInUtc) {
  EXPECT_EQ(AmzDate(1369353600), kDate);  // date -u -d '2013-05-24 00:00:00' +%s
  EXPECT_EQ(AmzDate(0), "19700101T000000Z");
}

TEST(Uri, EncodesAllButWhatIsUnreserved) {
  EXPECT_EQ(EncodeUriComponent("AZaz09-._~"), "AZaz09-._~");
  EXPECT_EQ(EncodeUriComponent("a/b c+d*'()!\x7F\xC3\xA4"),
            "a%2Fb%20c%2Bd%2A%27%28%29%21%7F%C3%A4");
  EXPECT_EQ(EncodeUriPath("/a b/=c"), "/a%20b/%3Dc");
}

TEST(Uri, DecodesWhatItEncodes) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  EXPECT_EQ(DecodePercent(EncodeUriComponent(all)), all);
  EXPECT_EQ(DecodePercent("a+b%2b"), "a+b+");
  EXPECT_EQ(DecodePercent("a+b%2B", true), "a b+");
  for (const char* bad : {"%", "%4", "%g1", "%1g", "a%"}) EXPECT_FALSE(DecodePercent(bad)) << bad;
}

// RFC 4231 §4.2 and §4.3; RFC 1864's and RFC 3720's own examples.
TEST(Digest, AgreesWithPublishedExamples) {
  EXPECT_EQ(ToHex(AsText(HmacSha256(std::string(20, '\x0b'), "Hi There"))),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(ToHex(AsText(HmacSha256("Jefe", "what do ya want for nothing?"))),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(Sha256Hex(""), kEmptySha256);
  EXPECT_EQ(Md5Base64(""), "1B2M2Y8AsgTpgAmY7PhCfg==");
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(Crc32c(std::string(32, '\xFF')), 0x62A8AB43u);
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(Crc32cBase64("123456789"), "4waSgw==");
}

TEST(SigV4, NamesKeyScopeAndHeaders) {
  const net::NamedValues headers = {{"B", "  2   3 "}, {"a", "1"}, {"b", "4"}};
  const SigningRequest request{.method = "GET", .encoded_path = "/", .headers = headers};
  EXPECT_THAT(CanonicalRequest(request), StartsWith("GET\n/\n\na:1\nb:2 3,4\n\na;b\n"));
}

}  // namespace
}  // namespace firetower::store::s3
