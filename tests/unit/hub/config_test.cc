// SPDX-License-Identifier: Apache-2.0
#include "hub/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <vector>

#include "base/file.h"

namespace firetower::hub {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Result<CommandLine> Parse(std::vector<std::string> arguments) {
  return ParseCommandLine(arguments);
}

TEST(HubConfig, TakesBothSpellings) {
  const auto line = Parse({"--listen=0.0.0.0:9090", "--lease-namespace", "firetower",
                           "--lease-name=b", "--log-level", "warn", "--log-format=json"});
  ASSERT_TRUE(line) << line.error().message();
  EXPECT_EQ(line->config.listen, "0.0.0.0:9090");
  EXPECT_EQ(line->config.lease_namespace, "firetower");
  EXPECT_EQ(line->config.lease_name, "b");
  EXPECT_EQ(line->config.log_level, LogLevel::kWarn);
  EXPECT_EQ(line->config.log_format, LogFormat::kJson);
  EXPECT_EQ(Parse({"--version"})->action, CommandAction::kVersion);
  EXPECT_EQ(Parse({"-h"})->action, CommandAction::kHelp);
}

// Only one of them could count, and the author of the other would not notice.
TEST(HubConfig, RefusesAFlagGivenTwice) {
  for (const std::vector<std::string>& twice :
       {std::vector<std::string>{"--lease-name=a", "--lease-name=b"},
        {"--lease-name", "a", "--lease-name=a"},
        {"--lease-name=a", "--lease-name"}}) {
    const auto line = Parse(twice);
    ASSERT_FALSE(line);
    EXPECT_EQ(line.error().message(),
              "--lease-name: given twice, and one alone would count; leave one out");
  }
  EXPECT_FALSE(Parse({"--print-lifecycle-rules", "--print-lifecycle-rules"}));
}

TEST(HubConfig, HasNoStoreUntilItIsToldOne) {
  EXPECT_EQ(Parse({})->config.store_url, "");
  const auto line = Parse({"--store=s3://bucket/prefix?endpoint=http://127.0.0.1:9000",
                           "--retention-short", "1d12h", "--retention-long=0"});
  ASSERT_TRUE(line) << line.error().message();
  EXPECT_EQ(line->config.store_url, "s3://bucket/prefix?endpoint=http://127.0.0.1:9000");
  EXPECT_EQ(line->config.retention.short_seconds, 129'600);
  EXPECT_EQ(line->config.retention.standard_seconds, 14 * 86'400);
  EXPECT_EQ(line->config.retention.long_seconds, 0);
  EXPECT_EQ(Parse({"--store", "file:///var/lib/profiles"})->config.store_url,
            "file:///var/lib/profiles");
}

TEST(HubConfig, SaysWhatIsWrongAndWhatIsAllowed) {
  const auto message = [](std::vector<std::string> arguments) {
    const auto line = Parse(std::move(arguments));
    return line ? std::string("taken") : line.error().message();
  };
  EXPECT_THAT(message({"--lisen=:1"}), HasSubstr("did you mean 'listen'"));
  EXPECT_THAT(message({"--listen=7070"}), HasSubstr("HOST:PORT"));
  EXPECT_THAT(message({"--lease-name=A b"}), HasSubstr("allowed: an object's name"));
  EXPECT_THAT(message({"--lease-namespace=../x"}), HasSubstr("refused"));
  EXPECT_THAT(message({"--log-level=loud"}), HasSubstr("debug, info, warn or error"));
  EXPECT_THAT(message({"--identity"}), HasSubstr("its value is missing"));
  EXPECT_THAT(message({"run"}), HasSubstr("no such flag"));
  EXPECT_THAT(message({"--store=gs://bucket"}), HasSubstr("file:///DIR"));
  EXPECT_THAT(message({"--store=s3://b"}), HasSubstr("3 to 63"));
  for (const char* age : {"59m", "3651d", "soon", "-1h"})
    EXPECT_THAT(message({"--retention-long", age}), HasSubstr("1h to 3650d, 0 for ever"));
  EXPECT_THAT(message({"--cluster=a/b"}), HasSubstr("letters, digits"));
  for (const char* flag : {"--tls-cert-file=/a", "--tls-private-key-file=/a"})
    EXPECT_THAT(message({flag}), HasSubstr("one is given without the other"));
  EXPECT_EQ(message({"--tls-cert-file=/a", "--tls-private-key-file=/a"}), "taken");
  EXPECT_THAT(message({"--print-lifecycle-rule"}), HasSubstr("'print-lifecycle-rules'"));
}

// A URL may contain parts that must not be logged.
TEST(HubConfig, DoesNotRepeatAStoreThatItRefuses) {
  const auto line = Parse({"--store=s3://bucket?secret-access-key=hunter2"});
  ASSERT_FALSE(line);
  EXPECT_THAT(line.error().message(), Not(HasSubstr("hunter2")));
}

TEST(HubConfig, HelpNamesEveryFlag) {
  for (const char* flag :
       {"--kubeconfig FILE", "--listen", "--tls-cert-file", "--tls-private-key-file", "--store URL",
        "--retention-short", "--lease-namespace", "--lease-name", "--identity", "--log-level",
        "--log-format", "--print-lifecycle-rules"})
    EXPECT_THAT(HelpText(), HasSubstr(flag));
}

// To update the table: FIRETOWER_UPDATE_GOLDEN=1 <this test>.
TEST(HubConfig, ReferencePageHasItsFlags) {
  const std::string path = FIRETOWER_SOURCE_DIR "/docs/reference/hub.md";
  const auto page = ReadFile(path);
  ASSERT_TRUE(page) << page.error().message();
  const size_t from = page->find("| flag |");
  const size_t to = page->find("\n\n", from);
  ASSERT_NE(to, std::string::npos);
  const std::string wanted = page->substr(0, from) + OptionsMarkdown() + page->substr(to + 1);
  if (std::getenv("FIRETOWER_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << wanted;
  EXPECT_EQ(*ReadFile(path), wanted);
}

}  // namespace
}  // namespace firetower::hub
