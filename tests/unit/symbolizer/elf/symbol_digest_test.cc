// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/elf/symbols/symbol_digest.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "symbolizer/elf/build_id.h"
#include "tests/support/command.h"
#include "tests/unit/symbolizer/support/elf_builder.h"

namespace firetower::symbolizer {
namespace {

using ::firetower::testing::RunCommand;
using ::firetower::testing::ScratchFolder;

constexpr char kProgram[] = FIRETOWER_BINARY_DIR "/tests/symbols_program";

std::string DigestOf(const std::string& path) {
  const FileSource source = FileSource::Open(path).value();
  return SymbolDigest(ElfFile::Open(source).value()).value();
}
std::string BuildIdOf(const std::string& path) {
  return ReadBuildId(FileSource::Open(path).value()).value();
}

class SymbolDigestTest : public ::testing::Test {
 protected:
  // A copy of a real program, changed by objcopy or strip.
  std::string Changed(const std::string& command) {
    const std::string path = fmt::format("{}/{}", folder_.path(), ++count_);
    RunCommand(fmt::format("cp {} {}", kProgram, path));
    if (!command.empty()) RunCommand(command + " " + path);
    return path;
  }

 private:
  ScratchFolder folder_;
  int count_ = 0;
};

TEST_F(SymbolDigestTest, IsTheSameForCopies) {
  EXPECT_EQ(DigestOf(Changed("")), DigestOf(kProgram));
  EXPECT_EQ(DigestOf(kProgram).size(), 64u);
}

TEST_F(SymbolDigestTest, TellsWhatTheBuildIdDoesNot) {
  for (const char* command :
       {"strip", "strip -g", "objcopy --redefine-sym main=niam", "objcopy --strip-symbol=main",
        "objcopy --add-section .gnu_debugdata=/etc/hostname"}) {
    const std::string path = Changed(command);
    EXPECT_EQ(BuildIdOf(path), BuildIdOf(kProgram)) << command;
    EXPECT_NE(DigestOf(path), DigestOf(kProgram)) << command;
  }
}

TEST_F(SymbolDigestTest, TellsEveryByteOfTheSymbols) {
  const auto program = [](const std::string& name, uint64_t value) {
    ElfBuilder builder;
    builder.AddCode(0x401000, 0x100);
    builder.AddSymbols(SHT_SYMTAB, {{name, value, 0x10}});
    const std::string bytes = builder.Build();
    const MemorySource source(std::as_bytes(std::span(bytes)));
    return SymbolDigest(ElfFile::Open(source).value()).value();
  };
  const std::string digest = program("function_1", 0x401000);
  EXPECT_EQ(program("function_1", 0x401000), digest);
  EXPECT_NE(program("function_2", 0x401000), digest);
  EXPECT_NE(program("function_1", 0x401008), digest);
}

// A file that ends too early has a digest or none, and reads nothing beyond its end.
TEST_F(SymbolDigestTest, OfEveryPrefix) {
  ElfBuilder builder;
  builder.AddCode(0x401000, 0x10);
  builder.AddSymbols(SHT_SYMTAB, {{"function", 0x401000, 0x10}});
  builder.AddSection(".gnu_debuglink", SHT_PROGBITS, "app.debug");
  const std::string bytes = builder.Build();
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string prefix = bytes.substr(0, size);
    const MemorySource source(std::as_bytes(std::span(prefix)));
    auto file = ElfFile::Open(source);
    if (file) (void)SymbolDigest(*file);
  }
}

}  // namespace
}  // namespace firetower::symbolizer
