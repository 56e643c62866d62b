// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "cli/args/help.h"
#include "cli/args/parse.h"
#include "cli/http/direct.h"

namespace firetower::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ParseArgs, TakesEverySpellingOfAFlag) {
  for (const std::vector<std::string>& line :
       {std::vector<std::string>{"top", "functions", "--limit", "5", "--type", "cpu"},
        {"top", "functions", "--limit=5", "--type=cpu"},
        {"top", "-k", "5", "-t", "cpu", "functions"},
        {"top", "-k5", "-tcpu", "--", "functions"},
        {"top", "-k=5", "functions", "-t=cpu"}}) {
    auto args = ParseArgs(line);
    ASSERT_TRUE(args) << args.error().message();
    EXPECT_EQ(args->command->name, "top");
    EXPECT_EQ(args->Get("limit"), "5");
    EXPECT_EQ(args->Get("type"), "cpu");
    EXPECT_THAT(args->positionals, ElementsAre("functions"));
  }
}

TEST(ParseArgs, TakesGlobalFlagsBeforeAndAfterTheCommand) {
  for (const std::vector<std::string>& line :
       {std::vector<std::string>{"--server", "http://x", "-v", "doctor"},
        {"doctor", "-v", "--server=http://x"}}) {
    auto args = ParseArgs(line);
    ASSERT_TRUE(args) << args.error().message();
    EXPECT_EQ(args->Get("server"), "http://x");
    EXPECT_TRUE(args->Has("verbose"));
  }
}

TEST(ParseArgs, KeepsASelectorThatLooksLikeNothingElse) {
  auto args = ParseArgs({"get", "{a=\"--b\"}", "-f", "-"});
  ASSERT_TRUE(args) << args.error().message();
  EXPECT_EQ(args->selector, "{a=\"--b\"}");
  EXPECT_EQ(args->Get("file"), "-");
}

TEST(ParseArgs, TellsASelectorFromWhatElseACommandTakes) {
  using Words = std::vector<std::string>;
  for (const auto& [line, selector, others] :
       std::initializer_list<std::tuple<Words, const char*, Words>>{
           {{"top"}, "", {}},
           {{"top", "functions"}, "", {"functions"}},
           {{"top", "deploy/web"}, "deploy/web", {}},
           {{"top", "{}"}, "{}", {}},
           {{"top", "functions", "deploy/web"}, "deploy/web", {"functions"}},
           {{"labels", "pod"}, "", {"pod"}},
           {{"labels", "ns/shop"}, "ns/shop", {}},
           {{"labels", "pod", "cpu"}, "cpu", {"pod"}},
           {{"get", "cpu"}, "cpu", {}},
           {{"series", "node/worker-1", "-c", "web"}, "node/worker-1", {}},
           {{"record", "deploy/web"}, "", {"deploy/web"}}}) {
    auto args = ParseArgs(line);
    ASSERT_TRUE(args) << args.error().message();
    EXPECT_EQ(args->selector, selector);
    EXPECT_EQ(args->positionals, others);
  }
}

TEST(ParseArgs, SaysWhatIsWrongAndWhatWasPerhapsMeant) {
  struct Row {
    std::vector<std::string> line;
    const char* says;
  } rows[] = {
      {{"docter"}, "unknown command 'docter'; did you mean 'doctor'?"},
      {{"top", "--limt", "3"}, "unknown flag '--limt' for 'top'; did you mean '--limit'?"},
      {{"top", "-x"}, "unknown flag '-x' for 'top'"},
      {{"--limit", "3", "top"}, "unknown flag '--limit'"},
      {{"top", "--limit"}, "--limit needs a value: N"},
      {{"top", "--watch=yes"}, "--watch takes no value"},
      {{"top", "-wk"}, "-w takes no value"},
      {{"top", "-o", "jsn"}, "did you mean 'json'?"},
      {{"top", "-k", "1", "-k", "2"}, "--limit (-k) is given twice"},
      {{"top", "-w", "--watch"}, "--watch (-w) is given twice, but only one counts"},
      {{"top", "function"}, "did you mean 'functions'?"},
      {{"top", "containers", "{}", "functions"}, "one argument too many"},
      {{"get", "deploy", "web"}, "a selector is one word, such as deployment/checkout"},
      {{"top", "deployment", "checkout"},
       "'top' takes containers, functions, lines, processes or traces, not 'deployment'; a "
       "selector is one "
       "word, "
       "such as deployment/checkout"},
      {{"top", "function", "checkout"}, "not 'function'; did you mean 'functions'?"},
      {{"top", "deploy/web", "functions"},
       "'top' takes containers, functions, lines, processes or traces"},
      {{"doctor", "now"}, "'now' is one argument too many for 'doctor'"},
      {{"--color", "yes", "top"}, "must be one of auto, always, never"},
  };
  for (const Row& row : rows) {
    auto args = ParseArgs(row.line);
    ASSERT_FALSE(args) << row.says;
    EXPECT_THAT(args.error().message(), HasSubstr(row.says));
  }
}

// An empty value, such as a script's "$UNSET", is refused: it would ask for something else.
TEST(ParseArgs, RefusesWhatIsEmpty) {
  for (const std::vector<std::string>& line : {std::vector<std::string>{"top", "--from="},
                                               {"top", "--since="},
                                               {"top", "--to", ""},
                                               {"top", "-c", ""},
                                               {"top", "-c="},
                                               {"top", "-q", ""},
                                               {"top", "-t", ""},
                                               {"top", "-n", ""},
                                               {"top", "-k", ""},
                                               {"--server", "", "top"},
                                               {"doctor", "--context="},
                                               {"get", "--id", ""},
                                               {"get", "-f", ""},
                                               {"diff", "a", "b", "--threshold="},
                                               {"policies", "--pod", ""},
                                               {"get", ""},
                                               {"top", "functions", ""},
                                               {"labels", ""},
                                               {"record", ""},
                                               {"convert", "a", ""},
                                               {"merge", "--", ""}}) {
    auto args = ParseArgs(line);
    ASSERT_FALSE(args) << line[0] << " " << line[1];
    EXPECT_THAT(args.error().message(), HasSubstr(" is empty")) << line[0];
    EXPECT_THAT(args.error().message(), HasSubstr("omit it, or check whether a variable"));
  }
  EXPECT_THAT(ParseArgs({"top", "--since="}).error().message(),
              HasSubstr("--since is empty: it needs DURATION; "));
  EXPECT_THAT(ParseArgs({"get", ""}).error().message(), HasSubstr("an argument of 'get' is empty"));
}

TEST(ParseArgs, TakesAnEmptyValueThatSaysSomething) {
  auto args = ParseArgs({"flame", "--title", "", "--debuginfod", ""});
  ASSERT_TRUE(args) << args.error().message();
  EXPECT_TRUE(args->Has("title"));
  EXPECT_TRUE(args->Has("debuginfod"));
}

TEST(ParseArgs, HelpWinsOverWhateverIsWrong) {
  auto args = ParseArgs({"top", "--nope", "--help"});
  ASSERT_TRUE(args);
  EXPECT_TRUE(args->Has("help"));
  EXPECT_EQ(args->command->name, "top");
  EXPECT_FALSE(ParseArgs({"get", "--", "--help", "b"}));
}

TEST(Commands, HaveNoFlagTwice) {
  for (const CommandSpec& command : Commands()) {
    std::set<std::string_view> names;
    std::set<char> letters;
    auto check = [&](const FlagSpec& flag) {
      EXPECT_TRUE(names.insert(flag.name).second) << command.name << " --" << flag.name;
      if (flag.letter != 0) {
        EXPECT_TRUE(letters.insert(flag.letter).second) << command.name << " -" << flag.letter;
      }
    };
    for (const FlagGroup& group : command.groups) {
      for (const FlagSpec& flag : group.flags) check(flag);
    }
    for (const FlagSpec& flag : GlobalFlags()) check(flag);
    EXPECT_FALSE(command.examples.empty()) << command.name;
  }
}

TEST(ProgramName, IsKubectlsWhenInstalledAsAPlugin) {
  EXPECT_EQ(ProgramName("/usr/bin/firetower"), "firetower");
  EXPECT_EQ(ProgramName("./kubectl-firetower"), "kubectl firetower");
  EXPECT_EQ(ProgramName(""), "firetower");
}

TEST(ParseServerUrl, TakesHostPortAndPrefix) {
  auto url = ParseServerUrl("http://[::1]:8080/a/b/");
  ASSERT_TRUE(url) << url.error().message();
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->port, 8080);
  EXPECT_EQ(url->path, "/a/b");
  url = ParseServerUrl("http://node-1");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "node-1");
  EXPECT_EQ(url->port, 7070);
  EXPECT_EQ(url->path, "");
  EXPECT_FALSE(url->tls);
  url = ParseServerUrl("https://hub.example/");
  ASSERT_TRUE(url);
  EXPECT_TRUE(url->tls);
  EXPECT_EQ(url->port, 443);
  EXPECT_EQ(url->text, "https://hub.example");
}

TEST(ParseServerUrl, RefusesTheRestAndShowsTheForm) {
  for (const char* text :
       {"", "127.0.0.1:7070", "https://", "http://", "http://:80", "http://x:0", "http://x:y",
        "http://x:99999", "http://a@b", "http://x/?q", "ftp://x"}) {
    auto url = ParseServerUrl(text);
    ASSERT_FALSE(url) << text;
    EXPECT_THAT(url.error().message(), HasSubstr("http://127.0.0.1:7070"));
  }
}

}  // namespace
}  // namespace firetower::cli
