// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <vector>

namespace firetower::daemon {
namespace {

using ::testing::HasSubstr;

Result<CommandLine> Parse(std::vector<std::string> arguments) {
  return ParseCommandLine(arguments);
}

std::string ErrorOf(std::vector<std::string> arguments) {
  auto line = ParseCommandLine(arguments);
  return line ? "no error" : line.error().message();
}

// A configuration file that lives as long as the test.
class ConfigOnDisk {
 public:
  explicit ConfigOnDisk(const std::string& yaml)
      : path_(::testing::TempDir() + "/firetowerd-" + std::to_string(::getpid()) + ".yaml") {
    std::ofstream(path_) << yaml;
  }
  ~ConfigOnDisk() { ::unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(CommandLine, StartsWithTheDefaults) {
  auto line = Parse({});
  ASSERT_TRUE(line) << line.error().message();
  const Config& config = line->config;
  EXPECT_EQ(line->action, CommandAction::kRun);
  EXPECT_FALSE(config.standalone);
  EXPECT_EQ(config.listen.host, "127.0.0.1");
  EXPECT_EQ(config.listen.port, 7070);
  EXPECT_EQ(config.window_seconds, 60);
  EXPECT_EQ(config.retention_age_ns, 1'209'600'000'000'000);
  EXPECT_EQ(config.retention_bytes, 2147483648);
  char host[256] = {};
  ASSERT_EQ(::gethostname(host, sizeof(host) - 1), 0);
  EXPECT_EQ(config.node_name, host);
}

TEST(CommandLine, TakesHostNamesApartByCommasOrSpaces) {
  EXPECT_TRUE(Parse({})->config.allowed_hosts.empty());
  const auto line = Parse({"--allowed-hosts=profiles.example, box"});
  ASSERT_TRUE(line) << line.error().message();
  EXPECT_EQ(line->config.allowed_hosts, (std::vector<std::string>{"profiles.example", "box"}));
  ConfigOnDisk file("allowed-hosts: [a.example, \"*\"]\n");
  EXPECT_EQ(Parse({"--config", file.path()})->config.allowed_hosts,
            (std::vector<std::string>{"a.example", "*"}));
  for (const char* bad : {"box:7070", "http://box", "*.example", "[::1]"})
    EXPECT_THAT(ErrorOf({std::string("--allowed-hosts=") + bad}), HasSubstr("is not a host name"));
}

TEST(CommandLine, IsCalledAsItsNodeUnlessAFlagSaysOtherwise) {
  const std::vector<std::string> none;
  EXPECT_EQ(ParseCommandLine(none, "node-7")->config.node_name, "node-7");
  const std::vector<std::string> flag = {"--node-name=box"};
  EXPECT_EQ(ParseCommandLine(flag, "node-7")->config.node_name, "box");
  auto bad = ParseCommandLine(none, "a/b");
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message(), HasSubstr("NODE_NAME: 'a/b' is refused"));
}

TEST(CommandLine, TakesBothSpellings) {
  auto line = Parse({"--standalone", "--listen", "0.0.0.0:80", "--store=file:///tmp/x",
                     "--retention-age", "36h", "--sample-labels=cpu"});
  ASSERT_TRUE(line) << line.error().message();
  EXPECT_TRUE(line->config.standalone);
  EXPECT_EQ(line->config.listen.host, "0.0.0.0");
  EXPECT_EQ(line->config.listen.port, 80);
  EXPECT_EQ(line->config.store_url, "file:///tmp/x");
  EXPECT_EQ(line->config.retention_age_ns, int64_t{36} * 3600 * 1'000'000'000);
  EXPECT_FALSE(line->config.sample_labels.thread);
  EXPECT_TRUE(line->config.sample_labels.cpu);
}

// Only one of them could count, and the author of the other would not notice.
TEST(CommandLine, RefusesAFlagGivenTwice) {
  EXPECT_EQ(ErrorOf({"--window-seconds=30", "--window-seconds", "30"}),
            "--window-seconds: given twice, and one alone would count; leave one out");
  EXPECT_THAT(ErrorOf({"--standalone", "--standalone=false"}), HasSubstr("--standalone: given"));
  EXPECT_EQ(ErrorOf({"--push=pyroscope+http://a:4040", "--push=otlp+http://b:4318"}),
            "--push: given twice, and one alone would count; give it once, with all its values "
            "apart by commas");
  ConfigOnDisk file("window-seconds: 120\n");
  EXPECT_THAT(ErrorOf({"--config", file.path(), "--config", file.path()}),
              HasSubstr("--config: given twice"));
}

TEST(CommandLine, FlagWinsOverFileWinsOverDefault) {
  ConfigOnDisk file("window-seconds: 120\nlog-level: debug\nsample-labels: [thread, cpu]\n");
  auto line = Parse({"--window-seconds=30", "--config", file.path()});
  ASSERT_TRUE(line) << line.error().message();
  EXPECT_EQ(line->config.window_seconds, 30);
  EXPECT_EQ(line->config.log_level, LogLevel::kDebug);
  EXPECT_TRUE(line->config.sample_labels.cpu);
  EXPECT_FALSE(line->config.sample_labels.comm);
  EXPECT_EQ(line->config.max_frequency_hertz, 999);
}

TEST(CommandLine, ActionsNeedNothingElse) {
  EXPECT_EQ(Parse({"--help"})->action, CommandAction::kHelp);
  EXPECT_EQ(Parse({"-h", "--nonsense"})->action, CommandAction::kHelp);
  EXPECT_EQ(Parse({"--standalone", "--version"})->action, CommandAction::kVersion);
  EXPECT_EQ(Parse({"--help-markdown"})->action, CommandAction::kHelpMarkdown);
}

TEST(CommandLine, NamesTheNearestFlag) {
  EXPECT_EQ(ErrorOf({"--lisen=x"}), "--lisen: no such flag; did you mean --listen?");
  EXPECT_EQ(ErrorOf({"-standalone"}), "-standalone: no such flag; did you mean --standalone?");
  EXPECT_EQ(ErrorOf({"--xyzzy"}), "--xyzzy: no such flag; firetowerd --help lists all");
}

TEST(CommandLine, SaysWhatIsAllowed) {
  EXPECT_EQ(ErrorOf({"--window-seconds=0"}),
            "--window-seconds: '0' is refused: it is below the least value; allowed: 1 to 3600");
  EXPECT_THAT(ErrorOf({"--window-seconds"}), HasSubstr("its value is missing; allowed: 1 to 3600"));
  EXPECT_THAT(ErrorOf({"--store", "--standalone"}), HasSubstr("--store: its value is missing"));
  EXPECT_THAT(ErrorOf({"--standalone=yes"}), HasSubstr("allowed: true or false"));
  EXPECT_THAT(ErrorOf({"serve"}), HasSubstr("'serve': not a flag"));
}

TEST(CommandLine, FileErrorsNameFileAndLine) {
  ConfigOnDisk unknown("log-level: info\nwindow-second: 60\n");
  EXPECT_EQ(ErrorOf({"--config", unknown.path()}),
            unknown.path() + ":2: window-second: no such option; did you mean 'window-seconds'?");
  ConfigOnDisk range("\n\nwindow-seconds: 7200\n");
  EXPECT_EQ(ErrorOf({"--config", range.path()}),
            range.path() +
                ":3: window-seconds: '7200' is refused: it is above the largest value; "
                "allowed: 1 to 3600");
  ConfigOnDisk list("window-seconds: [1, 2]\n");
  EXPECT_THAT(ErrorOf({"--config", list.path()}), HasSubstr(":1: window-seconds: a list stands"));
  ConfigOnDisk nested("config: other.yaml\n");
  EXPECT_THAT(ErrorOf({"--config", nested.path()}), HasSubstr("cannot name another"));
  EXPECT_THAT(ErrorOf({"--config", "/no/such/file"}), HasSubstr("No such file"));
}

TEST(CommandLine, ChecksWhatSpansOptions) {
  EXPECT_THAT(ErrorOf({"--slice-milliseconds=7000"}), HasSubstr("does not divide the window"));
  EXPECT_THAT(ErrorOf({"--max-frequency-hertz=50"}), HasSubstr("is above the ceiling of 50"));
  EXPECT_EQ(ErrorOf({"--max-frequency-hertz=50", "--default-frequency-hertz=49"}), "no error");
  EXPECT_THAT(ErrorOf({"--tls-cert-file=/a"}), HasSubstr("one is given without the other"));
  EXPECT_THAT(ErrorOf({"--tls-private-key-file=/a"}), HasSubstr("one is given without the other"));
  EXPECT_EQ(ErrorOf({"--tls-cert-file=/a", "--tls-private-key-file=/a"}), "no error");
  EXPECT_THAT(ErrorOf({"--metrics-authorize", "--standalone"}), HasSubstr("of a cluster"));
  EXPECT_EQ(ErrorOf({"--metrics-authorize"}), "no error");
}

}  // namespace
}  // namespace firetower::daemon
