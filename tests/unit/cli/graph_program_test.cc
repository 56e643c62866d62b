// SPDX-License-Identifier: Apache-2.0
// The commands that show calls, and links, as programs: real binary, real server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/args/spec.h"
#include "tests/unit/cli/program.h"
#include "tests/unit/query/fixture.h"

namespace firetower::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class GraphProgram : public ::testing::Test {
 protected:
  Ran Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(),
                     {"--from", "2026-07-01T09:45:00Z", "--to", "2026-07-01T10:00:00Z"});
    RunOptions options;
    options.environment.push_back("FIRETOWER_SERVER=" + url_);
    return RunFiretower(arguments, options);
  }
  query::Fixture fixture_;
  const std::string url_ = fixture_.Serve();
};

TEST_F(GraphProgram, PeekShowsCallersAboveAndCalleesBelow) {
  const Ran ran = Run({"peek", "^Serve$", "{container=\"web\"}"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const size_t caller = ran.out.find("|   main"), self = ran.out.find("| Serve"),
               callee = ran.out.find("|   Parse");
  EXPECT_LT(caller, self) << ran.out;
  EXPECT_LT(self, callee) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("2.7s  90.0%"));
  EXPECT_THAT(Run({"peek", "^Serve$", "-o", "json"}).out,
              HasSubstr("\"callees\":[{\"function\":\"Parse\""));
}

TEST_F(GraphProgram, PeekSaysWhatIsWrong) {
  EXPECT_EQ(Run({"peek"}).exit_code, ExitCode::kUsage);
  const Ran none = Run({"peek", "Nothing"});
  EXPECT_EQ(none.exit_code, ExitCode::kNoData);
  EXPECT_THAT(none.err, HasSubstr("'Nothing' matches no function"));
  EXPECT_EQ(Run({"peek", "("}).exit_code, ExitCode::kUsage);
  // A function with a slash is no selector.
  EXPECT_THAT(Run({"peek", "net/http.Serve"}).err, HasSubstr("'net/http.Serve' matches no"));
}

TEST_F(GraphProgram, TreeGoesDownAndUp) {
  const Ran down = Run({"tree", "{container=\"web\"}"});
  EXPECT_EQ(down.exit_code, 0) << down.err;
  EXPECT_LT(down.out.find("main"), down.out.find("Serve")) << down.out;
  EXPECT_LT(down.out.find("Parse"), down.out.find("Encode")) << "the larger one first";
  const Ran up = Run({"tree", "{container=\"web\"}", "--bottom-up"});
  EXPECT_LT(up.out.find("Parse"), up.out.find("Serve")) << up.out;
  EXPECT_THAT(Run({"tree", "--min-percent", "20%"}).out, Not(HasSubstr("sshd")));
  EXPECT_EQ(Run({"tree", "--min-percent", "x"}).exit_code, ExitCode::kUsage);
}

TEST_F(GraphProgram, FiltersAreThoseOfPprof) {
  const auto folded = [&](std::vector<std::string> flags) {
    std::vector<std::string> words = {"get", "{container=\"web\"}", "-o", "folded"};
    words.insert(words.end(), flags.begin(), flags.end());
    return Run(words).out;
  };
  EXPECT_EQ(folded({"--focus", "Parse", "--sample-type", "samples"}), "main;Serve;Parse 180\n");
  EXPECT_EQ(folded({"--ignore", "Serve", "--sample-type", "samples"}), "main;Idle 30\n");
  EXPECT_EQ(folded({"--focus", "Encode", "--hide", "Serve", "--sample-type", "samples"}),
            "main;Encode 90\n");
  EXPECT_EQ(folded({"--show-from", "Parse", "--sample-type", "samples"}), "Parse 180\n");
  EXPECT_THAT(Run({"top", "functions", "--focus", "Parse"}).out, Not(HasSubstr("Encode")));
  const Ran containers = Run({"top", "--focus", "Parse"});
  EXPECT_EQ(containers.exit_code, ExitCode::kUsage);
  EXPECT_THAT(containers.err, HasSubstr("ask by functions, lines, processes or traces"));
  EXPECT_THAT(Run({"get", "--focus", "(", "-o", "folded"}).err,
              HasSubstr("focus is not a regular expression"));
}

TEST_F(GraphProgram, OpenPrintsALinkThatStaysTheSame) {
  const Ran ran = Run({"open", "web-0", "--type", "cpu", "--find", "Parse"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out,
            url_ +
                "/explore?type=cpu&q=%7Bpod%3D%22web-0%22%7D&from=2026-07-01T09%3A45%3A00Z&to="
                "2026-07-01T10%3A00%3A00Z&find=Parse\n");
  EXPECT_THAT(Run({"open", "--page-url", "https://tower.example/x"}).out,
              ::testing::StartsWith("https://tower.example:443/x/explore?type=cpu&"));
  EXPECT_EQ(Run({"open", "--page-url", "ftp://x"}).exit_code, ExitCode::kUsage);
}

TEST_F(GraphProgram, HeatSaysThatNoTimesAreKnown) {
  const Ran ran = Run({"heat", "web-0"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("samples are in no cell"));
  EXPECT_THAT(ran.out, HasSubstr("?"));
}

}  // namespace
}  // namespace firetower::cli
