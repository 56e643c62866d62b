// SPDX-License-Identifier: Apache-2.0
// Memory that may be a file's code, as CodeProbe finds and ProcessTable uses it.
#include "daemon/process/code_probe.h"

#include <elf.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cstring>
#include <fstream>
#include <utility>

#include "base/file.h"
#include "daemon/process/process_table.h"
#include "tests/support/fake_proc.h"
#include "tests/unit/symbolizer/support/elf_builder.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::FakeProc;
using ::firetower::testing::WriteText;
using symbolizer::ElfBuilder;

constexpr uint64_t kVaddr = 0x401000;  // of 8 KiB of code, at 0x1000 in the file
constexpr uint64_t kBase =
    0x7f00400000;  // of the file's first byte, with a bias; ext4 ends at 16 TiB
constexpr uint64_t kText = kBase + 0x1000;
constexpr uint64_t kTextBytes = 0x2000;

// Makes an ELF file whose code has no two equal bytes in a row.
std::string Image() {
  ElfBuilder builder;
  builder.AddCode(kVaddr, kTextBytes);
  std::string bytes = builder.Build();
  // Its segment begins with the file.
  Elf64_Phdr load;
  std::memcpy(&load, bytes.data() + sizeof(Elf64_Ehdr), sizeof(load));
  load.p_vaddr -= load.p_offset;
  load.p_filesz += std::exchange(load.p_offset, 0);
  std::memcpy(bytes.data() + sizeof(Elf64_Ehdr), &load, sizeof(load));
  for (size_t i = 0; i < kTextBytes; ++i)
    bytes[ElfBuilder::kCodeFileOffset + i] = static_cast<char>(i * 7 + i / 256);
  return bytes;
}

class CodeProbeTest : public ::testing::Test {
 protected:
  CodeProbeTest() {
    // Takes the device of the file system that the fake's files are on.
    struct stat info {};
    ::stat(proc_.root().c_str(), &info);
    device_ = fmt::format("{}:{}", major(info.st_dev), minor(info.st_dev));
    SetType("ext4");
    proc_.SetProcess(7, "app", 1, 1, "");
  }
  void SetType(const std::string& type) {
    WriteText(proc_.Of(7) + "/mountinfo", fmt::format("36 35 {} / / rw,noatime shared:1 - {} "
                                                      "/dev/root rw\n",
                                                      device_, type));
  }
  std::string Line(uint64_t start, uint64_t end, const char* rights, uint64_t offset,
                   const std::string& path, uint64_t inode) {
    return fmt::format("{:x}-{:x} {} {:08x} {} {} {}\n", start, end, rights, offset,
                       inode == 0 ? "00:00" : DeviceInHex(), inode, path);
  }
  // Ends a round each second for a minute.
  void PassAMinute() {
    for (int i = 0; i < 60; ++i) {
      clock_.Advance(kNsPerSecond);
      table_.EndRound();
    }
  }
  void SetMaps(const std::string& maps) { proc_.SetMaps(7, maps); }
  void MapFile(uint64_t start, uint64_t end, const std::string& bytes) {
    WriteText(fmt::format("{}/map_files/{:x}-{:x}", proc_.Of(7), start, end), bytes);
  }
  // Writes the memory at `address`; all of its pages are present, or none.
  void SetMemory(uint64_t address, const std::string& bytes, bool present = true) {
    WriteText(proc_.Of(7) + "/mem", "");
    WriteText(proc_.Of(7) + "/pagemap", "");
    std::ofstream memory(proc_.Of(7) + "/mem", std::ios::in | std::ios::binary);
    memory.seekp(static_cast<std::streamoff>(address));
    memory << bytes;
    std::ofstream pages(proc_.Of(7) + "/pagemap", std::ios::in | std::ios::binary);
    pages.seekp(static_cast<std::streamoff>(address / 4096 * 8));
    const uint64_t entry = uint64_t{present} << 63;
    for (uint64_t at = 0; at < bytes.size(); at += 4096)
      pages.write(reinterpret_cast<const char*>(&entry), sizeof(entry));
  }
  std::string Code() const { return Image().substr(ElfBuilder::kCodeFileOffset, kTextBytes); }

  // A program whose code is in anonymous memory in its place, and its headers still in the file.
  void MoveCode(const std::string& in_memory) {
    SetMaps(Line(kBase, kText, "r--p", 0, "/bin/app", 42) +
            Line(kText, kText + kTextBytes, "r-xp", 0, "", 0) +
            Line(kText + kTextBytes, kText + kTextBytes + 0x1000, "rw-p", 0x3000, "/bin/app", 42));
    MapFile(kBase, kText, Image());
    SetMemory(kText, in_memory);
  }
  void Tell(std::string_view path, uint64_t start, uint64_t bytes, uint64_t offset,
            uint64_t inode = 0) {
    SidebandEvent event;
    event.kind = SidebandKind::kMmap;
    event.pid = event.tid = 7;
    event.start = start;
    event.size_bytes = bytes;
    event.file_offset = offset;
    event.inode = inode;
    event.device = inode == 0 ? 0 : Device();
    table_.Apply(event, path);
  }
  const ProcessMapping& MappingAt(uint64_t address) {
    return *ProcessTable::FindMapping(*table_.Find(7), address);
  }
  const Module& ModuleAt(uint64_t address) { return *modules_.Get(MappingAt(address).module); }
  void Meet() { table_.Meet(table_.Get(7), 1000); }

  uint64_t Device() const {
    struct stat info {};
    ::stat(proc_.root().c_str(), &info);
    return uint64_t{major(info.st_dev)} << 32 | minor(info.st_dev);
  }
  std::string DeviceInHex() const {
    return fmt::format("{:02x}:{:02x}", Device() >> 32, Device() & UINT32_MAX);
  }

  FakeProc proc_;
  std::string device_;
  FakeClock clock_{kNsPerSecond, 0};
  ModuleRegistry modules_;
  ProcessTable table_{modules_, ProcFs(proc_.root()), clock_};
};

TEST_F(CodeProbeTest, AMemoryFileWithAnImageIsAModule) {
  SetMaps(Line(kText, kText + kTextBytes, "r-xp", 0x1000, "/memfd:app (deleted)", 42));
  MapFile(kText, kText + kTextBytes, Image());
  Tell("/memfd:app (deleted)", kText, kTextBytes, 0x1000, 42);
  EXPECT_EQ(ModuleAt(kText).kind, ModuleKind::kJit) << "nobody has looked";
  Meet();
  EXPECT_EQ(ModuleAt(kText).kind, ModuleKind::kFile);
  EXPECT_EQ(ModuleAt(kText).path, "/memfd:app");
  EXPECT_EQ(MappingAt(kText).file_offset, 0x1000u);
  Tell("/memfd:app (deleted)", 0x10000, kTextBytes, 0x1000, 42);
  EXPECT_EQ(&ModuleAt(0x10000), &ModuleAt(kText)) << "known by its inode from then on";
}

TEST_F(CodeProbeTest, AMemoryFileThatACompilerWroteIsMemory) {
  SetMaps(Line(kText, kText + kTextBytes, "r-xs", 0, "/memfd:doublemapper (deleted)", 42));
  MapFile(kText, kText + kTextBytes, std::string(kTextBytes, '\x90'));
  Tell("/memfd:doublemapper (deleted)", kText, kTextBytes, 0, 42);
  Meet();
  EXPECT_EQ(ModuleAt(kText).kind, ModuleKind::kJit);
  const uint64_t refreshes = table_.Find(7)->next_probe_ns;
  clock_.Advance(kNsPerSecond);
  Tell("/memfd:doublemapper (deleted)", 0x10000, kTextBytes, 0, 42);
  table_.EndRound();
  EXPECT_EQ(static_cast<uint64_t>(table_.Find(7)->next_probe_ns), refreshes) << "looked once";
}

// A program maps the file, writes the image into it, and runs it there.
TEST_F(CodeProbeTest, AMemoryFileThatIsWrittenAfterItWasMappedIsAModule) {
  for (const std::string& early : {std::string(kTextBytes, '\0'), Image().substr(0, 20)}) {
    const uint64_t inode = 42 + early.size();
    SetMaps(Line(kText, kText + kTextBytes, "r-xs", 0x1000, "/memfd:app (deleted)", inode));
    MapFile(kText, kText + kTextBytes, early);
    Tell("/memfd:app (deleted)", kText, kTextBytes, 0x1000, inode);
    Meet();
    EXPECT_EQ(ModuleAt(kText).kind, ModuleKind::kJit);
    MapFile(kText, kText + kTextBytes, Image());
    clock_.Advance(300 * kNsPerMs);
    table_.EndRound();
    EXPECT_EQ(ModuleAt(kText).kind, ModuleKind::kFile) << early.size();
    EXPECT_FALSE(table_.Find(7)->suspect);
  }
}

TEST_F(CodeProbeTest, AMemoryFileThatStaysZeroIsGivenUp) {
  SetMaps(Line(kText, kText + kTextBytes, "r-xs", 0, "/memfd:jit (deleted)", 42));
  MapFile(kText, kText + kTextBytes, std::string(kTextBytes, '\0'));
  Tell("/memfd:jit (deleted)", kText, kTextBytes, 0, 42);
  Meet();
  PassAMinute();
  EXPECT_FALSE(table_.Find(7)->suspect);
  EXPECT_EQ(ModuleAt(kText).kind, ModuleKind::kJit);
  Tell("/memfd:jit (deleted)", 0x10000, kTextBytes, 0, 42);
  EXPECT_FALSE(table_.Find(7)->suspect) << "its inode is known";
}

// Code that a compiler put behind an image in the same file.
TEST_F(CodeProbeTest, OnlyWhatAnImageLoadsAsCodeIsItsCode) {
  SetMaps(Line(kText, kText + kTextBytes, "r-xp", 0x8000, "/dev/shm/app", 42));
  MapFile(kText, kText + kTextBytes, Image() + std::string(0x8000, '\x90'));
  Tell("/dev/shm/app", kText, kTextBytes, 0x8000, 42);
  Meet();
  EXPECT_EQ(ModuleAt(kText).kind, ModuleKind::kJit);
}

// Its server may never answer, and the resolve thread would wait.
TEST_F(CodeProbeTest, AFileOfAServerIsNotOpened) {
  SetType("fuse.sshfs");
  SetMaps(Line(kText, kText + kTextBytes, "r-xp", 0x1000, "/dev/shm/app", 42));
  MapFile(kText, kText + kTextBytes, Image());
  Tell("/dev/shm/app", kText, kTextBytes, 0x1000, 42);
  Meet();
  EXPECT_EQ(ModuleAt(kText).kind, ModuleKind::kJit);
}

TEST_F(CodeProbeTest, CodeMovedToMemoryInItsPlaceIsItsFiles) {
  Tell("/bin/app", kText, kTextBytes, 0x1000, 42);
  const Module* const app = &ModuleAt(kText);
  MoveCode(Code());
  Tell("//anon", kText, kTextBytes, 0);
  EXPECT_EQ(ModuleAt(kText).kind, ModuleKind::kJit) << "its bytes were not compared";
  Meet();
  EXPECT_EQ(&ModuleAt(kText), app);
  EXPECT_EQ(MappingAt(kText).file_offset, 0x1000u);
  clock_.Advance(kNsPerSecond);
  EXPECT_TRUE(table_.Refresh(table_.Get(7)));
  EXPECT_EQ(&ModuleAt(kText), app) << "kept";
}

TEST_F(CodeProbeTest, OtherBytesInItsPlaceAreMemory) {
  std::string other(kTextBytes, '\0');
  for (size_t i = 0; i < other.size(); ++i) other[i] = static_cast<char>(i * 13);
  Tell("/bin/app", kText, kTextBytes, 0x1000, 42);
  MoveCode(other);
  Tell("//anon", kText, kTextBytes, 0);
  Meet();
  EXPECT_EQ(ModuleAt(kText).kind, ModuleKind::kJit);
}

// The program copies its code after it put the memory there.
TEST_F(CodeProbeTest, LooksAgainLaterAndLaterWhileBytesDiffer) {
  Tell("/bin/app", kText, kTextBytes, 0x1000, 42);
  MoveCode(std::string(kTextBytes, '\0'));
  Tell("//anon", kText, kTextBytes, 0);
  Meet();
  ASSERT_EQ(ModuleAt(kText).kind, ModuleKind::kJit);
  SetMemory(kText, Code());
  table_.EndRound();
  EXPECT_EQ(ModuleAt(kText).kind, ModuleKind::kJit) << "not at once";
  clock_.Advance(50 * kNsPerMs);
  table_.EndRound();
  EXPECT_EQ(ModuleAt(kText).kind, ModuleKind::kFile);
  EXPECT_FALSE(table_.Find(7)->suspect);
}

TEST_F(CodeProbeTest, GivesUpOnBytesThatStayOthers) {
  Tell("/bin/app", kText, kTextBytes, 0x1000, 42);
  MoveCode(std::string(kTextBytes, '\0'));
  Tell("//anon", kText, kTextBytes, 0);
  Meet();
  PassAMinute();
  EXPECT_FALSE(table_.Find(7)->suspect);
  EXPECT_EQ(ModuleAt(kText).kind, ModuleKind::kJit);
}

// userfaultfd(2): who fetches the page may be the process itself.
TEST_F(CodeProbeTest, APageThatIsNotPresentIsNotWaitedFor) {
  Tell("/bin/app", kText, kTextBytes, 0x1000, 42);
  MoveCode(Code());
  SetMemory(kText, Code(), false);
  Tell("//anon", kText, kTextBytes, 0);
  Meet();
  EXPECT_EQ(ModuleAt(kText).kind, ModuleKind::kJit);
}

// A debugger's breakpoint.
TEST_F(CodeProbeTest, AByteMoreOrLessChangesNothing) {
  std::string patched = Code();
  patched[0x10] = '\xcc';
  Tell("/bin/app", kText, kTextBytes, 0x1000, 42);
  MoveCode(patched);
  Tell("//anon", kText, kTextBytes, 0);
  Meet();
  EXPECT_EQ(ModuleAt(kText).kind, ModuleKind::kFile);
}

TEST_F(CodeProbeTest, FindsCodeThatWasMovedBeforeWeCame) {
  MoveCode(Code());
  proc_.SetProcess(7, "app", 1, 1, ReadFile(proc_.Of(7) + "/maps").value());
  table_.Scan();
  EXPECT_EQ(ModuleAt(kText).kind, ModuleKind::kJit);
  Meet();
  EXPECT_EQ(ModuleAt(kText).kind, ModuleKind::kFile);
  EXPECT_EQ(ModuleAt(kText).path, "/bin/app");
}

// Huge pages may begin and end where the code does not.
TEST_F(CodeProbeTest, CodeWithinLargerPagesIsAtItsOffset) {
  const uint64_t begin = kText - 0x800, end = kText + kTextBytes + 0x800;
  SetMaps(Line(kBase, begin, "r--p", 0, "/bin/app", 42) +
          Line(begin, end, "r-xp", 0, "/anon_hugepage (deleted)", 99));
  MapFile(kBase, begin, Image());
  MapFile(begin, end, std::string(64, '\0'));
  SetMemory(kText - 0x1000, std::string(0x1000, '\0') + Code() + std::string(0x1000, '\0'));
  Tell("/bin/app", kText, kTextBytes, 0x1000, 42);
  Tell("/anon_hugepage (deleted)", begin, end - begin, 0, 99);
  Meet();
  ASSERT_EQ(ModuleAt(kText).kind, ModuleKind::kFile);
  EXPECT_EQ(ModuleAt(kText).path, "/bin/app");
  EXPECT_EQ(kText - MappingAt(kText).start + MappingAt(kText).file_offset, 0x1000u);
}

// Memory of a compiler behind a library is not part of the library: nothing is compared.
TEST_F(CodeProbeTest, MemoryBehindAFileIsMemory) {
  const uint64_t behind = kBase + 0x10000;
  SetMaps(Line(kBase, kText, "r--p", 0, "/lib/x.so", 42) +
          Line(kText, kText + kTextBytes, "r-xp", 0x1000, "/lib/x.so", 42) +
          Line(behind, behind + kTextBytes, "rwxp", 0, "", 0));
  MapFile(kBase, kText, Image());
  MapFile(kText, kText + kTextBytes, Image());
  proc_.SetProcess(7, "app", 1, 1, ReadFile(proc_.Of(7) + "/maps").value());
  table_.Scan();
  Meet();
  EXPECT_EQ(ModuleAt(behind).kind, ModuleKind::kJit);
  EXPECT_FALSE(table_.Find(7)->suspect);
}

TEST_F(CodeProbeTest, AMemoryFileWithABuildIdIsAModuleAtOnce) {
  SidebandEvent event;
  event.kind = SidebandKind::kMmap;
  event.pid = event.tid = 7;
  event.start = kText;
  event.size_bytes = kTextBytes;
  event.build_id = {1, 2, 3, 4};
  event.build_id_size = 4;
  table_.Apply(event, "/dev/shm/app");
  EXPECT_EQ(ModuleAt(kText).kind, ModuleKind::kFile);
  EXPECT_FALSE(table_.Find(7)->suspect);
}

}  // namespace
}  // namespace firetower::daemon
