// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/elf/debug_file.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "symbolizer/elf/build_id.h"
#include "symbolizer/elf/debug_link.h"
#include "symbolizer/symbol_table.h"
#include "tests/support/command.h"
#include "tests/unit/symbolizer/support/elf_builder.h"

namespace firetower::symbolizer {
namespace {

using ::firetower::testing::RunCommand;
using ::firetower::testing::ScratchFolder;

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

// Everything below a folder, as a container's root is.
class FolderTree : public FileTree {
 public:
  explicit FolderTree(std::string root) : root_(std::move(root)) {}
  Result<FileSource> Open(const std::string& path) const override {
    return FileSource::Open(root_ + path);
  }

 private:
  std::string root_;
};

// A program of ours, stripped as distributions do it, at /opt/bin/app below the folder.
class DebugFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Must(
        fmt::format("mkdir -p {0}/opt/bin && cp {1} {0}/full && cd {0} && "
                    "objcopy --only-keep-debug full app.debug && "
                    "objcopy -S --add-gnu-debuglink=app.debug full opt/bin/app",
                    root(), FIRETOWER_BINARY_DIR "/tests/symbols_program"));
    full_ = LoadElfSymbols(FileSource::Open(root() + "/full").value()).value();
  }
  const std::string& root() const { return folder_.path(); }
  static void Must(const std::string& command) {
    auto result = RunCommand(command);
    ASSERT_EQ(result.exit_code, 0) << command << "\n" << result.output;
  }
  void Put(const std::string& folder, const std::string& from = "app.debug") {
    Must(fmt::format("mkdir -p {0}{1} && cp {0}/{2} {0}{1}/app.debug", root(), folder, from));
  }
  // Returns the path of the file that was found; empty if none was.
  std::string Find(const std::string& path = "/opt/bin/app") {
    FileSource source = FileSource::Open(root() + "/opt/bin/app").value();
    ElfFile object = ElfFile::Open(source).value();
    auto file = FindDebugFile(object, path, FolderTree(root()));
    if (!file) return "";
    std::string target =
        std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", file->fd())).string();
    return target.substr(root().size());
  }
  std::string BuildId() { return ReadBuildId(FileSource::Open(root() + "/full").value()).value(); }

  ScratchFolder folder_;
  std::shared_ptr<const SymbolTable> full_;
};

// GDB manual, "Separate Debug Files": build id first, then the link, in this order of folders.
TEST_F(DebugFileTest, LooksInTheOrderOfGdb) {
  EXPECT_EQ(Find(), "");
  Put("/usr/lib/debug/opt/bin");
  EXPECT_EQ(Find(), "/usr/lib/debug/opt/bin/app.debug");
  Put("/opt/bin/.debug");
  EXPECT_EQ(Find(), "/opt/bin/.debug/app.debug");
  Put("/opt/bin");
  EXPECT_EQ(Find(), "/opt/bin/app.debug");
  std::string by_id = "/usr/lib/debug/" + BuildIdPath(BuildId());
  Must(fmt::format("mkdir -p $(dirname {0}{1}) && cp {0}/app.debug {0}{1}", root(), by_id));
  EXPECT_EQ(Find(), by_id);
}

TEST_F(DebugFileTest, TakesNoFileOfAnotherBuild) {
  Must(fmt::format("cd {0} && cp app.debug other.debug && printf x >> other.debug", root()));
  Put("/opt/bin", "other.debug");
  EXPECT_EQ(Find(), "") << "its CRC differs";
  Put("/opt/bin/.debug");
  EXPECT_EQ(Find(), "/opt/bin/.debug/app.debug");
  std::string by_id = "/usr/lib/debug/" + BuildIdPath(BuildId());
  Must(
      fmt::format("mkdir -p $(dirname {0}{1}) && objcopy --only-keep-debug "
                  "--remove-section=.note.gnu.build-id {0}/full {0}{1}",
                  root(), by_id));
  EXPECT_EQ(Find(), "/opt/bin/.debug/app.debug") << "the other one has no build id";
}

TEST_F(DebugFileTest, NamesAStrippedFileAsTheFullOne) {
  FileSource source = FileSource::Open(root() + "/opt/bin/app").value();
  EXPECT_FALSE(HasFullSymbols(ElfFile::Open(source).value()));
  FileSource debug = FileSource::Open(root() + "/app.debug").value();
  auto table = LoadElfSymbols(source, {}, &debug).value();
  size_t named = 0;
  for (uint64_t offset = 0; offset < source.size(); ++offset) {
    auto expected = full_->Find(offset);
    auto found = table->Find(offset);
    ASSERT_EQ(found.has_value(), expected.has_value()) << offset;
    if (!found) continue;
    ASSERT_EQ(found->name, expected->name) << offset;
    ++named;
  }
  EXPECT_GT(named, 100u);
  auto bare = LoadElfSymbols(source).value();
  EXPECT_LT(bare->range_count(), table->range_count());
}

TEST_F(DebugFileTest, ADamagedDebugFileCostsOnlyItself) {
  FileSource source = FileSource::Open(root() + "/opt/bin/app").value();
  const std::string debug = ReadFile(root() + "/app.debug").value();
  const size_t bare = LoadElfSymbols(source).value()->range_count();
  for (size_t length = 0; length < debug.size(); length += 97) {
    MemorySource cut(Bytes(debug).first(length));
    auto table = LoadElfSymbols(source, {}, &cut);
    ASSERT_TRUE(table) << length;
    ASSERT_EQ((*table)->range_count(), bare) << length;
  }
}

TEST(BuildIdPath, IsAFolderOfTwoDigitsAndAFile) {
  EXPECT_EQ(BuildIdPath("00af9c"), ".build-id/00/af9c.debug");
  for (const char* wrong : {"", "a", "ab", "abc", "../../etc", "ab/../cd", "ABCD", "abcg"}) {
    EXPECT_EQ(BuildIdPath(wrong), "") << wrong;
  }
}

// The check value of CRC-32/ISO-HDLC, which the GDB manual prescribes.
TEST(Crc32, IsTheOneOfTheLink) {
  const std::string digits = "123456789";
  EXPECT_EQ(Crc32(MemorySource(Bytes(digits)), 100).value(), 0xcbf43926u);
  EXPECT_EQ(Crc32(MemorySource({}), 100).value(), 0u);
  EXPECT_EQ(Crc32(MemorySource(Bytes(digits)), 8).error().code(), ErrorCode::kExhausted);
}

std::string Section(const std::string& name) {
  std::string section = name + '\0';
  section.resize((section.size() + 3) / 4 * 4);
  return section + "\x01\x02\x03\x04";
}

TEST(ParseDebugLink, ReadsNameAndCrc) {
  for (const char* name : {"a", "abc", "abcd", "libfoo.so.1.debug"}) {
    const std::string section = Section(name);
    auto link = ParseDebugLink(Bytes(section));
    ASSERT_TRUE(link) << name;
    EXPECT_EQ(link->file_name, name);
    EXPECT_EQ(link->crc32, 0x04030201u);
  }
}

TEST(ParseDebugLink, TakesNoWayToAnotherFolder) {
  for (const char* name : {"", ".", "..", "/etc/passwd", "../secret", "a/b"}) {
    EXPECT_FALSE(ParseDebugLink(Bytes(Section(name)))) << name;
  }
}

TEST(ParseDebugLink, NeedsEveryByte) {
  const std::string section = Section("libfoo.so.1.debug");
  for (size_t length = 0; length < section.size(); ++length) {
    EXPECT_FALSE(ParseDebugLink(Bytes(section).first(length))) << length;
  }
}

}  // namespace
}  // namespace firetower::symbolizer
