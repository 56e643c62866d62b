// SPDX-License-Identifier: Apache-2.0
#include "hub/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace firetower::hub {
namespace {

using ::testing::HasSubstr;

Result<CommandLine> Parse(std::vector<std::string> arguments) {
  return ParseCommandLine(arguments);
}

TEST(HubConfig, TakesBothSpellings) {
  const auto line =
      Parse({"--listen=0.0.0.0:9090", "--lease-namespace", "firetower", "--lease-name=a",
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
}

TEST(HubConfig, HelpNamesEveryFlag) {
  for (const char* flag : {"--kubeconfig FILE", "--listen", "--lease-namespace", "--lease-name",
                           "--identity", "--log-level", "--log-format"})
    EXPECT_THAT(HelpText(), HasSubstr(flag));
}

}  // namespace
}  // namespace firetower::hub
