// SPDX-License-Identifier: Apache-2.0
// Runs the real binary with output names that are not regular files.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/file.h"
#include "cli/args/spec.h"
#include "tests/support/command.h"
#include "tests/unit/cli/program.h"
#include "tests/unit/query/fixture.h"

namespace firetower::cli {
namespace {

using ::firetower::testing::ScratchFolder;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class OutputTest : public ::testing::Test {
 protected:
  OutputTest() { EXPECT_TRUE(WriteFileAtomic(Path("a.folded"), kStacks)); }

  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }

  // A FIFO with a reader, so that who writes does not wait.
  UniqueFd MakeFifo(const std::string& name) const {
    EXPECT_EQ(::mkfifo(Path(name).c_str(), 0600), 0);
    auto reader = OpenReadOnly(Path(name), O_NONBLOCK);
    EXPECT_TRUE(reader);
    return std::move(*reader);
  }
  bool IsFifo(const std::string& name) const {
    return std::filesystem::is_fifo(std::filesystem::symlink_status(Path(name)));
  }

  static constexpr const char* kStacks = "main;a 3\n";
  ScratchFolder folder_;
};

TEST_F(OutputTest, AFifoIsWrittenToAndStays) {
  const std::string in = Path("a.folded");
  const UniqueFd reader = MakeFifo("fifo.folded");
  const std::string fifo = Path("fifo.folded");
  for (const auto& [line, says] :
       std::initializer_list<std::pair<std::vector<std::string>, const char*>>{
           {{"convert", in, fifo}, kStacks},
           {{"convert", in, fifo, "--force"}, kStacks},
           {{"convert", in, fifo, "-o", "svg", "--force"}, "<title>"},
           {{"merge", in, "-o", fifo, "--force"}, kStacks},
           {{"diff", in, in, "-f", fifo, "--force"}, "main;a 3 3\n"},
           {{"diff", in, in, "-f", fifo, "-o", "json", "--force"}, "\"before\":3"}}) {
    const Ran ran = RunFiretower(line);
    EXPECT_EQ(ran.exit_code, 0) << line[0] << ran.err;
    ASSERT_TRUE(IsFifo("fifo.folded")) << line[0];
    EXPECT_THAT(ReadFd(reader.get()).value(), HasSubstr(says)) << line[0];
  }
}

TEST_F(OutputTest, QuestionsWriteToFifosToo) {
  query::Fixture fixture;
  const std::string url = fixture.Serve();
  const UniqueFd reader = MakeFifo("fifo.folded");
  for (const char* command : {"get", "flame"}) {
    const Ran ran =
        RunFiretower({command, "--server", url, "--from", "2026-07-01T09:45:00Z", "--to",
                      "2026-07-01T10:00:00Z", "-f", Path("fifo.folded"), "--force"});
    EXPECT_EQ(ran.exit_code, 0) << command << ran.err;
    ASSERT_TRUE(IsFifo("fifo.folded")) << command;
    EXPECT_THAT(ReadFd(reader.get()).value(), HasSubstr("main;Serve;Parse ")) << command;
  }
}

TEST_F(OutputTest, ASymlinksTargetIsReplaced) {
  namespace fs = std::filesystem;
  ASSERT_TRUE(fs::create_directory(Path("there")));
  ASSERT_TRUE(WriteFileAtomic(Path("there/file.folded"), "precious\n"));
  // Relative to the folder of the link, and two of them.
  fs::create_symlink("file.folded", Path("there/second"));
  fs::create_symlink("there/second", Path("link.folded"));
  const std::vector<std::string> line = {"convert", Path("a.folded"), Path("link.folded")};
  const Ran refused = RunFiretower(line);
  EXPECT_EQ(refused.exit_code, ExitCode::kFailure);
  EXPECT_THAT(refused.err, HasSubstr("--force"));
  EXPECT_EQ(ReadFile(Path("there/file.folded")).value(), "precious\n");

  std::vector<std::string> forced = line;
  forced.push_back("--force");
  EXPECT_EQ(RunFiretower(forced).exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(Path("link.folded")));
  EXPECT_TRUE(fs::is_symlink(Path("there/second")));
  EXPECT_EQ(ReadFile(Path("there/file.folded")).value(), kStacks);
  EXPECT_EQ(ListDirectory(Path("there")).value().size(), 2u);  // nothing temporary

  // To a file that is not there yet, and in a ring.
  fs::create_symlink("there/new.folded", Path("new.folded"));
  EXPECT_EQ(RunFiretower({"convert", Path("a.folded"), Path("new.folded")}).exit_code, 0);
  EXPECT_EQ(ReadFile(Path("there/new.folded")).value(), kStacks);
  fs::create_symlink("ring.folded", Path("ring.folded"));
  const Ran ring = RunFiretower({"convert", Path("a.folded"), Path("ring.folded"), "--force"});
  EXPECT_EQ(ring.exit_code, ExitCode::kFailure);
  EXPECT_THAT(ring.err, StartsWith("firetower: cannot write " + Path("ring.folded") + "\n"));
  EXPECT_TRUE(fs::is_symlink(Path("ring.folded")));
}

TEST_F(OutputTest, ForceKeepsTheModeOfTheFile) {
  for (const mode_t mode : {0600, 0640, 0666, 0444}) {
    ASSERT_TRUE(WriteFileAtomic(Path("old.folded"), "old 1\n"));
    ASSERT_EQ(::chmod(Path("old.folded").c_str(), mode), 0);
    const Ran ran = RunFiretower({"convert", Path("a.folded"), Path("old.folded"), "--force"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ReadFile(Path("old.folded")).value(), kStacks);
    struct stat info {};
    ASSERT_EQ(::stat(Path("old.folded").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, mode);
  }
}

TEST_F(OutputTest, AFolderIsNoPlaceToWrite) {
  ASSERT_TRUE(std::filesystem::create_directory(Path("x.folded")));
  const Ran ran = RunFiretower({"convert", Path("a.folded"), Path("x.folded"), "--force"});
  EXPECT_EQ(ran.exit_code, ExitCode::kFailure);
  EXPECT_THAT(ran.err, HasSubstr("why: it is a folder\n  fix: name a file in it\n"));
}

}  // namespace
}  // namespace firetower::cli
