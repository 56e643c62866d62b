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
  EXPECT_GT(common, names.size() / 4 * 3);
}

// One of each form.
TEST(DemangleCommonCpp, ReadsTheForm) {
  for (const std::string name : {
           "_Z1fIJicEEvDpT_",                      // a pack
           "_Z1fIJEEvDpOT_",                       // an empty one, and with it no parameter
           "_Z1fIiJEEvT_DpT0_",                    // at the end of the list
           "_Z1fIiJEEvDpT0_T_",                    // before its end: a comma too many
           "_Z1fIJ1AIiEEEvDpRKT_",                 // a reference of each
           "_Z1fIJicEEvSt5tupleIJDpT_EES0_IJiEE",  // within arguments
           "_Z1fISt4pairIiJEEEvT_",                // a bracket behind a comma taken back
           "_Z1fIJPFvivEEEvDpT_",                  // into which a "*" was written
           "_ZThn16_N1a1bD1Ev",                    // thunks
           "_ZTv0_n24_N1a1bC1Ev",
           "_ZNKR1a1bEv",
           "_ZNO1a1bEi",                                      // for values of one kind
           "_ZZN1a1bEvENKUlPKcmE0_clES0_m",                   // a lambda's function
           "_ZZNK1a1bEiE4kind",                               // a variable of a function
           "_ZZ1aiENK1b1cEv",                                 // a local class
           "_Z1fIZN1a1bEiEUlvE_EvT_",                         // a lambda as argument
           "_ZN1aUt_1bEv",                                    // without a name
           "_ZN1a1bIXadL_ZNS_1cEPKciEEE1dEv",                 // the address of a function
           "_Z1fIXadL_Z1gEEEvv",                              // of a C function
           "_Z1fSt10unique_ptrIA_cSt14default_deleteIS0_EE",  // an array without bound
           "_Z1fIiEDaT_",
       }) {
    EXPECT_EQ(DemangleCommonCpp(name).value_or("none of the common"), LibibertysName(name)) << name;
  }
}

TEST(DemangleCommonCpp, LeavesOtherFormsToLibiberty) {
  for (const std::string name : {
           "_Z1fIJicEEvT_",                   // a pack that is not expanded
           "_Z1fIJiEJcdEEvDpSt4pairIT_T0_E",  // two of different lengths
           "_Z1fIJEJEEvDpT_DpT0_",            // two commas to take back
           "_Z1fDpT_",                        // of no arguments
           "_Z1fIJiEEvPDpT_",
           "_ZZ1fIiEvT_ENKUlvE_clEv",    // local to a template
           "_ZZ1fvENKUlT_E_clIiEEDaS_",  // a generic lambda
           "_ZZ1fvEs",                   // a string literal
           "_Z1fIXsr1aIiE5valueEEvv",    // an expression
           "_Z1fM1aFvvE",                // a pointer to a member
           "_ZTV1a",
           "_ZTh_1av",
           "_ZTv0_1av",
           "_Z1fILZ1aE1bE0EEvv",
       }) {
    EXPECT_EQ(DemangleCommonCpp(name), std::nullopt) << name;
  }
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
