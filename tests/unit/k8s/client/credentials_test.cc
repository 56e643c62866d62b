// SPDX-License-Identifier: Apache-2.0
#include "k8s/client/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "base/thread.h"

namespace firetower::k8s {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// 2026-01-02T03:04:05Z; `date -d 2026-01-02T03:04:05Z +%s`.
constexpr int64_t kThenNs = 1767323045 * kNsPerSecond;

class CredentialsTest : public ::testing::Test {
 protected:
  CredentialsTest() {
    std::string name = ::testing::TempDir() + "credentials-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~CredentialsTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, std::string_view text, unsigned mode = 0644) {
    const std::string path = folder_ + "/" + name;
    EXPECT_TRUE(WriteFileAtomic(path, text, mode));
    return path;
  }
  // A plugin that runs `script`; each run leaves a line in the file `runs`.
  void UsePlugin(const std::string& script) {
    config_.exec.emplace();
    config_.exec->command =
        Write("plugin", "#!/bin/sh\necho run >>" + folder_ + "/runs\n" + script, 0755);
  }
  size_t Runs() {
    const std::string runs = ReadFile(folder_ + "/runs").value_or("");
    return static_cast<size_t>(std::count(runs.begin(), runs.end(), '\n'));
  }

  std::string folder_;
  ClientConfig config_;
  FakeClock clock_{0, kThenNs};
};

constexpr std::string_view kPrintToken =
    R"(echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",
"status":{"token":"t1","expirationTimestamp":"2026-01-02T04:04:05Z"}}')";

TEST_F(CredentialsTest, ReadsAChangedTokenAtTheNextRequest) {
  config_.token_file = Write("token", "one\n");
  Credentials credentials(config_, clock_);
  EXPECT_EQ(credentials.Get()->bearer_token, "one");
  Write("token", "two");
  EXPECT_EQ(credentials.Get()->bearer_token, "two");
}

TEST_F(CredentialsTest, KeepsTheLastTokenWhileTheFileIsAway) {
  config_.token_file = Write("token", "one");
  Credentials credentials(config_, clock_);
  ASSERT_TRUE(credentials.Get());
  std::filesystem::remove(config_.token_file);
  EXPECT_EQ(credentials.Get()->bearer_token, "one");
  Write("token", "");
  EXPECT_EQ(credentials.Get()->bearer_token, "one");
}

TEST_F(CredentialsTest, NamesTheFileThatNeverWas) {
  config_.token_file = folder_ + "/token";
  Credentials credentials(config_, clock_);
  Result<Identity> identity = credentials.Get();
  ASSERT_FALSE(identity);
  EXPECT_THAT(identity.error().message(), HasSubstr(config_.token_file));
}

TEST_F(CredentialsTest, TakesATokenOfAnyLength) {
  const std::string token(20000, 'x');
  config_.token_file = Write("token", token);
  EXPECT_EQ(Credentials(config_, clock_).Get()->bearer_token, token);
}

TEST_F(CredentialsTest, RefusesATokenThatWouldEndItsHeader) {
  config_.token_file = Write("token", "one\r\nX-Evil: 1");
  Result<Identity> identity = Credentials(config_, clock_).Get();
  ASSERT_FALSE(identity);
  EXPECT_EQ(identity.error().code(), ErrorCode::kInvalid);
}

TEST_F(CredentialsTest, ReadsChangedClientCertificates) {
  config_.client_certificate.path = Write("crt", "c1");
  config_.client_key.path = Write("key", "k1");
  Credentials credentials(config_, clock_);
  EXPECT_EQ(credentials.Get()->certificate_pem, "c1");
  Write("crt", "c2");
  EXPECT_EQ(credentials.Get()->certificate_pem, "c2");
}

TEST_F(CredentialsTest, OnlyWhatMayChangeIsWorthASecondTry) {
  config_.token = "fixed";
  EXPECT_FALSE(Credentials(config_, clock_).Refused());
  config_.token_file = Write("token", "one");
  EXPECT_TRUE(Credentials(config_, clock_).Refused());
}

TEST_F(CredentialsTest, RunsAPluginAgainBeforeItsTokenExpires) {
  UsePlugin(std::string(kPrintToken));
  Credentials credentials(config_, clock_);
  EXPECT_EQ(credentials.Get()->bearer_token, "t1");
  clock_.Advance(3580 * kNsPerSecond);
  EXPECT_EQ(credentials.Get()->bearer_token, "t1");
  EXPECT_EQ(Runs(), 1u);
  clock_.Advance(15 * kNsPerSecond);  // five seconds before the hour is over
  EXPECT_TRUE(credentials.Get());
  EXPECT_EQ(Runs(), 2u);
}

TEST_F(CredentialsTest, RunsAPluginAgainWhenTheServerRefuses) {
  UsePlugin(std::string(kPrintToken));
  Credentials credentials(config_, clock_);
  ASSERT_TRUE(credentials.Get());
  EXPECT_TRUE(credentials.Refused());
  ASSERT_TRUE(credentials.Get());
  EXPECT_EQ(Runs(), 2u);
}

TEST_F(CredentialsTest, TellsAPluginWhatIsWanted) {
  UsePlugin("echo \"$KUBERNETES_EXEC_INFO $PROFILE $1\" >" + folder_ + "/told\n" +
            std::string(kPrintToken));
  config_.server.host = "fd00::1";
  config_.exec->provide_cluster_info = true;
  config_.exec->environment = {{"PROFILE", "prod"}};
  config_.exec->arguments = {"--region"};
  ASSERT_TRUE(Credentials(config_, clock_).Get());
  EXPECT_THAT(ReadFile(folder_ + "/told").value_or(""),
              AllOf(HasSubstr(R"("apiVersion":"client.authentication.k8s.io/v1")"),
                    HasSubstr(R"("interactive":false)"),
                    HasSubstr(R"("server":"https://[fd00::1]:443")"), HasSubstr("prod --region")));
}

TEST_F(CredentialsTest, SaysWhyAPluginFailed) {
  UsePlugin("echo 'log in first' >&2; exit 3");
  Result<Identity> identity = Credentials(config_, clock_).Get();
  ASSERT_FALSE(identity);
  EXPECT_THAT(identity.error().message(),
              AllOf(HasSubstr("exit status 3"), HasSubstr("log in first"), HasSubstr("/plugin")));
}

TEST_F(CredentialsTest, ShowsTheHintWhenAPluginIsNotInstalled) {
  config_.exec.emplace();
  config_.exec->command = folder_ + "/none";
  config_.exec->install_hint = "install it from the shelf";
  Result<Identity> identity = Credentials(config_, clock_).Get();
  ASSERT_FALSE(identity);
  EXPECT_EQ(identity.error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(identity.error().message(), HasSubstr("install it from the shelf"));
}

TEST_F(CredentialsTest, APluginThatHangsIsCancelled) {
  UsePlugin("exec cat /dev/zero >/dev/null");
  WakeFd cancel;
  cancel.Notify();
  Result<Identity> identity = Credentials(config_, clock_, cancel.fd()).Get();
  ASSERT_FALSE(identity);
  EXPECT_THAT(identity.error().message(), HasSubstr("was cancelled"));
}

TEST_F(CredentialsTest, APluginThatFloodsIsEnded) {
  UsePlugin("exec cat /dev/zero");
  Result<Identity> identity = Credentials(config_, clock_).Get();
  ASSERT_FALSE(identity);
  EXPECT_THAT(identity.error().message(), HasSubstr("more than 1 MiB"));
}

TEST(ExecCredential, EveryPrefixIsRefused) {
  constexpr std::string_view kWhole =
      R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{)"
      R"("clientCertificateData":"c","clientKeyData":"k"}})";
  Result<ExecCredential> whole = ParseExecCredential(kWhole);
  ASSERT_TRUE(whole) << whole.error().message();
  EXPECT_EQ(whole->certificate_pem, "c");
  EXPECT_EQ(whole->key_pem, "k");
  EXPECT_FALSE(whole->expires_wall_ns);
  for (size_t size = 0; size < kWhole.size(); ++size)
    EXPECT_FALSE(ParseExecCredential(kWhole.substr(0, size))) << size;
}

TEST(ExecCredential, SaysWhatIsWrong) {
  const auto message = [](std::string_view json) {
    Result<ExecCredential> credential = ParseExecCredential(json);
    return credential ? "accepted" : credential.error().message();
  };
  EXPECT_THAT(message("[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(message(R"({"kind":"Pod"})"), HasSubstr("kind"));
  const std::string head =
      R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":)";
  EXPECT_THAT(message(head + "{}}"), HasSubstr("neither"));
  EXPECT_THAT(message(head + R"({"clientKeyData":"k"}})"), HasSubstr("one is missing"));
  EXPECT_THAT(message(head + R"({"token":"t","expirationTimestamp":"soon"}})"),
              HasSubstr("not an RFC 3339 time"));
}

// Expected values from `date -u -d … +%s`.
TEST(Timestamp, ReadsRfc3339) {
  EXPECT_EQ(ParseTimestampNs("2026-01-02T03:04:05Z"), kThenNs);
  EXPECT_EQ(ParseTimestampNs("2026-01-02T05:34:05+02:30"), kThenNs);
  EXPECT_EQ(ParseTimestampNs("2026-01-01T22:04:05-05:00"), kThenNs);
  EXPECT_EQ(ParseTimestampNs("2026-01-02T03:04:05.25Z"), kThenNs + kNsPerSecond / 4);
  EXPECT_EQ(ParseTimestampNs("2024-02-29T00:00:00.000000Z"), 1709164800 * kNsPerSecond);
  for (const std::string_view bad :
       {"", "2026-01-02", "2026-01-02T03:04:05", "2026-13-02T03:04:05Z", "2026-01-02T24:04:05Z",
        "2026-01-02T03:04:05.Z", "2026-01-02T03:04:05+2:30", "x026-01-02T03:04:05Z"})
    EXPECT_FALSE(ParseTimestampNs(bad)) << bad;
}

}  // namespace
}  // namespace firetower::k8s
