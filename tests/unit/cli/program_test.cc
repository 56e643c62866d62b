// SPDX-License-Identifier: Apache-2.0
// The real binary against a server with known content (tests/unit/query/fixture.h).
#include "tests/unit/cli/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/file.h"
#include "cli/args/help.h"
#include "cli/args/spec.h"
#include "profile/pprof.h"
#include "tests/support/command.h"
#include "tests/support/k8s/fake_http_server.h"
#include "tests/support/stores/rolled_out_pods.h"
#include "tests/unit/query/fixture.h"

namespace firetower::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// The content's quarter of an hour, whatever the time is here.
const std::vector<std::string> kRange = {"--from", "2026-07-01T09:45:00Z", "--to",
                                         "2026-07-01T10:00:00Z"};

class FiretowerTest : public ::testing::Test {
 protected:
  FiretowerTest() : url_(fixture_.Serve()) {
    char folder[] = "/tmp/firetower-cli-XXXXXX";
    EXPECT_NE(::mkdtemp(folder), nullptr);
    folder_ = folder;
  }
  ~FiretowerTest() override { std::filesystem::remove_all(folder_); }

  Ran Run(std::vector<std::string> arguments, RunOptions options = {}) {
    options.environment.push_back("FIRETOWER_SERVER=" + url_);
    return RunFiretower(arguments, options);
  }
  Ran RunInRange(std::vector<std::string> arguments, RunOptions options = {}) {
    arguments.insert(arguments.end(), kRange.begin(), kRange.end());
    return Run(std::move(arguments), std::move(options));
  }
  // The whole answer, head and body, of a server on this machine.
  static std::string Fetch(const std::string& url) {
    return testing::RunCommand("curl -s -i --max-time 10 '" + url + "'").output;
  }
  std::string InFolder(const std::string& name) const { return folder_ + "/" + name; }

  query::Fixture fixture_;
  std::string url_;
  std::string folder_;
};

TEST(FiretowerHelp, MatchesItsGoldens) {
  ExpectGolden("help.txt", RunFiretower({"--help"}).out);
  for (const CommandSpec& command : Commands()) {
    std::string name(command.name);
    Ran ran = RunFiretower({name, "--help"});
    EXPECT_EQ(ran.exit_code, 0) << name;
    EXPECT_EQ(ran.err, "") << name;
    ExpectGolden("help-" + name + ".txt", ran.out);
    EXPECT_EQ(RunFiretower({"help", name}).out, ran.out);
  }
}

TEST(FiretowerHelp, ReferencePageIsUpToDate) {
  auto page = ReadFile(FIRETOWER_SOURCE_DIR "/docs/reference/cli.md");
  ASSERT_TRUE(page) << page.error().message();
  EXPECT_EQ(RunFiretower({"help", "--markdown"}).out, *page)
      << "run: firetower help --markdown > docs/reference/cli.md";
}

TEST(FiretowerHelp, IsKubectlsInAPlugin) {
  RunOptions plugin;
  plugin.argv0 = "/usr/local/bin/kubectl-firetower";
  EXPECT_THAT(RunFiretower({"top", "--help"}, plugin).out, HasSubstr("kubectl firetower top"));
  EXPECT_THAT(RunFiretower({"tpo"}, plugin).err, StartsWith("kubectl firetower: "));
  EXPECT_THAT(RunFiretower({"--help"}, plugin).out, HasSubstr("\n  kubectl firetower COMMAND "));
  // kubectl looks for the link beside the program.
  EXPECT_EQ(std::filesystem::read_symlink(FIRETOWER_BINARY_DIR "/bin/kubectl-firetower").string(),
            "firetower");
}

TEST(FiretowerHelp, EveryQuestionHasATimeRangeAndACluster) {
  for (const char* name : {"top", "get", "profiles", "flame", "types", "labels", "series"}) {
    const std::string help = RunFiretower({name, "--help"}).out;
    for (const char* flag : {"--from TIME", "--to TIME", "--since DURATION", "--context NAME",
                             "--kubeconfig FILE", "-n, --namespace NS", "--token TOKEN"}) {
      EXPECT_THAT(help, HasSubstr(flag)) << name;
    }
  }
}

TEST(FiretowerVersion, IsToldByTheCommandAndByTheFlagAnywhere) {
  const std::string version = RunFiretower({"version"}).out;
  EXPECT_THAT(version, ::testing::MatchesRegex("firetower [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  for (const std::vector<std::string>& line : {std::vector<std::string>{"--version"},
                                               {"-v", "--version"},
                                               {"top", "--version"},
                                               {"--version", "get"}}) {
    const Ran ran = RunFiretower(line);
    EXPECT_EQ(ran.exit_code, 0) << line[0];
    EXPECT_EQ(ran.out, version) << line[0];
    EXPECT_EQ(ran.err, "") << line[0];
  }
  RunOptions plugin;
  plugin.argv0 = "kubectl-firetower";
  EXPECT_EQ(RunFiretower({"--version"}, plugin).out, version);
  EXPECT_THAT(RunFiretower({"--help", "--version"}).out, HasSubstr("Usage:\n"));
  EXPECT_EQ(RunFiretower({"--version=2"}).exit_code, ExitCode::kUsage);
}

TEST(FiretowerCompletion, OffersCommandsFlagsAndValues) {
  Ran script = RunFiretower({"completion", "bash"});
  ASSERT_EQ(script.exit_code, 0);
  char file[] = "/tmp/firetower-completion-XXXXXX";
  int fd = ::mkstemp(file);
  ASSERT_GE(fd, 0);
  ASSERT_TRUE(WriteFileAtomic(file, script.out));
  auto offered = [&](const std::string& words, int at) {
    std::string command = "bash -c 'source " + std::string(file) + "; COMP_WORDS=(" + words +
                          "); COMP_CWORD=" + std::to_string(at) +
                          "; _firetower; echo ${COMPREPLY[@]}'";
    std::FILE* pipe = ::popen(command.c_str(), "r");
    char buffer[4096] = "";
    size_t n = pipe == nullptr ? 0 : std::fread(buffer, 1, sizeof(buffer) - 1, pipe);
    if (pipe != nullptr) ::pclose(pipe);
    return std::string(buffer, n);
  };
  EXPECT_EQ(offered("firetower do", 1), "doctor\n");
  EXPECT_EQ(offered("firetower diff --norm", 2), "--normalize\n");
  EXPECT_EQ(offered("firetower merge " + std::string(file), 2), std::string(file) + "\n");
  EXPECT_EQ(offered("firetower top f", 2), "functions\n");
  EXPECT_EQ(offered("firetower top -o w", 3), "wide\n");
  EXPECT_EQ(offered("firetower --color n", 2), "never\n");
  EXPECT_EQ(offered("firetower get --fr", 2), "--from\n");
  std::filesystem::remove(file);
  EXPECT_THAT(RunFiretower({"completion", "zsh"}).out, StartsWith("#compdef firetower\n"));
  EXPECT_EQ(RunFiretower({"completion"}).exit_code, 2);
  EXPECT_EQ(RunFiretower({"completion", "fish"}).exit_code, 2);
}

// Nothing in the content has a build id, so that every name stays as it is.
TEST_F(FiretowerTest, NamesOnlyWhatItCanFind) {
  const Ran plain = RunInRange({"get", "-o", "folded"});
  const Ran named =
      RunInRange({"get", "-o", "folded", "--sample-type", "cpu", "--symbols", "full"});
  EXPECT_EQ(named.exit_code, 0) << named.err;
  EXPECT_EQ(named.err, "");
  EXPECT_EQ(named.out, plain.out);
  const Ran top = RunInRange({"top", "functions", "-o", "name"});
  const Ran named_top = RunInRange({"top", "functions", "-o", "name", "--symbols", "names"});
  EXPECT_EQ(named_top.exit_code, 0) << named_top.err;
  EXPECT_EQ(named_top.out, top.out);
  const Ran containers = RunInRange({"top", "--symbols", "names"});
  EXPECT_EQ(containers.exit_code, ExitCode::kUsage);
  EXPECT_THAT(containers.err, HasSubstr("top functions"));
  const Ran bad =
      RunInRange({"get", "-o", "folded", "--symbols", "full", "--debuginfod", "ftp://x"});
  EXPECT_EQ(bad.exit_code, ExitCode::kUsage);
  EXPECT_THAT(bad.err, HasSubstr("ftp://x"));
}

TEST_F(FiretowerTest, TablesMatchTheirGoldens) {
  struct Row {
    const char* golden;
    std::vector<std::string> arguments;
  } rows[] = {
      {"top-containers.txt", {"top"}},
      {"top-containers-wide.txt", {"top", "containers", "-o", "wide", "--no-headers"}},
      {"top-containers-name.txt", {"top", "-o", "name", "-k", "2"}},
      {"top-functions.txt", {"top", "functions", "-q", "{namespace=\"shop\"}"}},
      {"top-functions-wide.txt", {"top", "functions", "-k", "2", "-o", "wide"}},
      {"top-processes.txt", {"top", "processes"}},
      {"types.txt", {"types"}},
      {"labels.txt", {"labels"}},
      {"labels-container.txt", {"labels", "container", "-q", "{pod=\"web-0\"}"}},
      {"series.txt", {"series"}},
      {"profiles.txt", {"profiles", "{namespace=\"shop\"}"}},
      {"profiles-wide.txt", {"profiles", "{container=\"web\"}", "-o", "wide"}},
      {"profiles-name.txt", {"profiles", "{container=\"web\"}", "-o", "name"}},
      {"series-name.txt", {"series", "--by", "namespace", "-o", "name"}},
      {"top-containers.json", {"top", "-o", "json"}},
      {"get.folded", {"get", "{container=\"web\"}", "-o", "folded"}},
  };
  for (const Row& row : rows) {
    Ran ran = RunInRange(row.arguments);
    EXPECT_EQ(ran.exit_code, 0) << row.golden;
    if (row.golden == std::string("get.folded")) {
      EXPECT_EQ(ran.err,
                "firetower: note: folded holds only one value, cpu, and omits samples: choose one "
                "with --sample-type, or write pprof\n");
    } else {
      EXPECT_EQ(ran.err, "") << row.golden;
    }
    ExpectGolden(row.golden, ran.out);
  }
}

// The first row is that of 09:59 UTC.
TEST_F(FiretowerTest, TablesTellTimeInTheLocalZone) {
  const std::vector<std::string> line = {"profiles", "{container=\"web\"}", "--no-headers"};
  for (const auto& [zone, start] : std::initializer_list<std::pair<const char*, const char*>>{
           {"EST5", "2026-07-01T04:59:00-05:00 "},
           {"IST-5:30", "2026-07-01T15:29:00+05:30 "},
           {"NST3:30", "2026-07-01T06:29:00-03:30 "},
           {"LINT-14", "2026-07-01T23:59:00+14:00 "},
           {"UTC", "2026-07-01T09:59:00Z "}}) {
    RunOptions there;
    there.environment = {std::string("TZ=") + zone};
    EXPECT_THAT(RunInRange(line, there).out, StartsWith(start)) << zone;
  }
  RunOptions east;
  east.environment = {"TZ=EST5"};
  EXPECT_EQ(RunInRange({"profiles", "-o", "json"}, east).out,
            RunInRange({"profiles", "-o", "json"}).out);
  const Ran back = Run({"profiles", "{container=\"web\"}", "--no-headers", "--from",
                        "2026-07-01T04:58:00-05:00", "--to", "2026-07-01T04:59:00-05:00"},
                       east);
  EXPECT_THAT(back.out, StartsWith("2026-07-01T04:58:00-05:00 ")) << back.err;
}

TEST_F(FiretowerTest, GetFetchesOneStoredProfileByItsId) {
  const Ran listed = RunInRange({"profiles", "{container=\"web\"}", "-o", "name"});
  EXPECT_EQ(std::count(listed.out.begin(), listed.out.end(), '\n'), 2)
      << "the open window has none";
  const std::string id = listed.out.substr(0, listed.out.find('\n'));
  const Ran one = Run({"get", "--id", id, "-o", "folded"});
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr("main;Serve;Parse 60"));
  const Ran newest = RunInRange({"profiles", "{container=\"web\"}", "-k", "1", "-o", "name"});
  EXPECT_EQ(newest.out, id + "\n") << "the open window takes up none of the limit";
  const Ran cut = RunInRange({"profiles", "-k", "2"});
  EXPECT_EQ(cut.exit_code, 0);
  EXPECT_EQ(cut.err, "firetower: the newest 2 of 9; --limit shows more\n");
  for (const std::vector<std::string>& line : {std::vector<std::string>{"get", "{}", "--id", id},
                                               {"get", "--id", id, "--since", "1h"},
                                               {"get", "--id", "web"},
                                               {"get", "--id", ""},
                                               {"profiles", "-k", "0"}}) {
    EXPECT_EQ(Run(line).exit_code, ExitCode::kUsage) << line.back();
  }
  const Ran gone = Run({"get", "--id", id.substr(0, id.find(':')) + ":a/b/c/d", "-o", "folded"});
  EXPECT_EQ(gone.exit_code, ExitCode::kNoData);
  EXPECT_THAT(gone.err, HasSubstr("it may have been deleted"));
}

// A minute of web beside two: Parse has 60 of 100 samples of 10 ms in each.
TEST_F(FiretowerTest, DiffComparesWhatAServerHas) {
  const std::string minute = "{container=\"web\"}@2026-07-01T09:57:00Z..2026-07-01T09:58:00Z";
  const std::string two = "{container=\"web\"}@2026-07-01T09:57:00Z..2026-07-01T09:59:00Z";
  const Ran asked = Run({"diff", minute, two});
  EXPECT_EQ(asked.exit_code, 0) << asked.err;
  EXPECT_THAT(asked.out, HasSubstr("   1.0s     2.0s     +1.0s  +100.00%  (all)")) << asked.out;
  EXPECT_THAT(asked.out, HasSubstr("600.0ms     1.2s  +600.0ms   +60.00%  Parse")) << asked.out;
  const std::string file = InFolder("web.pb.gz");
  ASSERT_EQ(Run({"get", "{container=\"web\"}", "--from", "2026-07-01T09:57:00Z", "--to",
                 "2026-07-01T09:58:00Z", "-f", file})
                .exit_code,
            0);
  EXPECT_THAT(asked.out, StartsWith("before: 60.0 s covered of 60.0 s asked\n"
                                    "after: 120.0 s covered of 120.0 s asked\n"));
  const Ran half_file = Run({"diff", file, two});
  EXPECT_THAT(half_file.out, StartsWith("before: 60.0 s covered\nafter: 120.0 s"));
  EXPECT_EQ(half_file.out.substr(half_file.out.find("asked\n")),
            asked.out.substr(asked.out.rfind("asked\n")));
  EXPECT_EQ(Run({"diff", minute, two, "--normalize", "--fail-over", "1%"}).exit_code, 0);
  // A label's value is never read as a time; another namespace has no data.
  const std::string odd = "{container=\"we}@b\"}";
  for (const auto& [line, code, says] :
       {std::tuple{std::vector<std::string>{"diff", file, odd}, ExitCode::kNoData,
                   "no profile matches cpu{container=\"we}@b\"}"},
        {{"diff", file, two, "-n", "infra"}, ExitCode::kNoData, "namespace=\"infra\""},
        {{"diff", file, "{}@yesterday"}, ExitCode::kUsage, "yesterday"},
        {{"diff", file, "{}@now..now-1h"}, ExitCode::kUsage, "{}@now..now-1h"},
        {{"diff", file, "{pod="}, ExitCode::kUsage, "q:"}}) {
    const Ran ran = Run(line);
    EXPECT_EQ(ran.exit_code, code) << line[2] << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr(says)) << line[2];
  }
}

// Load is constant: in each minute Parse takes 60 of 100 samples. A range that two windows overlap
// gets both of them.
TEST_F(FiretowerTest, DiffTellsWhatTimeItsSidesCover) {
  const std::string aligned = "{container=\"web\"}@2026-07-01T09:57:00Z..2026-07-01T09:58:00Z";
  const std::string across = "{container=\"web\"}@2026-07-01T09:57:30Z..2026-07-01T09:58:30Z";
  const Ran table = Run({"diff", aligned, across, "--fail-over", "0.01%"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, StartsWith("before: 60.0 s covered of 60.0 s asked\n"
                                    "after: 120.0 s covered of 60.0 s asked\n"));
  EXPECT_THAT(table.err, HasSubstr("warning: A covers 60.0 s and B 120.0 s"));
  EXPECT_THAT(Run({"diff", aligned, across, "--no-headers"}).out, Not(HasSubstr("covered")));
  EXPECT_EQ(Run({"diff", aligned, aligned, "--fail-over", "0.01%"}).err, "");
  EXPECT_EQ(Run({"diff", aligned, across, "--normalize"}).err, "");
  const auto json = nlohmann::json::parse(Run({"diff", aligned, across, "-o", "json"}).out);
  EXPECT_EQ(json["before_covered_seconds"], 60);
  EXPECT_EQ(json["after_covered_seconds"], 120);
  EXPECT_EQ(json["after_asked_seconds"], 60);
  // The sidecar beside the web: from 20 to 100 samples a minute, Parse from 0 to 60.
  const std::string sidecar = "{container=\"sidecar\"}" + aligned.substr(aligned.find('@'));
  const Ran grown = Run({"diff", sidecar, across, "--fail-over", "299%"});
  EXPECT_EQ(grown.exit_code, ExitCode::kThreshold);
  EXPECT_THAT(grown.err, HasSubstr("Parse grew by 300.00% of the total of A, per second"));
  EXPECT_EQ(Run({"diff", sidecar, across, "--fail-over", "301%"}).exit_code, 0);
}

// Selectors work as kubectl's users type them; the content is called web-0 in shop on node-1.
TEST_F(FiretowerTest, SelectorsMayBeKindAndName) {
  const std::string web = "shop/web-0/web\n";
  const std::string both = web + "shop/web-0/sidecar\n";
  const std::string all = both + "-/-/sshd.service\n";
  for (const auto& [line, out] :
       std::initializer_list<std::pair<std::vector<std::string>, std::string>>{
           {{"top", "pod/web-0"}, both},
           {{"top", "containers", "po/web-0", "-c", "web"}, web},
           {{"top", "-q", "pods/web-0", "--container", "web", "-n", "shop"}, web},
           {{"top", "-c", "web"}, web},
           {{"top", "ns/shop"}, both},
           {{"top", "node/node-1"}, all},
           {{"top", "node/node-1", "-n", "shop"}, both},
           {{"series", "pod/web-0", "-c", "web"},
            "{container=\"web\",namespace=\"shop\",pod=\"web-0\"}\n"},
           {{"labels", "container", "pod/web-0"}, "sidecar\nweb\n"},
           {{"types", "pod/web-0"}, "cpu\n"}}) {
    std::vector<std::string> words = line;
    words.insert(words.end(), {"-o", "name"});
    const Ran ran = RunInRange(words);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.out, out) << line[0] << " " << line[1];
  }
  const std::string folded = RunInRange({"get", "{container=\"web\"}", "-o", "folded"}).out;
  EXPECT_EQ(RunInRange({"get", "pod/web-0", "-c", "web", "-o", "folded"}).out, folded);
  EXPECT_EQ(RunInRange({"flame", "pod/web-0", "-c", "web", "-o", "folded"}).out, folded);
  EXPECT_THAT(RunInRange({"flame", "pod/web-0", "-o", "svg"}).out,
              HasSubstr("cpu{pod=&quot;web-0&quot;}"));
  const Ran none = RunInRange({"top", "deploy/web", "-n", "shop"});
  EXPECT_EQ(none.exit_code, ExitCode::kNoData);
  EXPECT_THAT(none.err, HasSubstr("matches {workload=\"web\",namespace=\"shop\"}"));
}

TEST_F(FiretowerTest, SaysWhichKindsThereAre) {
  for (const char* command : {"top", "get", "flame", "profiles", "types", "labels", "series"}) {
    const Ran ran = RunInRange({command, "deploymnt/web"});
    EXPECT_EQ(ran.exit_code, ExitCode::kUsage) << command;
    EXPECT_EQ(ran.out, "") << command;
    EXPECT_THAT(ran.err, HasSubstr("did you mean 'deployment'?; give a workload")) << command;
  }
  EXPECT_THAT(RunInRange({"top", "pod/a", "-q", "pod/b"}).err,
              HasSubstr("'pod/a' and --query are both selectors"));
  EXPECT_THAT(Run({"get", "--id", "x", "-c", "web"}).err, HasSubstr("--container has no effect"));
}

TEST_F(FiretowerTest, DiffComparesThePodsBeforeAndAfterARollout) {
  const auto diff = [&](const std::string& what) {
    return Run({"diff", what + "@before-rollout", what + "@after-rollout"});
  };
  EXPECT_THAT(diff("deploy/cart").err,
              HasSubstr("no roll-out of {workload=\"cart\"} within a day"));
  testing::PutRollout(fixture_.store(), query::Fixture::kNowNs, "cart");
  const Ran grown = diff("deploy/cart");
  EXPECT_EQ(grown.exit_code, 0) << grown.err;
  EXPECT_THAT(grown.out, HasSubstr("Slow")) << grown.out;
  testing::PutRollout(fixture_.store(), query::Fixture::kNowNs, "checkout");
  const Ran several = diff("{namespace=\"shop\"}");
  EXPECT_EQ(several.exit_code, ExitCode::kUsage);
  EXPECT_THAT(several.err, HasSubstr("shop/cart and shop/checkout were rolled out"));
}

TEST_F(FiretowerTest, DiffTakesKindAndNameUnlessAFileIsCalledSo) {
  const std::string range = "@2026-07-01T09:57:00Z..2026-07-01T09:58:00Z";
  const Ran asked = Run({"diff", "pod/web-0" + range, "pod/web-0" + range, "-c", "web"});
  EXPECT_EQ(asked.exit_code, 0) << asked.err;
  EXPECT_THAT(asked.out, HasSubstr("1.0s   1.0s    0ns  +0.00%  (all)")) << asked.out;
  const Ran none = Run({"diff", "deploy/web" + range, "deploy/web"});
  EXPECT_EQ(none.exit_code, ExitCode::kNoData);
  EXPECT_THAT(none.err, HasSubstr("{workload=\"web\"}"));
  const Ran misspelt = Run({"diff", "deploymnt/web@now-2h..now-1h", "deploy/web"});
  EXPECT_EQ(misspelt.exit_code, ExitCode::kUsage);
  EXPECT_THAT(misspelt.err, HasSubstr("did you mean 'deployment'?"));
  for (const char* path : {"deploymnt/web", "profiles/web@2.pb.gz", "./web@now-1h", "a/b/c@now-1h"})
    EXPECT_THAT(Run({"diff", path, "pod/web-0"}).err, HasSubstr("cannot read ")) << path;
  ASSERT_TRUE(std::filesystem::create_directory(InFolder("pod")));
  ASSERT_TRUE(WriteFileAtomic(InFolder("pod/web-0"), "main;a 3\n"));
  const std::string here = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  const Ran file = Run({"diff", "pod/web-0", "pod/web-0"});
  std::filesystem::current_path(here);
  EXPECT_EQ(file.exit_code, 0) << file.err;
  EXPECT_THAT(file.out, HasSubstr("     3      3")) << file.out;
  EXPECT_EQ(file.err, "");
}

TEST_F(FiretowerTest, FlameWritesWhatTheNameSays) {
  const std::string selector = "{container=\"web\"}";
  const std::string html = InFolder("web.html");
  const Ran wrote = RunInRange({"flame", selector, "-f", html});
  EXPECT_EQ(wrote.exit_code, 0) << wrote.err;
  auto page = ReadFile(html);
  ASSERT_TRUE(page);
  EXPECT_THAT(*page, StartsWith("<!doctype html>"));
  EXPECT_THAT(*page, HasSubstr("\"Parse\""));
  EXPECT_THAT(*page, HasSubstr("cpu{container=&quot;web&quot;}"));
  EXPECT_EQ(RunInRange({"flame", selector, "-f", html}).exit_code, 1);  // not overwritten

  const Ran svg = RunInRange({"flame", selector, "-o", "svg", "--title", "a <b>"});
  EXPECT_THAT(svg.out, HasSubstr("a &lt;b&gt;"));
  EXPECT_THAT(svg.out, HasSubstr("<title>Parse (web): 1.8s, 0.01 cores, 60.00%</title>"));
  const Ran cut = RunInRange({"flame", selector, "-o", "svg", "--max-nodes", "1"});
  EXPECT_THAT(cut.out, Not(HasSubstr("Parse")));
  EXPECT_THAT(cut.out, HasSubstr("<title>other: 3.0s"));
  const Ran json = RunInRange({"flame", selector, "-o", "json"});
  EXPECT_THAT(json.out, HasSubstr("\"levels\":[[0,3000000000,0,0],"));
  const Ran samples = RunInRange({"flame", selector, "-o", "json", "--value", "samples"});
  EXPECT_THAT(samples.out, HasSubstr("\"levels\":[[0,300,0,0],"));
  const Ran unknown = RunInRange({"flame", selector, "-o", "svg", "--value", "bytes"});
  EXPECT_EQ(unknown.exit_code, ExitCode::kUsage);
  EXPECT_THAT(unknown.err, HasSubstr("fix: set --value to one of its values: samples, cpu\n"));
  const Ran folded = RunInRange({"flame", selector, "-o", "folded"});
  EXPECT_THAT(folded.out, HasSubstr("main;Serve;Parse"));
  EXPECT_THAT(folded.err, HasSubstr("one value, cpu, and omits samples: choose one with "
                                    "--value"));
  EXPECT_THAT(RunInRange({"get", selector, "-o", "folded", "--sample-type", "samples"}).out,
              HasSubstr("main;Serve;Parse 180\n"));
  // 60 of 100 samples a minute in three minutes, the last in the open window.
  EXPECT_THAT(RunInRange({"flame", selector, "-o", "folded", "--value", "samples"}).out,
              HasSubstr("main;Serve;Parse 180\n"));
  EXPECT_EQ(RunInRange({"flame", "{pod=\"nope\"}", "-o", "svg"}).exit_code, ExitCode::kNoData);
}

TEST_F(FiretowerTest, FlameRefusesWhatItCannotDrawOrShow) {
  for (const std::vector<std::string>& line : {std::vector<std::string>{"flame", "-f", "web.xyz"},
                                               {"flame", "-o", "svg", "--max-nodes", "many"},
                                               {"flame", "-o", "svg", "--names", "long"},
                                               {"flame", "-o", "folded", "--orientation", "flame"},
                                               {"flame", "-o", "json", "--orientation", "flame"},
                                               {"flame", "-o", "pprof", "--value", "samples"},
                                               {"flame", "-o", "pprof", "--title", "t"},
                                               {"get", "-f", "web.svg"}}) {
    Ran ran = RunInRange(line);
    EXPECT_EQ(ran.exit_code, 2) << ran.err;
    EXPECT_EQ(ran.out, "");
  }
  RunOptions terminal;
  terminal.terminal_columns = 100;
  Ran ran = RunInRange({"flame"}, terminal);
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.out, HasSubstr("-f FILE.html"));
}

// Asks the address that `view` printed, as a browser would, and then ends it.
TEST_F(FiretowerTest, ViewServesAFileUntilItIsInterrupted) {
  const std::string file = InFolder("web.pb.gz");
  ASSERT_EQ(RunInRange({"get", "{container=\"web\"}", "-f", file}).exit_code, 0);
  RunOptions options;
  std::string page;
  std::string elsewhere;
  std::string rebound;
  options.when_out_has_line = [&](const std::string& url) {
    page = Fetch(url);
    elsewhere = Fetch(url + "etc/passwd");
    rebound = Fetch(url + "' -H 'Host: evil.example");
  };
  const Ran ran = Run({"view", file, "--no-browser"}, options);
  EXPECT_EQ(ran.exit_code, ExitCode::kInterrupted) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("http://127.0.0.1:"));
  EXPECT_THAT(page, HasSubstr("Content-Security-Policy: frame-ancestors 'none'"));
  EXPECT_THAT(page, HasSubstr("X-Content-Type-Options: nosniff"));
  EXPECT_THAT(page, HasSubstr("<title>web.pb.gz</title>"));
  EXPECT_THAT(page, HasSubstr("\"Parse\""));
  EXPECT_THAT(elsewhere, HasSubstr(" 404 "));
  EXPECT_THAT(elsewhere, Not(HasSubstr("Parse")));
  EXPECT_THAT(rebound,
              AllOf(HasSubstr(" 421 "), HasSubstr("forward a port"), Not(HasSubstr("Parse"))));
}

TEST_F(FiretowerTest, ViewSaysWhyAFileCannotBeShown) {
  EXPECT_EQ(Run({"view"}).exit_code, ExitCode::kUsage);
  const Ran missing = Run({"view", InFolder("none.pb.gz")});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("No such file"));
  ASSERT_TRUE(WriteFileAtomic(InFolder("text"), "no profile"));
  const Ran text = Run({"view", InFolder("text")});
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_THAT(text.err, HasSubstr("cannot be read as a profile"));
}

TEST_F(FiretowerTest, ViewShowsFilesOfEveryFormatThatIsRead) {
  const std::vector<std::pair<std::string, std::string>> files = {
      {"a.folded", "main;a 3\n"},
      {"b.speedscope.json",
       R"({"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[)"
       R"({"name":"main"},{"name":"a"}]},"profiles":[{"type":"sampled","name":"x","unit":"none",)"
       R"("startValue":0,"endValue":3,"samples":[[0,1]],"weights":[3]}]})"},
      {"c.perf", "app 1 1.0: 7 cycles: \n\t 1 a+0x1 (/x)\n\t 2 main+0x1 (/x)\n\n"}};
  for (const auto& [name, text] : files) {
    ASSERT_TRUE(WriteFileAtomic(InFolder(name), text));
    RunOptions options;
    std::string page;
    options.when_out_has_line = [&](const std::string& url) { page = Fetch(url); };
    const Ran ran = Run({"view", InFolder(name), "--no-browser"}, options);
    EXPECT_EQ(ran.exit_code, ExitCode::kInterrupted) << name << ran.err;
    EXPECT_THAT(page, HasSubstr("\"main\"")) << name;
  }
}

TEST_F(FiretowerTest, SigtermIsExitCode143) {
  const std::string file = InFolder("web.pb.gz");
  ASSERT_EQ(RunInRange({"get", "-f", file}).exit_code, 0);
  RunOptions options;
  options.signal = SIGTERM;
  options.when_out_has_line = [](const std::string&) {};
  EXPECT_EQ(Run({"view", file, "--no-browser"}, options).exit_code, ExitCode::kTerminated);
}

TEST_F(FiretowerTest, DoctorSaysWhatToDoAndFailsWhenACheckFails) {
  Ran ran = Run({"doctor"});
  EXPECT_EQ(ran.exit_code, 0);
  ExpectGolden("doctor.txt", ran.out);
  fixture_.Change([](query::Fixture::Answers& answers) {
    answers.checks.push_back({"bpf", query::CheckStatus::kFail, "CAP_BPF is missing", "grant it"});
  });
  EXPECT_EQ(Run({"doctor"}).exit_code, 1);
  Ran json = Run({"doctor", "-o", "json"});
  EXPECT_EQ(json.exit_code, 1);
  EXPECT_THAT(json.out, HasSubstr("\"status\":\"fail\""));
}

TEST_F(FiretowerTest, NoDataIsExitCode4) {
  for (const char* command : {"top", "series", "labels", "types"}) {
    Ran ran = RunInRange({command, "-q", "{namespace=\"nope\"}"});
    EXPECT_EQ(ran.exit_code, 4) << command;
    EXPECT_EQ(ran.out, "") << command;
    EXPECT_THAT(ran.err, HasSubstr("firetower: no data\n  why: ")) << command;
    EXPECT_THAT(ran.err, HasSubstr("\n  fix: ")) << command;
  }
  Ran get = RunInRange({"get", "{namespace=\"nope\"}", "-o", "folded"});
  EXPECT_EQ(get.exit_code, 4);
  EXPECT_THAT(get.err, HasSubstr("no profile matches cpu{namespace=\"nope\"}"));
  // JSON is an answer all the same.
  Ran json = RunInRange({"top", "-q", "{namespace=\"nope\"}", "-o", "json"});
  EXPECT_EQ(json.exit_code, 4);
  EXPECT_THAT(json.out, HasSubstr("\"rows\":[]"));
}

TEST(FiretowerLimits, AnAnswerThatWouldBeTooLargeSaysWhatToDo) {
  const std::pair<store::QueryLimits, const char*> limits[] = {
      {{.max_rows = 5}, "more than 5 profiles match"},
      {{.max_read_bytes = 200}, "needs more than 200 bytes of profiles"}};
  for (const auto& [limit, why] : limits) {
    query::Fixture fixture(limit);
    const std::string url = fixture.Serve();
    for (const std::vector<std::string>& line : {std::vector<std::string>{"get", "-o", "folded"},
                                                 {"top"},
                                                 {"top", "functions"},
                                                 {"flame", "-o", "svg"}}) {
      std::vector<std::string> arguments = line;
      arguments.insert(arguments.end(), {"--server", url});
      arguments.insert(arguments.end(), kRange.begin(), kRange.end());
      const Ran ran = RunFiretower(arguments);
      EXPECT_EQ(ran.exit_code, ExitCode::kFailure) << line[0] << ran.err;
      EXPECT_EQ(ran.out, "") << line[0];
      EXPECT_THAT(ran.err, HasSubstr("firetower: the answer is too large\n  why: ")) << line[0];
      EXPECT_THAT(ran.err, HasSubstr(why)) << line[0];
      EXPECT_THAT(ran.err, HasSubstr("\n  fix: narrow the selector or the range")) << line[0];
    }
  }
}

TEST_F(FiretowerTest, UsageErrorsAreExitCode2InThreeLines) {
  for (const std::vector<std::string>& line : {std::vector<std::string>{"tpo"},
                                               {"top", "--since", "yesterday"},
                                               {"top", "--from", "now", "--to", "now-1h"},
                                               {"top", "--since", "1h", "--from", "now-2h"},
                                               {"top", "-k", "0"},
                                               {"top", "-q", "{pod="},
                                               {"top", "--type", "cpo"},
                                               {"top", "--timeout", "0s"},
                                               {"--server", "nonsense", "top"},
                                               {"get", "-f", "profile.xyz"},
                                               {"help", "nope"}}) {
    Ran ran = Run(line);
    EXPECT_EQ(ran.exit_code, 2) << line[0] << " " << line.back() << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 3) << ran.err;
  }
}

TEST_F(FiretowerTest, AServerThatIsNotThereIsExitCode5AndSaysWhatToDo) {
  fixture_.StopServing();
  for (const char* command : {"top", "get", "doctor", "types", "labels", "series"}) {
    Ran ran = Run({command});
    EXPECT_EQ(ran.exit_code, 5) << command;
    EXPECT_EQ(ran.err, "firetower: cannot reach " + url_ +
                           "\n  why: connection refused: nothing listens there\n  fix: start "
                           "firetowerd, name its address with --server URL or FIRETOWER_SERVER, or "
                           "a cluster with --context\n");
  }
  Ran host = Run({"--server", "http://no.such.host.invalid", "doctor"});
  EXPECT_EQ(host.exit_code, 5);
  EXPECT_THAT(host.err, HasSubstr("no.such.host.invalid"));
}

TEST_F(FiretowerTest, ARefusalIsExitCode5) {
  fixture_.Change([](query::Fixture::Answers& answers) {
    answers.refusal = Error(ErrorCode::kPermission, "profilingpolicies/profiles: get");
  });
  Ran ran = Run({"top"});
  EXPECT_EQ(ran.exit_code, 5);
  EXPECT_THAT(ran.err, HasSubstr("profilingpolicies/profiles"));
}

TEST_F(FiretowerTest, FlagsWinOverTheEnvironment) {
  RunOptions wrong;
  wrong.environment = {"FIRETOWER_SERVER=http://127.0.0.1:1"};
  EXPECT_EQ(RunFiretower({"doctor", "--server", url_}, wrong).exit_code, 0);
}

TEST_F(FiretowerTest, GetWritesTheFormatOfTheExtensionAndNeverOverwrites) {
  std::string file = InFolder("web.pb.gz");
  Ran ran = RunInRange({"get", "{container=\"web\"}", "-f", file});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out, "");
  auto bytes = ReadFile(file);
  ASSERT_TRUE(bytes);
  auto profile = profile::DecodePprof(*bytes);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->Total(0), 300);

  Ran again = RunInRange({"get", "-f", file});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("--force"));
  EXPECT_EQ(ReadFile(file).value(), *bytes);
  EXPECT_EQ(RunInRange({"get", "-f", file, "--force"}).exit_code, 0);
  EXPECT_NE(ReadFile(file).value(), *bytes);

  ASSERT_EQ(RunInRange({"get", "-f", InFolder("a.folded")}).exit_code, 0);
  EXPECT_THAT(ReadFile(InFolder("a.folded")).value(), HasSubstr("main;Serve;Parse 1800000000\n"));
  ASSERT_EQ(RunInRange({"get", "-f", InFolder("a.json")}).exit_code, 0);
  EXPECT_THAT(ReadFile(InFolder("a.json")).value(), StartsWith("{"));
  EXPECT_EQ(RunInRange({"get", "-f", InFolder("no/such/folder.pb.gz")}).exit_code, 1);
  // Only the requested files are left.
  EXPECT_EQ(ListDirectory(folder_).value().size(), 3u);
}

TEST_F(FiretowerTest, GetWritesPprofToAPipeButNotToATerminal) {
  Ran pipe = RunInRange({"get"});
  EXPECT_EQ(pipe.exit_code, 0);
  EXPECT_TRUE(profile::DecodePprof(pipe.out));
  RunOptions terminal;
  terminal.terminal_columns = 100;
  Ran tty = RunInRange({"get"}, terminal);
  EXPECT_EQ(tty.exit_code, 2);
  EXPECT_THAT(tty.out, HasSubstr("-f FILE.pb.gz"));
}

TEST_F(FiretowerTest, ColoursOnlyWhereTheyAreWanted) {
  RunOptions terminal;
  terminal.terminal_columns = 200;
  EXPECT_THAT(RunInRange({"top"}, terminal).out, HasSubstr("\033[1m"));
  EXPECT_THAT(RunInRange({"top", "--color", "never"}, terminal).out, Not(HasSubstr("\033[")));
  RunOptions no_color = terminal;
  no_color.environment = {"NO_COLOR=1"};
  EXPECT_THAT(RunInRange({"top"}, no_color).out, Not(HasSubstr("\033[")));
  RunOptions force;
  force.environment = {"CLICOLOR_FORCE=1"};
  EXPECT_THAT(RunInRange({"top"}, force).out, HasSubstr("\033[1m"));
  EXPECT_THAT(RunInRange({"top", "--color=always"}).out, HasSubstr("\033[1m"));
}

TEST_F(FiretowerTest, CutsTablesToTheTerminalUnlessWide) {
  RunOptions narrow;
  narrow.terminal_columns = 60;
  narrow.environment = {"NO_COLOR=1", "LC_ALL=C"};
  Ran ran = RunInRange({"top"}, narrow);
  EXPECT_EQ(ran.exit_code, 0);
  for (size_t at = 0; at < ran.out.size();) {
    size_t end = ran.out.find("\r\n", at);
    EXPECT_LE(end - at, 60u) << ran.out;
    at = end + 2;
  }
  EXPECT_THAT(RunInRange({"top", "-o", "wide"}, narrow).out, HasSubstr("/usr/bin/sidecar"));
}

TEST_F(FiretowerTest, WatchEndsWith130AndGivesTheCursorBack) {
  RunOptions terminal;
  terminal.terminal_columns = 100;
  terminal.interrupt_at = "sshd.service";
  std::vector<std::string> watch = {"top", "--watch"};
  Ran tty = RunInRange(watch, terminal);
  EXPECT_EQ(tty.exit_code, 130);
  EXPECT_THAT(tty.out, HasSubstr("\033[?25l"));
  EXPECT_TRUE(tty.out.ends_with("\033[?25h\r\n")) << tty.out;
  RunOptions pipe;
  pipe.interrupt_at = "sshd.service";
  Ran plain = RunInRange(watch, pipe);
  EXPECT_EQ(plain.exit_code, 130);
  EXPECT_THAT(plain.out, Not(HasSubstr("\033")));
}

TEST_F(FiretowerTest, WarnsWhenStoredProfilesCouldNotBeRead) {
  auto listed = fixture_.store().List("v1/", "");
  ASSERT_TRUE(listed && !listed->empty());
  ASSERT_TRUE(fixture_.store().Put(listed->front().key, "half a fi"));
  for (const char* command : {"top", "series"}) {
    Ran ran = RunInRange({command});
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_THAT(ran.err, HasSubstr("1 stored profiles, or bundles of them, could not be read and "
                                   "are not counted; the server's log names the first\n"))
        << command;
  }
}

// A server that takes its time; the line is gone when the answer is there.
TEST_F(FiretowerTest, TellsOfAWaitOnATerminal) {
  k8s::FakeHttpServer server([](k8s::FakePeer& peer, const std::string&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1300));
    return peer.Reply("200 OK", R"({"version":1,"names":["pod"]})");
  });
  const std::string url = "http://127.0.0.1:" + std::to_string(server.port());
  RunOptions terminal;
  terminal.terminal_columns = 100;
  const Ran tty = RunFiretower({"labels", "-o", "name", "--server", url}, terminal);
  EXPECT_EQ(tty.exit_code, 0) << tty.out;
  EXPECT_THAT(tty.out, HasSubstr("\rasking " + url + ", 1s\033[K"));
  EXPECT_THAT(tty.out, HasSubstr("\r\033[Kpod\r\n"));
  const Ran pipe = RunFiretower({"labels", "-o", "name", "--server", url});
  EXPECT_EQ(pipe.out, "pod\n");
  EXPECT_EQ(pipe.err, "asking " + url + ", 1s\n");
}

TEST_F(FiretowerTest, ANamespaceIsAMatcherOfAServersQuestion) {
  EXPECT_EQ(RunInRange({"top", "-n", "shop", "-o", "name"}).out,
            "shop/web-0/web\nshop/web-0/sidecar\n");
  const Ran none = RunInRange({"top", "-n", "nope"});
  EXPECT_EQ(none.exit_code, ExitCode::kNoData);
  EXPECT_THAT(none.err, HasSubstr("nothing in that range matches {namespace=\"nope\"}"));
}

TEST_F(FiretowerTest, VerboseShowsTheRequest) {
  EXPECT_THAT(Run({"doctor", "-v"}).err, HasSubstr("/api/v1/doctor\n"));
}

}  // namespace
}  // namespace firetower::cli
