// SPDX-License-Identifier: Apache-2.0
// Runs `go tool pprof` on the profile URL. It judges the format and the errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

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

TEST_F(GoToolPprofTest, ShowsTheReasonOfAnError) {
  Ran run = GoToolPprof("-top '" + url_ + "/api/v1/profile?q={namespace=\"nope\"}'");
  EXPECT_NE(run.status, 0);
  EXPECT_THAT(run.output, HasSubstr("no profile matches cpu{namespace=\"nope\"}"));
}

}  // namespace
}  // namespace firetower::query
