// SPDX-License-Identifier: Apache-2.0
#include "store/s3/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "store/s3/endpoint.h"

namespace firetower::store::s3 {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Environment Variables(std::map<std::string, std::string> variables = {}) {
  return [variables = std::move(variables)](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  };
}

Config Parsed(std::string_view url, const Environment& environment = Variables()) {
  Result<Config> config = ParseUrl(url, environment);
  EXPECT_TRUE(config) << url << ": " << config.error().message();
  return config ? *std::move(config) : Config{};
}

std::string Refusal(std::string_view url) {
  Result<Config> config = ParseUrl(url, Variables());
  EXPECT_FALSE(config) << url;
  if (config) return "";
  EXPECT_EQ(config.error().code(), ErrorCode::kInvalid);
  return config.error().message();
}

TEST(S3Url, ReadsEveryOption) {
  const Config config = Parsed(
      "s3://bucket/a/b/?endpoint=https://minio.shop:9000/&region=eu-west-1&path-style=false"
      "&checksum=crc32c&sse=aws:kms&sse-kms-key-id=arn%3Aaws%3Akms%3Akey&timeout=2m&part-size=16Mi"
      "&connect-timeout=3s&stall-timeout=40s&ca-file=/etc/ca.pem&proxy=http://proxy:3128"
      "&credentials=file&credentials-file=/etc/keys&profile=team&access-key-file=/k/a"
      "&secret-key-file=/k/s&session-token-file=/k/t&sts-endpoint=http://127.0.0.1:5000");
  EXPECT_EQ(config.bucket, "bucket");
  EXPECT_EQ(config.prefix, "a/b/");
  EXPECT_EQ(config.endpoint, "https://minio.shop:9000");
  EXPECT_EQ(config.region, "eu-west-1");
  EXPECT_FALSE(config.path_style);
  EXPECT_EQ(config.checksum, Checksum::kCrc32c);
  EXPECT_EQ(config.sse, "aws:kms");
  EXPECT_EQ(config.sse_kms_key_id, "arn:aws:kms:key");
  EXPECT_EQ(config.timeout_seconds, 120);
  EXPECT_EQ(config.part_bytes, uint64_t{16} << 20);
  EXPECT_EQ(config.transport.connect_timeout_seconds, 3);
  EXPECT_EQ(config.transport.stall_seconds, 40);
  EXPECT_EQ(config.transport.ca_file, "/etc/ca.pem");
  EXPECT_EQ(config.transport.proxy, "http://proxy:3128");
  EXPECT_EQ(config.credentials.source, "file");
  EXPECT_EQ(config.credentials.file, "/etc/keys");
  EXPECT_EQ(config.credentials.profile, "team");
  EXPECT_EQ(config.credentials.key_files.access_key, "/k/a");
  EXPECT_EQ(config.credentials.key_files.secret_key, "/k/s");
  EXPECT_EQ(config.credentials.key_files.session_token, "/k/t");
  EXPECT_EQ(config.credentials.sts_endpoint, "http://127.0.0.1:5000");
  EXPECT_EQ(config.credentials.region, "eu-west-1");
}

TEST(S3Url, IsFineWithABucketAlone) {
  const Config config = Parsed("s3://bucket");
  EXPECT_EQ(config.prefix, "");
  EXPECT_EQ(config.region, "");
  EXPECT_EQ(config.checksum, Checksum::kAuto);
  EXPECT_FALSE(config.path_style);
}

TEST(S3Url, TakesTheEnvironmentWhereItSaysNothing) {
  const Environment environment = Variables({{"AWS_REGION", "eu-central-1"},
                                             {"AWS_DEFAULT_REGION", "us-west-2"},
                                             {"AWS_ENDPOINT_URL_S3", "http://10.0.0.1:9000"},
                                             {"AWS_ENDPOINT_URL", "http://10.0.0.2"},
                                             {"AWS_CA_BUNDLE", "/etc/ssl/own.pem"}});
  const Config config = Parsed("s3://bucket", environment);
  EXPECT_EQ(config.region, "eu-central-1");
  EXPECT_EQ(config.endpoint, "http://10.0.0.1:9000");
  EXPECT_EQ(config.transport.ca_file, "/etc/ssl/own.pem");
  EXPECT_EQ(Parsed("s3://bucket?region=ap-south-1", environment).region, "ap-south-1");
  EXPECT_EQ(Parsed("s3://bucket", Variables({{"AWS_DEFAULT_REGION", "us-west-2"}})).region,
            "us-west-2");
}

TEST(S3Url, SaysWhatIsWrong) {
  EXPECT_THAT(Refusal("s3://"), HasSubstr("bucket"));
  EXPECT_THAT(Refusal("s3://ab"), HasSubstr("3 to 63"));
  EXPECT_THAT(Refusal("s3://a..b/x"), HasSubstr("bucket"));
  EXPECT_THAT(Refusal("s3://user:key@bucket/x"), HasSubstr("bucket"));
  EXPECT_THAT(Refusal("s3://bucket/../x"), HasSubstr("prefix"));
  EXPECT_THAT(Refusal("s3://bucket#x"), HasSubstr("fragment"));
  EXPECT_THAT(Refusal("s3://bucket?regoin=x"), HasSubstr("allowed are access-key-file"));
  EXPECT_THAT(Refusal("s3://bucket?region="), HasSubstr("empty"));
  EXPECT_THAT(Refusal("s3://bucket?region=%zz"), HasSubstr("bad %"));
  EXPECT_THAT(Refusal("s3://bucket?endpoint=minio:9000"), HasSubstr("https://"));
  EXPECT_THAT(Refusal("s3://bucket?endpoint=http://h/path"), HasSubstr("without a path"));
  EXPECT_THAT(Refusal("s3://bucket?timeout=0s"), HasSubstr("1s to 1h"));
  EXPECT_THAT(Refusal("s3://bucket?path-style=yes"), HasSubstr("auto, true, false"));
  EXPECT_THAT(Refusal("s3://bucket?ca-file=ca.pem"), HasSubstr("absolute"));
  EXPECT_THAT(Refusal("s3://bucket?sse=AES"), HasSubstr("AES256"));
  EXPECT_THAT(Refusal("s3://bucket?sse=AES256&sse-kms-key-id=x"), HasSubstr("aws:kms"));
  EXPECT_THAT(Refusal("s3://bucket?part-size=1Mi"), HasSubstr("5Mi"));
  EXPECT_THAT(Refusal("s3://bucket?region=a%0d%0ab"), HasSubstr("printable"));
}

TEST(S3Url, NeverRepeatsWhatMayBeASecret) {
  for (const char* url : {"s3://bucket?endpoint=https://user:hunter2@host",
                          "s3://bucket?proxy=http://user:hunter2@host",
                          "s3://bucket?secret-access-key=hunter2", "s3://user:hunter2@bucket"}) {
    EXPECT_THAT(Refusal(url), Not(HasSubstr("hunter2"))) << url;
  }
}

TEST(Endpoint, IsVirtualHostedOnAws) {
  const Target target = TargetOf(Parsed("s3://bucket/p"), "eu-west-1", "p/a b");
  EXPECT_EQ(target.host, "bucket.s3.eu-west-1.amazonaws.com");
  EXPECT_EQ(target.Url(), "https://bucket.s3.eu-west-1.amazonaws.com/p/a%20b");
  EXPECT_EQ(TargetOf(Parsed("s3://bucket"), "cn-north-1", "").Url(),
            "https://bucket.s3.cn-north-1.amazonaws.com.cn/");
}

TEST(Endpoint, IsPathStyleElsewhereAndForDottedBuckets) {
  const Target own = TargetOf(Parsed("s3://bucket?endpoint=http://127.0.0.1:9000"), "x", "a/b");
  EXPECT_EQ(own.host, "127.0.0.1:9000");
  EXPECT_EQ(own.Url(), "http://127.0.0.1:9000/bucket/a/b");
  EXPECT_EQ(TargetOf(Parsed("s3://bucket?endpoint=http://127.0.0.1:9000"), "x", "").Url(),
            "http://127.0.0.1:9000/bucket");
  EXPECT_EQ(TargetOf(Parsed("s3://a.b.c"), "eu-west-1", "k").Url(),
            "https://s3.eu-west-1.amazonaws.com/a.b.c/k");
  EXPECT_EQ(
      TargetOf(Parsed("s3://bucket?endpoint=https://s3.host&path-style=false"), "x", "k").Url(),
      "https://bucket.s3.host/k");
}

}  // namespace
}  // namespace firetower::store::s3
