// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/demangle.h"

#include <cxxabi.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "symbolizer/demangle/rust_legacy.h"
#include "symbolizer/demangle/rust_v0.h"

namespace firetower::symbolizer {
namespace {

struct Case {
  const char* mangled;
  const char* demangled;
};

TEST(Demangle, LeavesOtherNamesAlone) {
  for (const char* name :
       {"", "_", "_Z", "_R", "main", "i", "_ZN", "runtime.mallocgc", "do_syscall_64",
        "main.(*Server).Serve", "_Razor", "_R1234", "_ZN3foo17h0123", "__Z3foov"}) {
    EXPECT_EQ(Demangle(name), name);
  }
}

TEST(DemangleCpp, EqualsCxaDemangle) {
  for (const char* name :
       {"_ZN3foo3barINS_1AIiEEEEvRKT_", "_ZNK12_GLOBAL__N_13FooclEi", "_ZlsIcERSoS0_PKc",
        "_ZN1AcvSsEv", "_Znwm", "_ZZ4mainENKUlvE_clEv", "_ZNSt6vectorIiSaIiEE9push_backEOi",
        "_ZThn8_N3Foo3barEv", "_Z3foov.cold", "_Z3fooB5cxx11v",
        "_ZZNK3Foo3barEiENKUlRT_E0_clIiEEDaS1_", "_ZTV3Foo"}) {
    int status = 0;
    char* expected = abi::__cxa_demangle(name, nullptr, nullptr, &status);
    ASSERT_EQ(status, 0) << name;
    EXPECT_EQ(Demangle(name), expected);
    std::free(expected);
  }
}

TEST(DemangleCpp, NamesAboveOneKilobyteAreTaken) {
  std::string name = "_ZN";
  std::string expected;
  for (int i = 0; i < 300; ++i) {
    name += "9namespace";
    expected += "namespace::";
  }
  EXPECT_EQ(Demangle(name + "3fooEv"), expected + "foo()");
}

TEST(DemangleCpp, DeepNestingFitsTheStack) {
  std::string pointers = "_Z1f" + std::string(kMaxMangledBytes - 5, 'P') + "i";
  EXPECT_FALSE(Demangle(pointers).empty());
  std::string templates = "_Z1fI";
  while (templates.size() < kMaxMangledBytes - 4) templates += "1AI";
  EXPECT_EQ(Demangle(templates), templates);
}

// Each level is a pair of the level before: 2^n names from 8 n bytes.
TEST(DemangleCpp, AnExponentialNameEndsAtTheBound) {
  std::string name = "_Z1fSt4pairIiiE";
  name = "_Z1f1AIiiE";
  for (int level = 0; level < 60; ++level) {
    // Substitution of the last type built: S_, S0_, S1_ … S9_, SA_ …
    int last = level;  // number of substitutions so far, minus one
    std::string reference = "S_";
    if (last > 0) {
      static constexpr char kDigits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
      int value = last - 1;
      reference = std::string("S") + (value >= 36 ? std::string(1, kDigits[value / 36]) : "") +
                  kDigits[value % 36] + "_";
    }
    name += "1AI" + reference + reference + "E";
  }
  auto start = std::chrono::steady_clock::now();
  EXPECT_LE(Demangle(name).size(), kMaxDemangledBytes);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

TEST(Demangle, NamesAboveTheBoundStayMangled) {
  std::string name =
      "_Z" + std::to_string(kMaxMangledBytes) + std::string(kMaxMangledBytes, 'a') + "v";
  EXPECT_EQ(Demangle(name), name);
}

// Expected values are those of rustfilt and llvm-cxxfilt.
TEST(DemangleRustLegacy, DecodesPathsAndDropsTheHash) {
  static constexpr Case kCases[] = {
      {"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"},
      {"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$"
       "3bar17h930b740aa94f1d3aE",
       "<Test + 'static as foo::Bar<Test>>::bar"},
      {"_ZN28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", "{{closure}}"},
      {"_ZN4$RP$17h05af221e174051e9E", ")"},
      {"_ZN8$RF$testE17h05af221e174051e9E", nullptr},
      {"_ZN13test$u20$test4foob17h05af221e174051e9E", "test test::foob"},
      {"_ZN3foo17h05af221e174051e9E.llvm.A5310EB9", "foo"},
      {"_ZN3foo17h05af221e174051e9E.cold", "foo.cold"},
      {"_ZN11issue_609253foo37Foo$LT$issue_60925..llv$u6d$..Foo$GT$3foo17h059a991a004536adE",
       "issue_60925::foo::Foo<issue_60925::llvm::Foo>::foo"},
      {"_ZN3fooE", nullptr},
      {"_ZN3foo17h05af221e174051eE", nullptr},
      {"_ZN3foo17h05af221e174051eXE", nullptr},
      {"_ZN17h05af221e174051e9E", nullptr},
      {"_ZN99foo17h05af221e174051e9E", nullptr},
      {"_ZN3foo17h05af221e174051e9", nullptr},
      {"_ZN0foo17h05af221e174051e9E", nullptr},
  };
  for (const Case& test : kCases) {
    std::optional<std::string> expected;
    if (test.demangled != nullptr) expected = test.demangled;
    EXPECT_EQ(DemangleRustLegacy(test.mangled), expected) << test.mangled;
  }
}

// Names of rustc 1.95 and of the RFC; expected values are those of c++filt and llvm-cxxfilt.
TEST(DemangleRustV0, EqualsOtherDemanglers) {
  static constexpr Case kCases[] = {
      {"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
      {"_RINvCs6xxl1lAjzDf_1a3fnpAnj4_EB2_", "a::fnp::<[i128; 4]>"},
      {"_RINvCs6xxl1lAjzDf_1a3fnpFG_RL0_hRL0_tERL0_hEB2_",
       "a::fnp::<for<'a> fn(&'a u8, &'a u16) -> &'a u8>"},
      {"_RINvCs6xxl1lAjzDf_1a3fnpFG_URL0_eEuEB2_", "a::fnp::<for<'a> unsafe fn(&'a str)>"},
      {"_RINvCs6xxl1lAjzDf_1a3fnpFKChPaOfEbEB2_",
       "a::fnp::<extern \"C\" fn(u8, *const i8, *mut f32) -> bool>"},
      {"_RINvCs6xxl1lAjzDf_1a3fnpINtNtCslNYArtu3iFV_5alloc5boxed3BoxDG_INtNtNtCsgEmfK2I1SDS_4core3"
       "ops8function2FnTRL0_hEEp6OutputRL0_hNtNtB15_6marker4SendEL_EEB2_",
       "a::fnp::<alloc::boxed::Box<dyn for<'a> core::ops::function::Fn<(&'a u8,), Output = &'a u8> "
       "+ core::marker::Send>>"},
      {"_RINvCs6xxl1lAjzDf_1a3fnpQDNtNtNtNtCsgEmfK2I1SDS_4core4iter6traits8iterator8Iteratorp4Item"
       "hEL_EB2_",
       "a::fnp::<&mut dyn core::iter::traits::iterator::Iterator<Item = u8>>"},
      {"_RINvCs6xxl1lAjzDf_1a3arrKj3_Kb1_Kc41_Kln7_EB2_", "a::arr::<3, true, 'A', -7>"},
      {"_RNvMNtCslNYArtu3iFV_5alloc5allocNtB2_6Global18alloc_impl_runtimeCs6xxl1lAjzDf_1a",
       "<alloc::alloc::Global>::alloc_impl_runtime"},
      {"_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}"},
      {"_RNCINkXs25_NgCsbmNqQUJIY6D_4core5sliceINyB9_4IterhENuNgNoBb_4iter8iterator8Iterator9"
       "rpositionNCNgNpB9_6memchr7memrchrs_0E0Bb_",
       "<core::slice::Iter<u8> as "
       "core::iter::iterator::Iterator>::rposition::<core::slice::memchr::"
       "memrchr::{closure#1}>::{closure#0}"},
      {"_RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6OutputuEL_"
       "ECs1iopQbuBiw2_"
       "3std",
       "alloc::alloc::box_free::<dyn alloc::boxed::FnBox<(), Output = ()>>"},
      {"_RMC0INtC8arrayvec8ArrayVechKj7b_E", "<arrayvec::ArrayVec<u8, 123>>"},
      {"_RMCs4fqI2P2rA04_13const_genericINtB0_6SignedKan80_E", "<const_generic::Signed<-128>>"},
      {"_RNvNvMCs4fqI2P2rA04_13const_genericINtB4_3FooKpE3foo3FOO",
       "<const_generic::Foo<_>>::foo::FOO"},
      {"_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
       "utf8_idents::საჭმელად_გემრიელი_სადილი"},
      {"_RC3foo.llvm.9D1C9369", "foo"},
      {"_RNvC6_123foo3bar", "123foo::bar"},
      {"_RNSNvYNvCs1_1a1bNtCs2_1c1d9call_once6vtableCs3_1e",
       "<a::b as c::d>::call_once::{shim:vtable#0}"},
  };
  for (const Case& test : kCases) EXPECT_EQ(Demangle(test.mangled), test.demangled);
}

TEST(DemangleRustV0, EveryPrefixEndsCleanly) {
  const std::string name =
      "_RINvCs6xxl1lAjzDf_1a3fnpINtNtCslNYArtu3iFV_5alloc5boxed3BoxDG_INtNtNtCsgEmfK2I1SDS_4core3"
      "ops8function2FnTRL0_hEEp6OutputRL0_hNtNtB15_6marker4SendEL_EEB2_";
  for (size_t length = 0; length < name.size(); ++length) Demangle(name.substr(0, length));
}

// A number as the grammar's base-62-number without its "_": 0 is "", 1 is "0".
std::string Base62(size_t value) {
  static constexpr char kDigits[] =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  if (value == 0) return "";
  std::string text;
  for (--value;; value /= 62) {
    text.insert(text.begin(), kDigits[value % 62]);
    if (value < 62) return text;
  }
}

TEST(DemangleRustV0, HostileNamesEndAtTheBounds) {
  std::string nested = "_RMC0" + std::string(3000, 'S') + "h";
  EXPECT_FALSE(DemangleRustV0(nested));
  // (T, T) where T is the tuple before it, and so on: 2^40 types in 300 bytes.
  std::string doubling = "MC0TThhE";
  for (size_t at = 4, level = 0; level < 40; ++level) {
    std::string reference = "B" + Base62(at) + "_";
    at = doubling.size();
    doubling += "T" + reference + reference + "E";
  }
  EXPECT_FALSE(DemangleRustV0("_R" + doubling + "E"));
  EXPECT_FALSE(DemangleRustV0("_RYFG_FGyG0_RL1_hEuEuNtC1a1T"));     // 10^5 bound lifetimes
  EXPECT_FALSE(DemangleRustV0("_RMC0B3_"));                         // refers to itself
  EXPECT_FALSE(DemangleRustV0("_RMC0BZZZZZZZZZZZZZZZZ_"));          // beyond 64 bits
  EXPECT_FALSE(DemangleRustV0("_RNvC99999999999999999999999a1b"));  // beyond the name
  EXPECT_FALSE(DemangleRustV0("_RNvC1au5_9999"));                   // punycode beyond Unicode
  EXPECT_FALSE(DemangleRustV0("_RMC0INtC1a1bKc110000_E"));          // no character
  EXPECT_FALSE(DemangleRustV0("_RMC0INtC1a1bKb2_E"));               // no bool
  EXPECT_FALSE(DemangleRustV0("_RMC0INtC1a1bKhn1_E"));              // negative u8
}

}  // namespace
}  // namespace firetower::symbolizer
