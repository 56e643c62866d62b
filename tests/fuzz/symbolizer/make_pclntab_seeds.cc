// SPDX-License-Identifier: Apache-2.0
// make_pclntab_seeds FOLDER: writes seeds for the fuzzer of Go's function table, one for each of
// its forms, with functions of the kinds that are treated differently and an inlined call.
#include <cstdio>
#include <fstream>
#include <string>

#include "tests/unit/symbolizer/support/go_builder.h"

int main(int argc, char** argv) {
  using firetower::symbolizer::TestGoFile;
  using Version = TestGoFile::Version;
  if (argc != 2) return 2;
  for (const auto& [form, version] :
       {std::pair('6', Version::kGo116), std::pair('8', Version::kGo118),
        std::pair('0', Version::kGo120)}) {
    TestGoFile file(version);
    file.SetFiles({"/src/a.go", "/src/b.go"});
    const std::string code(32, '\x90');
    file.Add({.name = "main.main",
              .code = code,
              .depths = {{0, 1}, {8, 4}, {24, 25}, {8, 1}, {0, 1}},
              .files = {{0, 10}, {1, 22}},
              .lines = {{10, 4}, {12, 6}, {7, 22}},
              .inlined = {{-1, 10}, {0, 8}, {1, 4}, {-1, 10}},
              .tree = {{.name = "main.f", .parent_pc = 9}, {.name = "main.g", .parent_pc = 12}}});
    for (const char* name : {"runtime.goexit", "runtime.systemstack", "runtime.mcall",
                             "runtime.sigreturn__sigaction", "runtime.asyncPreempt"}) {
      file.Add({.name = name, .code = code, .depths = {{0, 8}, {8, 20}, {0, 4}}});
    }
    const std::string table = file.BuildTable();
    const char head[3] = {form, static_cast<char>(table.size() & 0xff),
                          static_cast<char>(table.size() >> 8)};
    std::ofstream(std::string(argv[1]) + "/go_1_" + (form == '0' ? "20" : std::string("1") + form),
                  std::ios::binary)
        << std::string(head, sizeof(head)) << table << file.BuildFuncdata();
  }
}
