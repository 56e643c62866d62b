// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/demangle.h"

#include <cxxabi.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <memory>

#include "base/file.h"

namespace firetower::symbolizer {
namespace {

struct Case {
  const char* mangled;
  const char* demangled;
};

// Returns the name itself where it is none for the judge.
std::string CxaDemangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), ::free);
  return status == 0 ? demangled.get() : name;
}

TEST(Demangle, LeavesOtherNamesAlone) {
  for (const char* name :
       {"", "_", "_Z", "_R", "main", "i", "_ZN", "runtime.mallocgc", "do_syscall_64",
        "main.(*Server).Serve", "_Razor", "_R1234", "_ZN3foo17h0123", "__Z3foov"}) {
    EXPECT_EQ(Demangle(name), name);
  }
  const std::string with_zero("_Z3foov\0bar", 11);
  EXPECT_EQ(Demangle(with_zero), with_zero);
}

TEST(DemangleCpp, EqualsCxaDemangle) {
  for (const char* name :
       {"_ZN3foo3barINS_1AIiEEEEvRKT_", "_ZNK12_GLOBAL__N_13FooclEi", "_ZlsIcERSoS0_PKc",
        "_ZN1AcvSsEv", "_Znwm", "_ZZ4mainENKUlvE_clEv", "_ZNSt6vectorIiSaIiEE9push_backEOi",
        "_ZThn8_N3Foo3barEv", "_Z3foov.cold", "_Z3fooB5cxx11v",
        "_ZZNK3Foo3barEiENKUlRT_E0_clIiEEDaS1_", "_ZTV3Foo"}) {
    EXPECT_EQ(Demangle(name), CxaDemangled(name));
  }
}

// One of each form that a reader of C++ names has to know.
TEST(DemangleCpp, ReadsEveryForm) {
  for (const char* name : {
           "_Z1fIJicEEvDpT_",                      // a pack
           "_Z1fIJEEvDpOT_",                       // an empty one, and with it no parameter
           "_Z1fIiJEEvT_DpT0_",                    // at the end of the list
           "_Z1fIiJEEvDpT0_T_",                    // before its end
           "_Z1fIJ1AIiEEEvDpRKT_",                 // a reference of each
           "_Z1fIJicEEvSt5tupleIJDpT_EES0_IJiEE",  // within arguments
           "_Z1fISt4pairIiJEEEvT_",
           "_Z1fIJPFvivEEEvDpT_",
           "_ZThn16_N1a1bD1Ev",  // thunks
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
           "_ZZ1fIiEvT_ENKUlvE_clEv",    // local to a template
           "_ZZ1fvENKUlT_E_clIiEEDaS_",  // a generic lambda
           "_ZZ1fvEs",                   // a string literal
           "_Z1fIXsr1aIiE5valueEEvv",    // an expression
           "_Z1fM1aFvvE",                // a pointer to a member
           "_ZTV1a",
           "_ZN1aC1IiEEDpT_",                 // a pack that is none
           "_Z1fIJicEEvT_",                   // a pack that is not expanded
           "_Z1fIJiEJcdEEvDpSt4pairIT_T0_E",  // two of different lengths
           "_Z1fIJEJEEvDpT_DpT0_",            // two commas to take back
           "_Z1fDpT_",                        // of no arguments
           "_Z1fIJiEEvPDpT_",
           "_ZTh_1av",
           "_ZTv0_1av",
           "_Z1fILZ1aE1bE0EEvv",
       }) {
    EXPECT_EQ(Demangle(name), CxaDemangled(name)) << name;
  }
}

// Every C++ name of a large library, wherever it is in the file: libstdc++'s demangler is the
// judge.
TEST(DemangleCpp, EqualsCxaDemangleForAllOfLibstdcxx) {
  const std::string bytes =
      ReadFile("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", 1u << 30).value_or("");
  if (bytes.empty()) GTEST_SKIP() << "no libstdc++.so.6";
  size_t names = 0;
  for (size_t at = bytes.find("_Z"); at != std::string::npos; at = bytes.find("_Z", at + 1)) {
    if (at == 0 || bytes[at - 1] != '\0') continue;
    const std::string name = bytes.c_str() + at;
    ++names;
    ASSERT_EQ(Demangle(name), CxaDemangled(name)) << name;
  }
  EXPECT_GT(names, 4000u);
}

// libiberty reads such an "sr" in its second attempt only; libLLVM-14 has 257 of these names.
TEST(DemangleCpp, ReadsUnresolvedNames) {
  EXPECT_EQ(Demangle("_ZN4llvm10checkedAddIiEENSt9enable_ifIXsr3std9is_signedIT_EE5valueENS_"
                     "8OptionalIS2_EEE4typeES2_S2_"),
            "std::enable_if<std::is_signed<int>::value, llvm::Optional<int> >::type "
            "llvm::checkedAdd<int>(int, int)");
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

// libiberty's printer would take 16 MB of the stack for the pairs of 1,100 templates with a
// reference to T_ each: the type B<…> is there twice, by a substitution.
TEST(DemangleCpp, ManyTemplatesWithReferencesFitTheStack) {
  std::string name = "_Z1fIiEv1BI";
  for (int i = 0; i < 560; ++i) name += "1AIRT_E";
  name += "ES1Q9_";
  EXPECT_EQ(Demangle(name), name);
}

TEST(DemangleCpp, EveryPrefixEndsCleanly) {
  const std::string name =
      "_ZZN12_GLOBAL__N_11aINSt6vectorIiSaIiEEEE1bIXadL_ZNS_1cEPKciEEJRiOcEEEDTclL_Z1gEspfp_EEDpT0_"
      "ENKUlvE0_clEv.part.0";
  for (size_t length = 0; length < name.size(); ++length) {
    const std::string prefix = name.substr(0, length);
    EXPECT_EQ(Demangle(prefix), CxaDemangled(prefix)) << prefix;
  }
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
      {"_ZN13test$u20$test4foob17h05af221e174051e9E", "test test::foob"},
      {"_ZN3foo17h05af221e174051e9E.llvm.A5310EB9", "foo"},
      {"_ZN3foo17h05af221e174051e9E.cold", "foo.cold"},
      {"_ZN11issue_609253foo37Foo$LT$issue_60925..llv$u6d$..Foo$GT$3foo17h059a991a004536adE",
       "issue_60925::foo::Foo<issue_60925::llvm::Foo>::foo"},
  };
  for (const Case& test : kCases) EXPECT_EQ(Demangle(test.mangled), test.demangled);
}

// Names without a hash, or with something else in its place, are C++; expected values are those of
// c++filt and llvm-cxxfilt.
TEST(DemangleRustLegacy, OtherNamesAreCppOrNone) {
  static constexpr Case kCases[] = {
      {"_ZN3fooE", "foo"},
      {"_ZN3foo17h05af221e174051eXE", "foo::h05af221e174051eX"},
      {"_ZN17h05af221e174051e9E", "h05af221e174051e9"},
  };
  for (const Case& test : kCases) EXPECT_EQ(Demangle(test.mangled), test.demangled);
  for (const char* name : {"_ZN8$RF$testE17h05af221e174051e9E", "_ZN3foo17h05af221e174051eE",
                           "_ZN99foo17h05af221e174051e9E", "_ZN3foo17h05af221e174051e9",
                           "_ZN0foo17h05af221e174051e9E"}) {
    EXPECT_EQ(Demangle(name), name);
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
      {"_RMC0INtC1a1bKce9_E", "<a::b<'\\u{e9}'>>"},
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

// (T, T) where T is the tuple before it, and so on: 2^40 types in 300 bytes.
std::string DoublingName() {
  std::string name = "MC0TThhE";
  for (size_t at = 4, level = 0; level < 40; ++level) {
    const std::string reference = "B" + Base62(at) + "_";
    at = name.size();
    name += "T" + reference + reference + "E";
  }
  return "_R" + name + "E";
}

// Letters that would be a long "for<…>" of a function or trait object are parts of names here.
TEST(DemangleRustV0, LettersOfABinderMayBePartOfAName) {
  EXPECT_EQ(Demangle("_RNvCs1FGxyz_1a7FGLOBAL"), "a::FGLOBAL");
  EXPECT_EQ(Demangle("_RINvCs1DGxyz_1a1fFG_RL0_hEuE"), "a::f::<for<'a> fn(&'a u8)>");
}

// The identifier does not fit a third time, and libiberty holds memory while it writes it: a
// sanitizer sees a leak if it is left there.
TEST(DemangleRustV0, APunycodeIdentifierMayEndAtTheBound) {
  std::string name = "_RINvC1a1fNtC1au3000_n0a" + std::string(2997, 'a');
  for (int i = 0; i < 21; ++i) name += "B7_";
  name += "E";
  EXPECT_EQ(Demangle(name), name);
}

TEST(DemangleRustV0, HostileNamesStayMangled) {
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& name : {
           "_RMC0" + std::string(3000, 'S') + "h", DoublingName(),
           std::string("_RYFG_FGyG0_RL1_hEuEuNtC1a1T"),  // 10^5 bound lifetimes
           std::string("_RMIC1aFGzzzzz_EuEu"),           // 10^9 of them, in what is not shown
           // An identifier that libiberty writes as no bytes at a null pointer.
           std::string(
               "_RINvCs6xxl1lAjzDf_0a3fnpINtNtCslNYArtu3iFV_5alloc5boxed3BoxDG_INtNtNtCsgEm"
               "fK2I1SDS_4core3ops8function2FnTRL0_hEEp6OutputRL0_hNtNtB15_6marker4SendBL_EEB2_"),
           std::string("_RMC0B3_"),                         // refers to itself
           std::string("_RMC0BZZZZZZZZZZZZZZZZ_"),          // beyond 64 bits
           std::string("_RNvC99999999999999999999999a1b"),  // beyond the name
           std::string("_RNvC1au5_9999"),                   // punycode beyond Unicode
           std::string("_RMC0INtC1a1bKb2_E"),               // no bool
           std::string("_RMC0INtC1a1bKhn1_E"),              // negative u8
       }) {
    EXPECT_EQ(Demangle(name), name);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

}  // namespace
}  // namespace firetower::symbolizer
