// SPDX-License-Identifier: Apache-2.0
// The walk's step over HotSpot's frames, as user space runs it over copied stacks, on a machine
// that is laid out in memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/runtimes/hotspot/vm_layout.h"
#include "daemon/unwind/native_walk.h"
#include "tests/unit/daemon/runtimes/java_machine.h"

namespace firetower::daemon {
namespace {

using ::testing::ElementsAre;
using testing::JavaMachine;

constexpr uint64_t kStack = 0x7ffd00000000;
constexpr uint64_t kCodeBegin = JavaMachine::kNmethod + 224;
constexpr uint64_t kBody = kCodeBegin + 0x40;  // behind the place where the frame is complete
constexpr uint64_t kCompiled = FT_WORD_COMPILED | JavaMachine::kNmethod;
constexpr uint64_t kNative = 0x400500;

uint64_t Where(uint32_t position) { return uint64_t{77} << 32 | position; }

class JavaStepTest : public ::testing::Test {
 protected:
  JavaStepTest() {
    const auto structs = VmStructs::Read(java_.memory, java_.symbols(), JavaMachine::kStatics);
    EXPECT_TRUE(structs);
    const auto layout = LayoutOf(java_.memory, *structs);
    EXPECT_TRUE(layout);
    const auto walk = FillPlaces(java_.memory, *layout);
    EXPECT_TRUE(walk);
    hotspot_ = *walk;
    walk_.ip = kBody;
    walk_.sp = kStack + 0x100;
    walk_.bp = 0x123456;
  }

  void Push(uint64_t address, uint64_t word) { stack_[(address - kStack) / 8] = word; }
  void Code(uint64_t at, std::initializer_list<uint8_t> bytes) {
    java_.memory.PutBytes(at, std::as_bytes(std::span(bytes.begin(), bytes.size())));
  }

  // Walks from the leaf; the words of the stack, and the last step.
  std::vector<uint64_t> Walk() {
    WalkMemory memory;
    std::vector<std::byte> arena(4096);
    std::vector<ft_module> modules(FT_MAX_MODULES);
    memory.arena = arena.data();
    memory.arena_bytes = arena.size();
    memory.modules = modules.data();
    memory.stack_begin = kStack;
    memory.stack = std::as_bytes(std::span(stack_));
    memory.registers = registers_;
    memory.hotspot = &hotspot_;
    memory.far = &java_.memory;
    std::vector<uint64_t> words = {walk_.ip};
    step_ = WalkOn(memory, walk_, 16, words);
    return words;
  }

  JavaMachine java_;
  ft_hotspot hotspot_{};
  ft_walk walk_{};
  std::array<uint64_t, 512> stack_{};
  std::array<uint64_t, 21> registers_{};
  int step_ = 0;
};

TEST_F(JavaStepTest, ACompiledFrameIsSteppedOverByItsSize) {
  Push(kStack + 0x100 + 4 * 8, 0xb0b0);
  Push(kStack + 0x100 + 5 * 8, kNative);
  EXPECT_THAT(Walk(), ElementsAre(kCompiled, Where(0x40), kNative));
  EXPECT_EQ(walk_.sp, kStack + 0x130);
  EXPECT_EQ(walk_.bp, 0xb0b0u);
  EXPECT_EQ(step_, FT_STEP_COLD) << "nothing is mapped there";
}

TEST_F(JavaStepTest, ALeafThatHasNotMadeItsFrameReturnsFromTheTopOfTheStack) {
  walk_.ip = kCodeBegin + 0x11;
  Code(walk_.ip, {0x55, 0x48, 0x83, 0xec});
  Push(kStack + 0x100, kNative);
  EXPECT_THAT(Walk(), ElementsAre(kCompiled, Where(0x11), kNative));
  EXPECT_EQ(walk_.sp, kStack + 0x108);
  EXPECT_EQ(walk_.bp, 0x123456u);
}

TEST_F(JavaStepTest, ALeafThatHasPushedItsCallersRegisterReturnsFromBehindIt) {
  walk_.ip = kCodeBegin + 0x12;
  Code(walk_.ip - 1, {0x55, 0x48, 0x83, 0xec, 0x20});
  Push(kStack + 0x100, 0xb0b0);
  Push(kStack + 0x108, kNative);
  EXPECT_THAT(Walk(), ElementsAre(kCompiled, Where(0x12), kNative));
  EXPECT_EQ(walk_.bp, 0xb0b0u);
}

TEST_F(JavaStepTest, ALeafThatIsAboutToReturnHasNoFrameAnyMore) {
  for (const auto& code :
       {std::vector<uint8_t>{0xc3, 0, 0, 0}, std::vector<uint8_t>{0x49, 0x3b, 0xa7, 0x50},
        std::vector<uint8_t>{0x49, 0x3b, 0x67, 0x28},
        std::vector<uint8_t>{0x41, 0x85, 0x02, 0xc3}}) {
    java_.memory.PutBytes(kBody, std::as_bytes(std::span(code)));
    walk_.ip = kBody;
    walk_.sp = kStack + 0x100;
    walk_.returned = 0;
    Push(kStack + 0x100, kNative);
    EXPECT_THAT(Walk(), ElementsAre(kCompiled, Where(0x40), kNative));
  }
}

TEST_F(JavaStepTest, AMoveThatEndsLikeLeaveIsNone) {
  // mov rcx, r9; then a comparison of registers.
  Code(kBody - 3, {0x49, 0x8b, 0xc9, 0x4c, 0x3b, 0xc8});
  Push(kStack + 0x100 + 5 * 8, kNative);
  EXPECT_THAT(Walk(), ElementsAre(kCompiled, Where(0x40), kNative));
  EXPECT_EQ(walk_.sp, kStack + 0x130);
}

TEST_F(JavaStepTest, AFrameThatShallBeDeoptimisedHasItsAddressInItself) {
  walk_.returned = 1;
  walk_.ip = JavaMachine::kNmethod + 0x2e0;
  Push(kStack + 0x118, kBody);
  Push(kStack + 0x100 + 5 * 8, kNative);
  EXPECT_THAT(Walk(), ElementsAre(kCompiled, Where(0x40), kNative));
}

TEST_F(JavaStepTest, AnInterpretedFrameIsReadByItsSlots) {
  const uint64_t frame = kStack + 0x200;
  walk_.ip = JavaMachine::kInterpreter + 0x10;
  walk_.returned = 1;
  walk_.bp = frame;
  Push(frame - 64, JavaMachine::kConstMethod + 56 + 6);
  Push(frame - 24, JavaMachine::kMethod);
  Push(frame - 8, frame + 0x40);
  Push(frame, 0xb0b0);
  Push(frame + 8, kNative);
  EXPECT_THAT(Walk(), ElementsAre(FT_WORD_INTERPRETED | JavaMachine::kMethod,
                                  JavaMachine::kConstMethod + 56 + 6, kNative));
  EXPECT_EQ(walk_.sp, frame + 0x40);
}

TEST_F(JavaStepTest, AMethodThatHasJustBeenEnteredIsInItsRegisters) {
  walk_.ip = JavaMachine::kInterpreter + 0x10;
  registers_[FT_REGISTER_SLOT(3)] = JavaMachine::kMethod;
  registers_[FT_REGISTER_SLOT(13)] = kStack + 0x110;
  Push(kStack + 0x100, kNative);
  EXPECT_THAT(Walk(),
              ElementsAre(FT_WORD_INTERPRETED | JavaMachine::kMethod, ::testing::_, kNative));
}

TEST_F(JavaStepTest, AVirtualThreadGoesOnWhereItWasEntered) {
  // The same block as code of the JVM's own, which begins with mov rsp, [r15 + 0x5e0].
  java_.memory.Put(JavaMachine::kNmethod + 52, uint16_t{64});
  java_.memory.Put(JavaMachine::kNmethod + 44, int32_t{0});
  Code(kBody, {0x49, 0x8b, 0xa7, 0xe0, 0x05, 0, 0});
  java_.memory.Put(JavaMachine::kStatics + 0x600, JavaMachine::kInterpreter + 0x20);
  hotspot_.enter = JavaMachine::kStatics + 0x600;
  walk_.returned = 1;
  walk_.bp = 0;
  EXPECT_THAT(Walk(), ElementsAre(FT_WORD_STUB | JavaMachine::kNmethod, uint64_t{uint32_t(kBody)},
                                  FT_WORD_STUB, ::testing::_));
  hotspot_.enter = 0;
  walk_.ip = kBody;
  Walk();
  EXPECT_EQ(walk_.stop, uint32_t{FT_STOP_RUNTIME}) << "a JVM without virtual threads";
}

TEST_F(JavaStepTest, AFreeBlockIsNoCode) {
  java_.memory.Put(JavaMachine::kCode + 4, uint8_t{0});
  EXPECT_THAT(Walk(), ElementsAre(FT_WORD_STUB, uint64_t{uint32_t(kBody)}));
  EXPECT_EQ(step_, FT_STEP_ENDED);
  EXPECT_EQ(walk_.stop, uint32_t{FT_STOP_RUNTIME});
}

TEST_F(JavaStepTest, ASegmentMapThatLeadsNowhereEndsTheWalk) {
  for (const int back : {0xff, 0x80}) {
    for (uint64_t i = 0; i < 6; ++i)
      java_.memory.Put(JavaMachine::kSegments + 0x20 + i, static_cast<uint8_t>(back));
    walk_.ip = kBody;
    Walk();
    EXPECT_EQ(walk_.stop, uint32_t{FT_STOP_RUNTIME});
  }
}

}  // namespace
}  // namespace firetower::daemon
