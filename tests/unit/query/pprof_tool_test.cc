// SPDX-License-Identifier: Apache-2.0
// Runs `go tool pprof` on the profile URL. It judges the format and the errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "tests/unit/query/fixture.h"

namespace firetower::query {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

struct Ran {
  int status = -1;
  std::string output;  // both streams
};

Ran Shell(const std::string& command) {
  Ran run;
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return run;
  char buffer[4096];
  size_t n = 0;
  while ((n = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0) run.output.append(buffer, n);
  run.status = ::pclose(pipe);
  return run;
}

Ran GoToolPprof(const std::string& arguments) {
  // Go builds the tool at its first use, which takes a while.
  return Shell("PPROF_TMPDIR=/tmp timeout 280 go tool pprof " + arguments);
}

// The rows of -top: self, total, name. The per cent are of another whole.
std::set<std::string> Rows(const std::string& output) {
  std::set<std::string> rows;
  std::istringstream lines(output.substr(std::min(output.find("flat%"), output.size())));
  std::string line, flat, flat_percent, sum_percent, cum, cum_percent, name;
  std::getline(lines, line);
  while (lines >> flat >> flat_percent >> sum_percent >> cum >> cum_percent) {
    std::getline(lines, name);
    rows.insert(flat + " " + cum + name);
  }
  return rows;
}

class GoToolPprofTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (Shell("go version").status != 0) GTEST_SKIP() << "GoToolPprof: no go toolchain on PATH";
    url_ = fixture_.Serve();
  }
  Fixture fixture_;
  std::string url_;
};

TEST_F(GoToolPprofTest, ReadsTheUrl) {
  Ran run = GoToolPprof("-top '" + url_ + "/api/v1/profile?q={container=\"web\"}'");
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("Type: cpu"));
  EXPECT_THAT(run.output, ContainsRegex("(1\\.80?s|1800ms) +60(\\.0+)?% .* Parse"));
  EXPECT_THAT(run.output, ContainsRegex("(0\\.90s|900ms) +30(\\.0+)?% .* Encode"));
}

TEST_F(GoToolPprofTest, AddsSeconds) {
  Ran run = GoToolPprof("-seconds 30 -top '" + url_ + "/api/v1/profile'");
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_THAT(run.output, ContainsRegex("of 1(\\.25s|250ms) total"));
}

// Its own filters of the whole profile, and ours before it is sent: the same lines.
TEST_F(GoToolPprofTest, AgreesOnFilters) {
  const std::string url = url_ + "/api/v1/profile?q={namespace=\"shop\"}";
  const std::pair<std::string, std::string> filters[] = {
      {"-focus=Parse", "&focus=Parse"},
      {"-ignore=Parse", "&ignore=Parse"},
      {"-hide=Serve", "&hide=Serve"},
      {"-show='^(main|Parse)$'", "&show=%5E(main%7CParse)%24"},
      {"-show_from=Serve", "&show-from=Serve"},
      {"-focus=Serve -ignore=Encode -hide=main", "&focus=Serve&ignore=Encode&hide=main"},
  };
  for (const auto& [theirs, ours] : filters) {
    const Ran filtered = GoToolPprof("-top -nodefraction=0 " + theirs + " '" + url + "'");
    const Ran whole = GoToolPprof("-top -nodefraction=0 '" + url + ours + "'");
    EXPECT_EQ(filtered.status, 0) << filtered.output;
    EXPECT_EQ(whole.status, 0) << whole.output;
    EXPECT_FALSE(Rows(whole.output).empty()) << theirs;
    EXPECT_EQ(Rows(filtered.output), Rows(whole.output)) << theirs;
  }
}

TEST_F(GoToolPprofTest, ShowsTheReasonOfAnError) {
  Ran run = GoToolPprof("-top '" + url_ + "/api/v1/profile?q={namespace=\"nope\"}'");
  EXPECT_NE(run.status, 0);
  EXPECT_THAT(run.output, HasSubstr("no profile matches cpu{namespace=\"nope\"}"));
}

}  // namespace
}  // namespace firetower::query
