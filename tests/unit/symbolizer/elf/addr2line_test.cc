// SPDX-License-Identifier: Apache-2.0
// Stock binaries: every name must be the one that `eu-addr2line -f` prints.
#include <fcntl.h>
#include <fmt/core.h>
#include <gelf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/file.h"
#include "symbolizer/symbol_table.h"

namespace firetower::symbolizer {
namespace {

struct Code {
  uint64_t elf_vaddr = 0;
  uint64_t file_offset = 0;
  uint64_t size = 0;
};

// From the first to the last executable section: .init, .plt, .text, .fini and what lies between.
Code ExecutableSections(const std::string& path) {
  elf_version(EV_CURRENT);
  UniqueFd fd = OpenReadOnly(path).value();
  std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(fd.get(), ELF_C_READ, nullptr), elf_end);
  Code code;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
    GElf_Shdr header;
    gelf_getshdr(section, &header);
    if ((header.sh_flags & SHF_EXECINSTR) == 0) continue;
    if (code.size == 0) code = {header.sh_addr, header.sh_offset, 0};
    code.size = header.sh_addr + header.sh_size - code.elf_vaddr;
  }
  return code;
}

// In even steps, and as many addresses at random.
std::vector<uint64_t> SpreadOver(const Code& code, size_t count) {
  std::vector<uint64_t> addresses;
  std::mt19937_64 random(20240229);
  for (size_t i = 0; i < count / 2; ++i) {
    addresses.push_back(code.elf_vaddr + code.size / (count / 2) * i);
    addresses.push_back(code.elf_vaddr + random() % code.size);
  }
  return addresses;
}

// Two lines an address: the name, and a source line that stripped files do not have. Debug packages
// are kept out: the table holds what the file itself says.
std::vector<std::string> EuAddr2line(const std::string& path,
                                     const std::vector<uint64_t>& addresses) {
  char pattern[] = "/tmp/firetower-addresses-XXXXXX";
  UniqueFd fd(mkstemp(pattern));
  std::string text;
  for (uint64_t address : addresses) text += fmt::format("0x{:x}\n", address);
  EXPECT_EQ(::write(fd.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  std::string command =
      fmt::format("eu-addr2line --debuginfo-path=/nonexistent -f -e {} < {}", path, pattern);
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::vector<std::string> names;
  char* line = nullptr;
  size_t capacity = 0;
  ssize_t length = 0;
  for (size_t number = 0; (length = getline(&line, &capacity, pipe.get())) > 0; ++number) {
    if (number % 2 == 0) names.emplace_back(line, static_cast<size_t>(length) - 1);
  }
  std::free(line);
  std::filesystem::remove(pattern);
  return names;
}

void ExpectSameNames(const std::string& path, size_t count) {
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not installed";
  if (std::system("eu-addr2line --version > /dev/null 2>&1") != 0) {
    GTEST_SKIP() << "eu-addr2line is not installed (package elfutils)";
  }
  Code code = ExecutableSections(path);
  std::vector<uint64_t> addresses = SpreadOver(code, count);
  std::vector<std::string> expected = EuAddr2line(path, addresses);
  ASSERT_EQ(expected.size(), addresses.size());

  auto table = LoadElfSymbols(FileSource::Open(path).value()).value();
  size_t named = 0;
  size_t differ = 0;
  for (size_t i = 0; i < addresses.size(); ++i) {
    auto symbol = table->Find(addresses[i] - code.elf_vaddr + code.file_offset);
    std::string name = symbol ? std::string(symbol->name) : "??";
    named += symbol ? 1 : 0;
    if (name != expected[i] && ++differ <= 10) {
      ADD_FAILURE() << fmt::format("{:#x}: {} but eu-addr2line says {}", addresses[i], name,
                                   expected[i]);
    }
  }
  EXPECT_EQ(differ, 0u);
  EXPECT_GT(named, addresses.size() / 100);
  fmt::print("{}: {} of {} names equal to eu-addr2line -f ({} named), table {} bytes\n", path,
             addresses.size() - differ, addresses.size(), named, table->bytes());
}

TEST(Addr2line, StockPythonHasTheSameNames) { ExpectSameNames("/usr/bin/python3.11", 8000); }
TEST(Addr2line, StockNginxHasTheSameNames) { ExpectSameNames("/usr/sbin/nginx", 8000); }
TEST(Addr2line, StockLlvmHasTheSameNames) {
  ExpectSameNames("/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", 4000);
}
TEST(Addr2line, StockLibcHasTheSameNames) {
  ExpectSameNames("/usr/lib/x86_64-linux-gnu/libc.so.6", 8000);
}
TEST(Addr2line, StockLibcryptoHasTheSameNames) {
  ExpectSameNames("/usr/lib/x86_64-linux-gnu/libcrypto.so.3", 8000);
}

}  // namespace
}  // namespace firetower::symbolizer
