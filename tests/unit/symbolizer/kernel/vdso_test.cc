// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/kernel/vdso.h"

#include <gelf.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>

#include <cstring>
#include <memory>

namespace firetower::symbolizer {
namespace {

// Returns the address of clock_gettime in our own vdso image, found by libelf.
uint64_t ClockGettime(char* image, size_t size) {
  elf_version(EV_CURRENT);
  std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_memory(image, size), elf_end);
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
    GElf_Shdr header;
    gelf_getshdr(section, &header);
    if (header.sh_type != SHT_DYNSYM) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    GElf_Sym symbol;
    for (int i = 0; gelf_getsym(data, i, &symbol) != nullptr; ++i) {
      const char* name = elf_strptr(elf.get(), header.sh_link, symbol.st_name);
      if (name != nullptr && std::strcmp(name, "__vdso_clock_gettime") == 0) return symbol.st_value;
    }
  }
  return 0;
}

TEST(Vdso, NamesItsFunctions) {
  auto vdso = LoadOwnVdso();
  if (!vdso) GTEST_SKIP() << vdso.error().message();
  auto* image = reinterpret_cast<char*>(::getauxval(AT_SYSINFO_EHDR));
  uint64_t elf_vaddr = ClockGettime(image, 0x2000);
  ASSERT_NE(elf_vaddr, 0u);
  auto symbol = vdso->symbols->Find(elf_vaddr + 1);  // the image starts at address 0 and offset 0
  ASSERT_TRUE(symbol);
  EXPECT_TRUE(symbol->name == "clock_gettime" || symbol->name == "__vdso_clock_gettime");
  EXPECT_EQ(symbol->offset, 1u);
  EXPECT_EQ(vdso->build_id.size(), 40u);
}

TEST(Vdso, RefusesWhatIsNoElfImage) {
  std::byte page[4096] = {};
  EXPECT_EQ(LoadVdso(page).error().code(), ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace firetower::symbolizer
