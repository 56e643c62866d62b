// SPDX-License-Identifier: Apache-2.0
#include "store/s3/credentials/chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "store/s3/credentials/container.h"
#include "tests/support/command.h"
#include "tests/support/s3/scripted_client.h"

namespace firetower::store::s3 {
namespace {

using ::firetower::testing::ErrorXml;
using ::firetower::testing::FakeHttpClient;
using ::firetower::testing::ScratchFolder;
using ::firetower::testing::Script;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kRoleXml =
    "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>"
    "<SessionToken>ST</SessionToken><SecretAccessKey>SK</SecretAccessKey>"
    "<Expiration>2025-11-21T05:40:00Z</Expiration><AccessKeyId>AK</AccessKeyId></Credentials>"
    "</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>";
constexpr const char* kTokenJson =
    R"({"Code":"Success","AccessKeyId":"AK","SecretAccessKey":"SK","Token":"ST",)"
    R"("Expiration":"2025-11-21T05:40:00Z"})";
constexpr int64_t kWall = 1'763'700'000 * kNsPerSecond;  // 2025-11-21T04:40:00Z
constexpr int64_t kHourNs = 3600 * kNsPerSecond;

class ChainTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = folder_.path() + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
    return path;
  }
  Result<std::unique_ptr<CredentialsSource>> Choose() {
    const Environment environment = [this](const char* name) {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::string() : found->second;
    };
    return ChooseSource(options_, environment, transport_, clock_);
  }
  std::string Chosen() {
    auto source = Choose();
    return source ? (*source)->Describe() : source.error().message();
  }
  Result<Credentials> Fetched() {
    ASSIGN_OR_RETURN(const auto source, Choose());
    return source->Fetch({});
  }

  ScratchFolder folder_;
  CredentialsOptions options_;
  std::map<std::string, std::string> variables_;
  std::shared_ptr<Script> script_ = std::make_shared<Script>();
  FakeHttpClient transport_{script_};
  FakeClock clock_{0, kWall};
};

TEST_F(ChainTest, TakesTheMostSpecificThatIsConfigured) {
  EXPECT_THAT(Chosen(), HasSubstr("instance"));
  variables_["HOME"] = folder_.path();
  EXPECT_THAT(Chosen(), HasSubstr("instance"));
  Write(".aws/credentials", "[default]\n");
  EXPECT_THAT(Chosen(), HasSubstr("profile default of " + folder_.path()));
  variables_["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] = "/role";
  EXPECT_THAT(Chosen(), HasSubstr("http://169.254.170.2/role"));
  variables_["AWS_ROLE_ARN"] = "arn:r";
  variables_["AWS_WEB_IDENTITY_TOKEN_FILE"] = "/token";
  EXPECT_THAT(Chosen(), HasSubstr("web identity (arn:r at https://sts.amazonaws.com)"));
  variables_["AWS_PROFILE"] = "team";
  EXPECT_THAT(Chosen(), HasSubstr("profile team"));
  variables_["AWS_ACCESS_KEY_ID"] = "AK";
  EXPECT_THAT(Chosen(), HasSubstr("the environment"));
  options_.file = "/etc/keys";
  EXPECT_THAT(Chosen(), HasSubstr("profile team of /etc/keys"));
  options_.key_files = {.access_key = "/k/a", .secret_key = "/k/s"};
  EXPECT_THAT(Chosen(), HasSubstr("/k/a"));
  options_.source = "container";
  EXPECT_THAT(Chosen(), HasSubstr("container"));
}

// A wrong secret key is looked for in the file that holds it.
TEST_F(ChainTest, NamesBothFilesOfAPairOfKeys) {
  options_.key_files.access_key = Write("ak", "AK");
  options_.key_files.secret_key = Write("sk", "SK");
  EXPECT_EQ(Chosen(), "the files " + folder_.path() + "/ak (access key) and " + folder_.path() +
                          "/sk (secret key)");
}

TEST_F(ChainTest, NeverFallsThroughToABroaderIdentity) {
  // Half of each is configured, and behind each stands an instance with a role.
  variables_["AWS_ROLE_ARN"] = "arn:r";
  EXPECT_THAT(Chosen(), HasSubstr("AWS_WEB_IDENTITY_TOKEN_FILE"));
  variables_["AWS_WEB_IDENTITY_TOKEN_FILE"] = folder_.path() + "/absent";
  EXPECT_EQ(Fetched().error().code(), ErrorCode::kNotFound);
  Write("absent", "token");
  script_->Then(403,
                "<ErrorResponse><Error><Code>AccessDenied</Code><Message>Not authorized: &#116;oken"
                "</Message></Error></ErrorResponse>");
  const auto refused = Fetched();
  EXPECT_EQ(refused.error().code(), ErrorCode::kPermission);
  EXPECT_THAT(refused.error().message(),
              HasSubstr("Not authorized: [secret]; check the role's trust policy"));
  variables_["AWS_SECRET_ACCESS_KEY"] = "SK";
  EXPECT_THAT(Fetched().error().message(), HasSubstr("AWS_ACCESS_KEY_ID is not set"));
  variables_ = {{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://evil.example/x"}};
  EXPECT_THAT(Chosen(), HasSubstr("allowed are https"));
  EXPECT_THAT(script_->sent, SizeIs(1));
}

TEST_F(ChainTest, SaysWhenNothingIsConfigured) {
  variables_["AWS_EC2_METADATA_DISABLED"] = "true";
  EXPECT_THAT(Chosen(), HasSubstr("no S3 credentials"));
}

TEST_F(ChainTest, ReadsTheEnvironment) {
  variables_ = {
      {"AWS_ACCESS_KEY_ID", "AK"}, {"AWS_SECRET_ACCESS_KEY", "SK"}, {"AWS_SESSION_TOKEN", "ST"}};
  const auto credentials = Fetched();
  ASSERT_TRUE(credentials);
  EXPECT_EQ(credentials->access_key_id, "AK");
  EXPECT_EQ(credentials->secret_access_key, "SK");
  EXPECT_EQ(credentials->session_token, "ST");
  EXPECT_EQ(credentials->refresh_ns, Credentials::kNever);
}

TEST_F(ChainTest, ReadsFilesAnewSoThatARotatedSecretCounts) {
  options_.key_files = {.access_key = Write("a", "AK\n"), .secret_key = Write("s", " SK \r\n")};
  EXPECT_EQ(Fetched()->secret_access_key, "SK");
  EXPECT_EQ(Fetched()->refresh_ns, kWall + 60 * kNsPerSecond);
  Write("s", "NEW");
  EXPECT_EQ(Fetched()->secret_access_key, "NEW");
  Write("s", "two\nlines");
  const auto refused = Fetched();
  EXPECT_EQ(refused.error().code(), ErrorCode::kInvalid);
  EXPECT_THAT(refused.error().message(), AllOf(HasSubstr("line break"), Not(HasSubstr("two"))));
  options_.key_files.secret_key = "";
  EXPECT_THAT(Chosen(), HasSubstr("needed both"));
}

TEST_F(ChainTest, ReadsASharedCredentialsFile) {
  options_.file = Write("credentials",
                        "# a comment\n[default]\naws_access_key_id = AK\n"
                        "aws_secret_access_key=SK=with=equals\n\n[profile team]\n"
                        "; another\naws_access_key_id=AK2\naws_secret_access_key=SK2\n"
                        "aws_session_token = ST2\n[broken]\nrole_arn = arn:r\n");
  EXPECT_EQ(Fetched()->secret_access_key, "SK=with=equals");
  options_.profile = "team";
  EXPECT_EQ(Fetched()->session_token, "ST2");
  options_.profile = "broken";
  EXPECT_THAT(Fetched().error().message(), HasSubstr("role_arn"));
  options_.profile = "absent";
  EXPECT_EQ(Fetched().error().code(), ErrorCode::kNotFound);
}

TEST_F(ChainTest, AsksStsWithAFreshToken) {
  options_.region = "eu-west-1";
  variables_ = {{"AWS_ROLE_ARN", "arn:aws:iam::1:role/r"},
                {"AWS_WEB_IDENTITY_TOKEN_FILE", Write("token", "first\n")}};
  script_->Then(200, kRoleXml).Then(200, kRoleXml);
  const auto source = Choose();
  ASSERT_TRUE(source);
  const auto credentials = (*source)->Fetch({});
  ASSERT_TRUE(credentials) << credentials.error().message();
  EXPECT_EQ(credentials->access_key_id, "AK");
  EXPECT_EQ(credentials->session_token, "ST");
  EXPECT_EQ(credentials->expires_ns, kWall + kHourNs);
  EXPECT_EQ(credentials->refresh_ns, kWall + kHourNs - 300 * kNsPerSecond);
  EXPECT_EQ(script_->sent[0].url, "https://sts.eu-west-1.amazonaws.com/");
  EXPECT_THAT(script_->sent[0].body,
              AllOf(HasSubstr("Action=AssumeRoleWithWebIdentity"), HasSubstr("Version=2011-06-15"),
                    HasSubstr("RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr"),
                    HasSubstr("WebIdentityToken=first")));
  Write("token", "second");
  ASSERT_TRUE((*source)->Fetch({}));
  EXPECT_THAT(script_->sent[1].body, HasSubstr("WebIdentityToken=second"));
}

TEST_F(ChainTest, AsksTheContainerEndpointWithItsToken) {
  variables_ = {{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.170.23/v1/credentials"},
                {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", Write("token", "pod-token\n")}};
  script_->Then(200, kTokenJson).Then(200, "{}").Then(404);
  const auto credentials = Fetched();
  ASSERT_TRUE(credentials) << credentials.error().message();
  EXPECT_EQ(credentials->secret_access_key, "SK");
  EXPECT_EQ(credentials->expires_ns, kWall + kHourNs);
  EXPECT_EQ(script_->sent[0].Header("Authorization"), "pod-token");
  EXPECT_THAT(Fetched().error().message(), HasSubstr("no access key id"));
  EXPECT_EQ(Fetched().error().code(), ErrorCode::kPermission);
}

TEST_F(ChainTest, SaysWhichTokenTheContainerEndpointRefuses) {
  variables_ = {{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1/v1"},
                {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", Write("token", "pod-token\n")}};
  script_->Then(401, "pod-token").Then(403, "pod-token").Then(403).Then(404);
  for (const char* status : {"401", "403"}) {
    const std::string told = Fetched().error().message();
    EXPECT_THAT(told, AllOf(HasSubstr(status), HasSubstr("/token (AWS_CONTAINER_AUTHORIZATION_"),
                            Not(HasSubstr("pod-token"))));
  }
  variables_.erase("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
  EXPECT_THAT(Fetched().error().message(), HasSubstr("403 to a request without a token"));
  EXPECT_THAT(Fetched().error().message(), Not(HasSubstr("token")));
}

TEST(ContainerUrl, IsSafeToSendATokenTo) {
  for (const char* fine :
       {"https://anywhere.example/x", "http://127.0.0.1:80/x", "http://localhost/x",
        "http://[::1]:8080/x", "http://169.254.170.2/v2", "http://[fd00:ec2::23]/v1"}) {
    EXPECT_TRUE(CheckContainerUrl(fine)) << fine;
  }
  for (const char* bad : {"http://10.0.0.1/x", "http://169.254.170.2@evil/x", "ftp://localhost/",
                          "http://localhost.evil/", "http://[::2]/", ""}) {
    EXPECT_FALSE(CheckContainerUrl(bad)) << bad;
  }
}

TEST_F(ChainTest, AsksTheInstanceByVersion2Only) {
  script_->Then(200, "session").Then(200, "my-role\n").Then(200, kTokenJson);
  const auto credentials = Fetched();
  ASSERT_TRUE(credentials) << credentials.error().message();
  EXPECT_EQ(credentials->access_key_id, "AK");
  EXPECT_EQ(script_->sent[0].method, "PUT");
  EXPECT_EQ(script_->sent[0].url, "http://169.254.169.254/latest/api/token");
  EXPECT_EQ(script_->sent[1].Header("X-aws-ec2-metadata-token"), "session");
  EXPECT_EQ(script_->sent[2].url,
            "http://169.254.169.254/latest/meta-data/iam/security-credentials/my-role");
  // Without version 2 there are no credentials.
  script_->Then(403);
  EXPECT_THAT(Fetched().error().message(), HasSubstr("hop limit"));
  EXPECT_THAT(script_->sent, SizeIs(4));
  script_->Then(200, "session").Then(404);
  EXPECT_THAT(Fetched().error().message(), HasSubstr("has no role"));
}

}  // namespace
}  // namespace firetower::store::s3
