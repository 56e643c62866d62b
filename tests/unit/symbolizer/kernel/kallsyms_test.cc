// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/kernel/kallsyms.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"

namespace firetower::symbolizer {
namespace {

// In the shape of a 6.x kernel: aliases at one address, the end of the text, per-CPU offsets,
// a module with its data, two BPF programs, the kernel's own pseudo-modules.
constexpr char kText[] =
    "0000000000000000 A fixed_percpu_data\n"
    "ffffffff81000000 T startup_64\n"
    "ffffffff81000000 T _stext\n"
    "ffffffff81000000 T _text\n"
    "ffffffff81000040 t secondary\n"
    "ffffffff81002000 W weak_one\n"
    "ffffffff81005010 T last_one\n"
    "ffffffff81005800 T _etext\n"
    "ffffffff82000000 D some_data\n"
    "ffffffffc0001000 t mod_a\t[kvm]\n"
    "ffffffffc0001100 T mod_b\t[kvm]\n"
    "ffffffffc0009000 d mod_data\t[kvm]\n"
    "ffffffffc0100000 t bpf_prog_0011223344556677_one\t[bpf]\n"
    "ffffffffc0100200 t bpf_prog_8899aabbccddeeff\t[bpf]\n"
    "ffffffffc0201000 t ftrace_trampoline\t[__builtin__ftrace]\n";

std::string At(const Kallsyms& table, uint64_t abs_addr) {
  auto symbol = table.Find(abs_addr);
  if (!symbol) return "-";
  std::string text = std::string(symbol->name) + "+" + std::to_string(symbol->offset);
  return symbol->module.empty() ? text : text + "[" + std::string(symbol->module) + "]";
}

TEST(Kallsyms, NamesKernelModulesAndBpfPrograms) {
  Kallsyms table = Kallsyms::Parse(kText).value();
  EXPECT_EQ(At(table, 0xffffffff81000000), "startup_64+0");
  EXPECT_EQ(At(table, 0xffffffff8100003f), "startup_64+63");
  EXPECT_EQ(At(table, 0xffffffff81000044), "secondary+4");
  EXPECT_EQ(At(table, 0xffffffff81002001), "weak_one+1");
  EXPECT_EQ(At(table, 0xffffffffc0001010), "mod_a+16[kvm]");
  EXPECT_EQ(At(table, 0xffffffffc0100100), "bpf_prog_0011223344556677_one+256[bpf]");
  EXPECT_EQ(At(table, 0xffffffffc0100201), "bpf_prog_8899aabbccddeeff+1[bpf]");
}

TEST(Kallsyms, NamesNothingBelowAboveOrInHoles) {
  Kallsyms table = Kallsyms::Parse(kText).value();
  EXPECT_EQ(At(table, 0), "-");
  EXPECT_EQ(At(table, 0xffffffff80ffffff), "-");
  EXPECT_EQ(At(table, 0xffffffff810057ff), "last_one+2031");
  EXPECT_EQ(At(table, 0xffffffff81005800), "-");  // _etext is a mark
  EXPECT_EQ(At(table, 0xffffffff82000004), "-");  // data
  EXPECT_EQ(At(table, 0xffffffffbfffffff), "-");  // between kernel and modules
  EXPECT_EQ(At(table, 0xffffffffc0001fff), "mod_b+3839[kvm]");
  EXPECT_EQ(At(table, 0xffffffffc0002000), "-");  // the module's last function ends with its page
  EXPECT_EQ(At(table, 0xffffffffc0100fff), "bpf_prog_8899aabbccddeeff+3583[bpf]");
  EXPECT_EQ(At(table, 0xffffffffc0101000), "-");
  EXPECT_EQ(At(table, 0xffffffffc0201fff), "ftrace_trampoline+4095[__builtin__ftrace]");
  EXPECT_EQ(At(table, 0xffffffffc0202000), "-");
  EXPECT_EQ(At(table, UINT64_MAX), "-");
}

TEST(Kallsyms, AFunctionOfAModuleDoesNotReachOverAHole) {
  Kallsyms table =
      Kallsyms::Parse("ffffffffc0000000 t a\t[m]\nffffffffc0900000 t b\t[m]\n").value();
  EXPECT_EQ(At(table, 0xffffffffc000ffff), "a+65535[m]");
  EXPECT_EQ(At(table, 0xffffffffc0010000), "-");
}

TEST(Kallsyms, SortsWhatTheKernelDoesNot) {
  Kallsyms table = Kallsyms::Parse("ffffffff81000100 T b\nffffffff81000000 T a\n").value();
  EXPECT_EQ(At(table, 0xffffffff81000000), "a+0");
  EXPECT_EQ(At(table, 0xffffffff81000100), "b+0");
}

TEST(Kallsyms, HiddenAddressesArePermission) {
  auto hidden = Kallsyms::Parse("0000000000000000 T _stext\n0000000000000000 t x\t[kvm]\n");
  ASSERT_FALSE(hidden);
  EXPECT_EQ(hidden.error().code(), ErrorCode::kPermission);
  EXPECT_NE(hidden.error().message().find("CAP_SYSLOG"), std::string::npos);
  EXPECT_NE(hidden.error().message().find("kernel.kptr_restrict"), std::string::npos);
}

TEST(Kallsyms, SkipsLinesThatAreNoSymbols) {
  Kallsyms table = Kallsyms::Parse(
                       "\n\nzz T a\nffffffff81000000\nffffffff81000000 T\n"
                       "ffffffff81000000 TT a\n12345678123456781234 T a\n"
                       "ffffffff81000000 T good\n")
                       .value();
  EXPECT_EQ(table.symbol_count(), 1u);
  EXPECT_EQ(At(table, 0xffffffff81000000), "good+0");
}

TEST(Kallsyms, ANameOfNothingIsNoSymbol) {
  std::string text = "ffffffff81000000 T X\n";
  text[text.find('X')] = '\0';
  EXPECT_EQ(Kallsyms::Parse(text).value().symbol_count(), 0u);
}

TEST(Kallsyms, EveryPrefixParses) {
  const std::string text = kText;
  for (size_t length = 0; length <= text.size(); ++length) {
    auto table = Kallsyms::Parse(text.substr(0, length));
    if (table) {
      EXPECT_LE(table->symbol_count(), 12u);
    } else {
      EXPECT_EQ(table.error().code(), ErrorCode::kPermission);  // only the zero line so far
    }
  }
}

TEST(Kallsyms, KeepsAddressesFarApart) {
  Kallsyms table = Kallsyms::Parse(
                       "ffff800008000000 T low\nffff800008000010 T low_end\n"
                       "ffff900000000000 t far\t[bpf]\nffffffff81000000 t high\t[m]\n"
                       "ffffffff81000020 t high_2\t[m]\n")
                       .value();
  EXPECT_EQ(At(table, 0xffff800008000001), "low+1");
  EXPECT_EQ(At(table, 0xffff800008000fff), "low_end+4079");
  EXPECT_EQ(At(table, 0xffff800108000000), "-");
  EXPECT_EQ(At(table, 0xffff900000000001), "far+1[bpf]");
  EXPECT_EQ(At(table, 0xffffffff8100001f), "high+31[m]");
  EXPECT_EQ(At(table, 0xffffffff81000020), "high_2+0[m]");
}

TEST(Kallsyms, NamesPaddingAndFunctionFromTheSameBytes) {
  const std::string name(500, 'f');
  Kallsyms table = Kallsyms::Parse("ffffffff81000000 t __pfx_" + name + "\nffffffff81000010 T " +
                                   name + "\nffffffff81000020 T _etext\n")
                       .value();
  EXPECT_EQ(At(table, 0xffffffff81000002), "__pfx_" + name + "+2");
  EXPECT_EQ(At(table, 0xffffffff81000012), name + "+2");
  EXPECT_LT(table.bytes(), 1000u);
}

TEST(Kallsyms, KeepsEachNameOnce) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += "ffffffffc00000" + std::to_string(10 + i % 90) + " t cleanup_module_with_a_name\t[m]\n";
  }
  EXPECT_LT(Kallsyms::Parse(text).value().bytes(), 2500u);
}

TEST(Kallsyms, LoadsPieceByPieceWhatParseReads) {
  std::string folder = ::testing::TempDir() + "/kallsyms-test";
  ASSERT_TRUE(MakeDirectories(folder));
  std::string text;
  for (unsigned i = 0; i < 10'000; ++i) {
    char line[64];
    std::snprintf(line, sizeof(line), "%016llx t function_%u\n", 0xffffffff81000000ull + i * 16, i);
    text += line;
  }
  std::ofstream(folder + "/kallsyms") << text;
  Kallsyms loaded = Kallsyms::Load(folder).value();
  EXPECT_EQ(loaded.symbol_count(), 10'000u);
  EXPECT_EQ(loaded.bytes(), Kallsyms::Parse(text).value().bytes());
  EXPECT_EQ(At(loaded, 0xffffffff81000000 + 9999 * 16 + 3), "function_9999+3");
  std::ofstream(folder + "/kallsyms") << std::string(200'000, 'x');
  EXPECT_EQ(Kallsyms::Load(folder).error().code(), ErrorCode::kCorrupt);
  std::filesystem::remove_all(folder);
  EXPECT_EQ(Kallsyms::Load(folder).error().code(), ErrorCode::kNotFound);
}

TEST(Kallsyms, ReadsThisKernel) {
  auto table = Kallsyms::Load();
  if (!table) GTEST_SKIP() << "/proc/kallsyms: " << table.error().message();
  // Every text line of the file, read the plain way, must resolve to a name at its own address.
  std::ifstream file("/proc/kallsyms");
  std::string line;
  size_t checked = 0;
  size_t last_text = 0;
  while (std::getline(file, line)) {
    uint64_t abs_addr = std::stoull(line.substr(0, 16), nullptr, 16);
    if (line[17] != 't' && line[17] != 'T') continue;
    std::string name = line.substr(19, line.find('\t') - 19);
    if (name == "_etext" || name == "_einittext" || name == "_end") continue;
    auto symbol = table->Find(abs_addr);
    if (!symbol || symbol->offset != 0) ++last_text;
    ++checked;
  }
  EXPECT_GT(checked, 1000u);
  EXPECT_EQ(last_text, 0u);
  std::printf("kallsyms: %zu text lines, %zu addresses, table %zu bytes\n", checked,
              table->symbol_count(), table->bytes());
}

}  // namespace
}  // namespace firetower::symbolizer
