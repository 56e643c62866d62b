// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/dwarf/dwarf_frames.h"

#include <gtest/gtest.h>

#include <random>

#include "base/file.h"
#include "symbolizer/symbol_table.h"
#include "tests/support/command.h"

namespace firetower::symbolizer {
namespace {

using ::firetower::testing::RunCommand;
using ::firetower::testing::ScratchFolder;

constexpr char kProgram[] = FIRETOWER_BINARY_DIR "/tests/symbols_program";

// Owns its bytes, as a file does.
class StringSource : public RandomAccess {
 public:
  explicit StringSource(std::string bytes) : bytes_(std::move(bytes)) {}
  uint64_t size() const override { return bytes_.size(); }
  Status ReadAt(uint64_t offset, std::span<std::byte> out) const override {
    return MemorySource(std::as_bytes(std::span(bytes_))).ReadAt(offset, out);
  }

 private:
  std::string bytes_;
};

Result<std::shared_ptr<const DwarfFrames>> Open(std::string bytes, dwarf::UnitCache& cache,
                                                const dwarf::DwarfLimits& limits = {}) {
  return DwarfFrames::Open(std::make_unique<StringSource>(std::move(bytes)), cache, limits);
}

// Returns a function's first address by its linkage name, from nm(1).
uint64_t AddressOf(const std::string& function) {
  return std::stoull(
      RunCommand("nm " + std::string(kProgram) + " | grep ' " + function + "$'").output, nullptr,
      16);
}

// A small object: its sections are the whole of it.
std::string SmallObject() {
  ScratchFolder folder;
  auto built = RunCommand("cd " + folder.path() +
                          " && printf 'static inline int f(int x) { return x * 3; }\\n"
                          "int g(int x) { return f(x) + f(x + 1); }\\n' > s.c"
                          " && gcc -g -O2 -shared -nostdlib -Wl,-z,noseparate-code -o s.so s.c");
  EXPECT_EQ(built.exit_code, 0) << built.output;
  return ReadFile(folder.path() + "/s.so").value();
}

TEST(DwarfFrames, TellsFileLineAndStartOfAFunction) {
  dwarf::UnitCache cache(16 << 20);
  auto frames = Open(ReadFile(kProgram).value(), cache).value();
  std::vector<SourceFrame> found;
  // Not main: of its first instruction clang makes an inlined call's.
  frames->Find(AddressOf("_ZN4shop5CheckEi"), found);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "_ZN4shop5CheckEi");
  EXPECT_TRUE(found[0].file.ends_with("/symbols_program.cc")) << found[0].file;
  const auto begins =
      std::stoul(RunCommand("grep -n ' int Check' " FIRETOWER_SOURCE_DIR
                            "/tests/unit/symbolizer/elf/symbols_program.cc | cut -d: -f1")
                     .output);
  EXPECT_EQ(found[0].line, begins);
  EXPECT_EQ(found[0].start_line, begins);
}

// Without the .dwo nobody knows that the line is the inlined function's.
TEST(DwarfFrames, TellsNoLinesOfASplitUnit) {
  for (const char* version : {"-gdwarf-4", "-gdwarf-5"}) {
    ScratchFolder folder;
    auto built =
        RunCommand("cd " + folder.path() +
                   " && printf 'int x;\\nstatic inline int f(int i) {\\n  return i * x; }\\n"
                   "int g(int i) { return f(i) + f(i + 1); }\\n' > s.c && gcc -O2 -gsplit-dwarf " +
                   version + " -shared -fPIC -nostdlib -o s.so s.c && nm s.so | grep ' T g$'");
    ASSERT_EQ(built.exit_code, 0) << built.output;
    dwarf::UnitCache cache(16 << 20);
    auto frames = Open(ReadFile(folder.path() + "/s.so").value(), cache);
    std::vector<SourceFrame> found;
    if (frames) (*frames)->Find(std::stoull(built.output, nullptr, 16), found);
    EXPECT_TRUE(found.empty()) << version << ": " << found.front().name << " "
                               << found.front().file;
  }
}

TEST(DwarfFrames, ReadsAUnitWhenItIsAskedFor) {
  dwarf::UnitCache cache(16 << 20);
  auto frames = Open(ReadFile(kProgram).value(), cache).value();
  const uint64_t main = AddressOf("main");
  EXPECT_EQ(cache.bytes(), 0u);
  EXPECT_FALSE(frames->IsReady(main));
  EXPECT_TRUE(frames->IsReady(1)) << "no unit is there, so there is nothing to read";
  std::vector<SourceFrame> found;
  frames->Find(main, found);
  EXPECT_TRUE(frames->IsReady(main));
  EXPECT_GT(cache.bytes(), 0u);
  frames.reset();
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(DwarfFrames, SaysWhatItDoesNotRead) {
  dwarf::UnitCache cache(16 << 20);
  ScratchFolder folder;
  RunCommand("strip -o " + folder.path() + "/stripped " + kProgram);
  auto stripped = Open(ReadFile(folder.path() + "/stripped").value(), cache);
  EXPECT_EQ(stripped.error().code(), ErrorCode::kNotFound);
  RunCommand("objcopy --compress-debug-sections=zlib " + std::string(kProgram) + " " +
             folder.path() + "/packed");
  const std::string packed = ReadFile(folder.path() + "/packed").value();
  dwarf::DwarfLimits limits;
  limits.max_unpacked_bytes = 1000;
  EXPECT_EQ(Open(packed, cache, limits).error().code(), ErrorCode::kExhausted);
  EXPECT_TRUE(Open(packed, cache));
  EXPECT_EQ(cache.files(), 0u);
}

TEST(DwarfFrames, AUnitBeyondItsLimitHasNoFrames) {
  dwarf::UnitCache cache(16 << 20);
  dwarf::DwarfLimits limits;
  limits.max_unit_bytes = 100;
  auto frames = Open(ReadFile(kProgram).value(), cache, limits).value();
  std::vector<SourceFrame> found;
  frames->Find(AddressOf("main"), found);
  EXPECT_TRUE(found.empty());
  EXPECT_TRUE(frames->IsReady(AddressOf("main"))) << "and is not read again";
}

void LookAround(const std::string& bytes) {
  dwarf::UnitCache cache(16 << 20);
  auto frames = Open(bytes, cache);
  if (!frames) return;
  std::vector<SourceFrame> found;
  for (uint64_t address = 0; address < 0x2000; address += 7) (*frames)->Find(address, found);
}

TEST(DwarfFrames, EveryPrefixOfAFileOpensOrFailsCleanly) {
  const std::string bytes = SmallObject();
  for (size_t length = 0; length < bytes.size(); ++length) LookAround(bytes.substr(0, length));
}

TEST(DwarfFrames, AnyByteMayBeWrong) {
  const std::string bytes = SmallObject();
  std::mt19937 random(20240229);
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(random());
    LookAround(damaged);
  }
}

}  // namespace
}  // namespace firetower::symbolizer
