// SPDX-License-Identifier: Apache-2.0
// Every C++ name of large programs: libiberty, behind c++filt and perf, is the judge.
#include "symbolizer/demangle/cpp_common.h"

#include <gtest/gtest.h>

// libiberty's header declares basename() unless told that we have one.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>

#include <cstdlib>
#include <memory>
#include <set>

#include "base/file.h"

namespace firetower::symbolizer {
namespace {

std::string LibibertysName(const std::string& mangled) {
  const std::unique_ptr<char, void (*)(void*)> name(
      cplus_demangle_v3(mangled.c_str(), DMGL_PARAMS | DMGL_ANSI), ::free);
  return name == nullptr ? "" : name.get();
}

// All that looks like a mangled name, wherever it is in the file.
std::set<std::string> NamesIn(const std::string& file) {
  std::set<std::string> names;
  const std::string bytes = ReadFile(file, 1u << 30).value_or("");
  for (size_t at = bytes.find("_Z"); at != std::string::npos; at = bytes.find("_Z", at + 1)) {
    if (at > 0 && bytes[at - 1] == '\0') names.insert(bytes.c_str() + at);
  }
  return names;
}

class CommonCppOfFile : public ::testing::TestWithParam<const char*> {};

TEST_P(CommonCppOfFile, IsWhatLibibertyWrites) {
  const std::set<std::string> names = NamesIn(GetParam());
  if (names.empty()) GTEST_SKIP() << "no " << GetParam();
  size_t common = 0;
  int differences = 0;
  for (const std::string& name : names) {
    const std::optional<std::string> ours = DemangleCommonCpp(name);
    if (!ours) continue;
    ++common;
    const std::string expected = LibibertysName(name);
    if (*ours != expected && ++differences < 10) {
      ADD_FAILURE() << name << "\n" << *ours << "\n" << expected;
    }
  }
  EXPECT_EQ(differences, 0);
  std::cerr << common << " of " << names.size() << " are common\n";
  EXPECT_GT(common, names.size() / 2);
}

INSTANTIATE_TEST_SUITE_P(Files, CommonCppOfFile,
                         ::testing::Values("/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
                                           "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
                                           "/usr/bin/node"),
                         [](const auto& instance) {
                           return std::string(instance.index == 0   ? "libstdcxx"
                                              : instance.index == 1 ? "libLLVM"
                                                                    : "node");
                         });

}  // namespace
}  // namespace firetower::symbolizer
