// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/hotspot/java_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/runtimes/hotspot/java_machines.h"
#include "daemon/runtimes/hotspot/number_stream.h"
#include "tests/unit/daemon/runtimes/java_machine.h"

namespace firetower::daemon {
namespace {

using testing::FakeMemory;
using ::testing::HasSubstr;
using testing::JavaMachine;

class JavaNamesTest : public ::testing::Test {
 protected:
  Result<JavaNames> Names() {
    ASSIGN_OR_RETURN(const VmStructs structs,
                     VmStructs::Read(java_.memory, java_.symbols(), JavaMachine::kStatics));
    ASSIGN_OR_RETURN(const VmLayout layout, LayoutOf(java_.memory, structs));
    ASSIGN_OR_RETURN(const ft_hotspot walk, FillPlaces(java_.memory, layout));
    return JavaNames(layout, walk);
  }
  static constexpr uint64_t kInterpreted = FT_WORD_INTERPRETED | JavaMachine::kMethod;
  static constexpr uint64_t kCompiled = FT_WORD_COMPILED | JavaMachine::kNmethod;
  static uint64_t At(uint32_t bytecode) { return JavaMachine::kConstMethod + 56 + bytecode; }
  static constexpr uint64_t kNowhere = FT_HOTSPOT_COOKIE(JavaMachine::kConstMethod);

  JavaMachine java_;
};

TEST_F(JavaNamesTest, AnInterpretedMethodHasItsClassFileAndLine) {
  auto names = Names();
  ASSERT_TRUE(names) << names.error().message();
  const std::vector<RuntimePlace> places = names->Find(java_.memory, kInterpreted, At(6));
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(*places[0].function, (RuntimeFunction{"shop.Cart.add", "shop/Cart.java", 12}));
  EXPECT_EQ(places[0].line, 14u);
  EXPECT_EQ(names->Find(java_.memory, kInterpreted, At(4))[0].line, 12u);
  EXPECT_EQ(names->Find(java_.memory, kInterpreted, kNowhere)[0].line, 12u);
}

TEST_F(JavaNamesTest, AMethodThatIsNotWhatItWasHasNoName) {
  auto names = Names();
  ASSERT_TRUE(names);
  EXPECT_EQ(names->Find(java_.memory, kInterpreted, At(6)).size(), 1u);
  EXPECT_TRUE(names->Find(java_.memory, kInterpreted, At(8)).empty()) << "behind its bytecodes";
  java_.memory.Put(JavaMachine::kMethod + 8, JavaMachine::kConstMethod + 0x1000);
  EXPECT_TRUE(names->Find(java_.memory, kInterpreted, At(6)).empty());
  EXPECT_TRUE(names->Find(java_.memory, kInterpreted, kNowhere).empty());
}

TEST_F(JavaNamesTest, AnotherClassAtTheSameAddressIsReadAnew) {
  auto names = Names();
  ASSERT_TRUE(names);
  EXPECT_EQ(names->Find(java_.memory, kInterpreted, At(0))[0].function->name, "shop.Cart.add");
  java_.memory.Put(JavaMachine::kConstMethod + 36, uint16_t{2});
  EXPECT_EQ(names->Find(java_.memory, kInterpreted, At(0))[0].function->name,
            "shop.Cart.Cart.java");
}

TEST_F(JavaNamesTest, AProcessThatHasEndedKeepsItsMethods) {
  auto names = Names();
  ASSERT_TRUE(names);
  EXPECT_EQ(names->Find(java_.memory, kInterpreted, At(0)).size(), 1u);
  const FakeMemory gone;
  EXPECT_EQ(names->Find(gone, kInterpreted, At(6)).size(), 1u);
  EXPECT_TRUE(names->Find(gone, kInterpreted + 64, At(6)).empty()) << "never read";
}

TEST_F(JavaNamesTest, CodeOfAnotherCompilationHasNoName) {
  auto names = Names();
  ASSERT_TRUE(names);
  EXPECT_TRUE(names->Find(java_.memory, kCompiled, uint64_t{76} << 32 | 0x40).empty());
  const std::vector<RuntimePlace> own =
      names->Find(java_.memory, kCompiled, uint64_t{77} << 32 | 0x40);
  ASSERT_EQ(own.size(), 1u) << "without a description of its code, the method itself";
  EXPECT_EQ(own[0].function->name, "shop.Cart.add");
}

TEST_F(JavaNamesTest, NumbersAreBoundedByTheirBytes) {
  const uint8_t bytes[] = {1, 192 + 1, 2, 0xff, 0xff, 0xff, 0xff, 0xff};
  NumberStream stream(std::as_bytes(std::span(bytes)), 1);
  EXPECT_EQ(stream.Number(), 0u);
  EXPECT_EQ(stream.Number(), 192u + (1u << 6));
  stream.Number();
  EXPECT_TRUE(stream.ended());
  EXPECT_EQ(stream.Number(), 0u);
  NumberStream old(std::as_bytes(std::span(bytes)), 0);
  EXPECT_EQ(old.Number(), 1u);
  EXPECT_EQ(old.Number(), 193u + (2u << 6));
}

TEST_F(JavaNamesTest, HiddenClassesHaveNoAddressInTheirName) {
  EXPECT_EQ(JavaName("shop/Cart$$Lambda+0x00007f1234", "run"), "shop.Cart$$Lambda.run");
  EXPECT_EQ(JavaName("shop/Cart$$Lambda/0x0000000800c0", "run"), "shop.Cart$$Lambda.run");
}

TEST_F(JavaNamesTest, ADescriptionWithoutAFieldIsToldByItsName) {
  JavaMachine other;
  const auto structs = VmStructs::Read(other.memory, other.symbols(), JavaMachine::kStatics);
  ASSERT_TRUE(structs);
  EXPECT_TRUE(LayoutOf(other.memory, *structs));
  // Ends the table of fields before the last two.
  other.memory.Put(JavaMachine::kTables + 40 * 48, uint64_t{0});
  const auto less = VmStructs::Read(other.memory, other.symbols(), JavaMachine::kStatics);
  ASSERT_TRUE(less);
  const auto layout = LayoutOf(other.memory, *less);
  ASSERT_FALSE(layout);
  EXPECT_EQ(layout.error().code(), ErrorCode::kUnsupported);
  EXPECT_THAT(layout.error().message(), HasSubstr("Symbol::_length"));
}

TEST_F(JavaNamesTest, AMachineThatIsNotSupportedSaysWhy) {
  java_.memory.Put(JavaMachine::kTables + 40 * 48, uint64_t{0});
  JavaMachines machines([&](uint32_t) { return std::make_unique<FakeMemory>(java_.memory); });
  machines.AddLibrary(9, java_.symbols());
  EXPECT_EQ(machines.WhyNot(7), "");
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(machines.Look(7, 1, 9, JavaMachine::kStatics), JavaMachines::State::kUnsupported);
  EXPECT_THAT(std::string(machines.WhyNot(7)), HasSubstr("Symbol::_length"));
  EXPECT_EQ(machines.Find(7, 1), nullptr);
}

TEST_F(JavaNamesTest, EveryCutOfItsMemoryIsAnswered) {
  auto names = Names();
  ASSERT_TRUE(names);
  size_t named = 0;
  for (const size_t bytes : {0x108u, 0x110u, 0x240u, 0x448u, 0x458u, 0x618u, 0x620u, 0x2004u,
                             0x2006u, 0x2009u, 0x2040u, 0x2080u, 0x20c0u}) {
    FakeMemory cut = java_.memory;
    cut.Unmap(JavaMachine::kMetaspace);
    cut.Map(JavaMachine::kMetaspace, bytes);
    std::vector<std::byte> kept(bytes);
    ASSERT_TRUE(java_.memory.Read(JavaMachine::kMetaspace, kept));
    cut.PutBytes(JavaMachine::kMetaspace, kept);
    JavaNames fresh(names->layout(), names->walk());
    for (const RuntimePlace& place : fresh.Find(cut, kInterpreted, At(0))) {
      EXPECT_EQ(place.function->name, "shop.Cart.add");
      ++named;
    }
  }
  EXPECT_GE(named, 1u);
}

TEST_F(JavaNamesTest, AMachineIsReadyOnceItsCodeCacheIsThere) {
  java_.memory.Put(JavaMachine::kStatics + 0x100, uint64_t{0});
  JavaMachines machines([&](uint32_t) { return std::make_unique<FakeMemory>(java_.memory); });
  constexpr uint64_t kBias = JavaMachine::kStatics;
  EXPECT_EQ(machines.Look(7, 1, 9, kBias), JavaMachines::State::kLater);
  machines.AddLibrary(9, java_.symbols());
  EXPECT_EQ(machines.Look(7, 1, 9, kBias), JavaMachines::State::kLater);
  EXPECT_EQ(machines.Find(7, 1), nullptr);
  java_.memory.Put(JavaMachine::kStatics + 0x100, JavaMachine::kStatics + 0x200);
  EXPECT_EQ(machines.Look(7, 2, 9, kBias), JavaMachines::State::kReady) << "another image";
  ASSERT_NE(machines.Find(7, 2), nullptr);
  EXPECT_EQ(machines.Find(7, 2)->at.low, JavaMachine::kHeap);
  EXPECT_EQ(machines.VersionOf(7), "HotSpot 25");
  EXPECT_EQ(machines.Find(7, 1), nullptr);
  EXPECT_EQ(machines.Name(7, 2, kInterpreted, At(0)).size(), 1u);
  EXPECT_TRUE(machines.Name(7, 1, kInterpreted, At(0)).empty());
  machines.ForgetIf([](uint32_t pid) { return pid == 7; });
  EXPECT_EQ(machines.Find(7, 2), nullptr);
}

}  // namespace
}  // namespace firetower::daemon
