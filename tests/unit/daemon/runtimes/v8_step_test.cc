// SPDX-License-Identifier: Apache-2.0
// The walk's step over V8's frames, as user space runs it over copied stacks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/unwind/native_walk.h"
#include "tests/unit/daemon/runtimes/v8_isolate.h"

namespace firetower::daemon {
namespace {

using ::testing::ElementsAre;
using testing::V8Isolate;

constexpr uint64_t kStack = 0x7ffd00000000, kBp = kStack + 0x400;
constexpr uint64_t kBuiltin = 0x1a34580, kNative = 0x400500;
constexpr uint64_t kJit = V8Isolate::kCode + 0x100;

class V8StepTest : public ::testing::Test {
 protected:
  V8StepTest() {
    machine_.at = {V8Isolate::kCode, 0x1000, kBuiltin, 0x1000, FT_MACHINE_V8, 7, {}};
    machine_.function_shared = v8_.build.function_shared;
    machine_.function_code = v8_.build.function_code;
    machine_.function_feedback = v8_.build.function_feedback;
    machine_.shared_name = v8_.build.shared_name;
    machine_.shared_script = v8_.build.shared_script;
    v8_.memory.Put(function_ + v8_.build.function_shared, V8Isolate::Tag(shared_));
    v8_.memory.Put(function_ + v8_.build.function_code, V8Isolate::Tag(code_));
    v8_.memory.Put(function_ + v8_.build.function_feedback, V8Isolate::Tag(feedback_));
    walk_.ip = kJit;
    walk_.sp = kBp - 64;
    walk_.bp = kBp;
    Push(kBp, 0xb0b0);
    Push(kBp + 8, kNative);
    Push(kBp - 8, V8Isolate::Tag(function_));  // the context, which is not looked at
    Push(kBp - 16, V8Isolate::Tag(function_));
  }

  void Push(uint64_t address, uint64_t word) { stack_[(address - kStack) / 8] = word; }
  void Code(uint64_t at, std::initializer_list<uint8_t> bytes) {
    v8_.memory.PutBytes(at, std::as_bytes(std::span(bytes.begin(), bytes.size())));
  }
  uint64_t Where(uint64_t position) const {
    return v8_.Frame(shared_, static_cast<uint32_t>(position)).where;
  }

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
    memory.v8 = &machine_;
    memory.far = &v8_.memory;
    std::vector<uint64_t> words = {walk_.ip};
    step_ = WalkOn(memory, walk_, 16, words);
    return words;
  }

  V8Isolate v8_{12};
  uint64_t shared_ = v8_.Function(v8_.Text("f"), v8_.Script("f.js"));
  uint64_t function_ = v8_.Object(2066, 64);
  uint64_t code_ = v8_.Object(v8_.build.code_type, 96);
  uint64_t feedback_ = v8_.Object(160, 32);
  ft_v8 machine_{};
  ft_walk walk_{};
  std::array<uint64_t, 512> stack_{};
  std::array<uint64_t, 21> registers_{};
  int step_ = 0;
};

TEST_F(V8StepTest, ACompiledFrameHasItsFunctionItsCodeAndItsCounter) {
  EXPECT_THAT(Walk(), ElementsAre(FT_WORD_COMPILED_SCRIPT | shared_, Where(kJit),
                                  code_ | FT_V8_LEAF, feedback_, kNative));
  EXPECT_EQ(walk_.sp, kBp + 16);
  EXPECT_EQ(walk_.bp, 0xb0b0u);
  EXPECT_EQ(step_, FT_STEP_COLD) << "nothing is mapped there";
}

TEST_F(V8StepTest, ACodeIsFoundByItsHandleInTheDispatchTable) {
  constexpr uint64_t kTable = 0x7e0000000000;
  v8_.memory.Map(kTable, 0x100);
  v8_.memory.Put(kTable + 5 * 16 + 8, V8Isolate::Tag(code_) << 16 | 3);
  v8_.memory.Put(function_ + v8_.build.function_code, uint64_t{0x77} << 32 | 5u << 8 | 0x21);
  machine_.dispatch = kTable;
  walk_.returned = 1;
  EXPECT_THAT(Walk(), ElementsAre(FT_WORD_COMPILED_SCRIPT | shared_, Where(kJit), code_, feedback_,
                                  kNative));
  machine_.dispatch = kTable + 0x1000;
  walk_.ip = kJit;
  walk_.sp = kBp - 64;
  walk_.bp = kBp;
  EXPECT_THAT(Walk(), ElementsAre(FT_WORD_SCRIPT | shared_, Where(kJit), kNative))
      << "the table cannot be read";
}

TEST_F(V8StepTest, AnInterpretedFrameHasThePlaceOfItsBytecode) {
  walk_.ip = kBuiltin + 0x40;
  Push(kBp - 40, V8Isolate::Small(70));
  EXPECT_THAT(Walk(), ElementsAre(FT_WORD_SCRIPT | shared_, Where(71), kNative));
  walk_.ip = kBuiltin + 0x40;
  walk_.sp = kBp - 64;
  walk_.bp = kBp;
  Push(kBp - 40, V8Isolate::Tag(code_));
  EXPECT_THAT(Walk(), ElementsAre(FT_WORD_SCRIPT | shared_, Where(0), kNative));
}

TEST_F(V8StepTest, AFrameOfATypeKeepsItsAddress) {
  Push(kBp - 8, 17 << 1);
  EXPECT_THAT(Walk(), ElementsAre(kJit, kNative));
}

TEST_F(V8StepTest, ALeafThatBeginsHasItsFunctionInARegister) {
  registers_[FT_REGISTER_SLOT(5)] = V8Isolate::Tag(function_);
  walk_.sp = kBp - 128;
  Push(kBp - 128, kNative + 8);
  Code(kJit, {0x55, 0x48, 0x89, 0xe5});
  EXPECT_THAT(Walk(), ElementsAre(FT_WORD_SCRIPT | shared_, Where(0), kNative + 8));
  EXPECT_EQ(walk_.bp, kBp) << "the caller's, as it is";
  walk_.ip = kJit + 1;
  walk_.sp = kBp - 128;
  walk_.returned = 0;
  Push(kBp - 128, kBp);
  Push(kBp - 120, kNative + 16);
  EXPECT_THAT(Walk(), ElementsAre(FT_WORD_SCRIPT | shared_, Where(0), kNative + 16));
}

TEST_F(V8StepTest, ALeafThatEndsReturnsFromTheTopOfTheStack) {
  registers_[FT_REGISTER_SLOT(5)] = V8Isolate::Tag(function_);
  walk_.sp = kBp - 128;
  Push(kBp - 128, kNative + 8);
  Code(kJit, {0xc2, 0x10, 0x00});
  EXPECT_THAT(Walk(), ElementsAre(kJit, kNative + 8)) << "the register is another's now";
}

TEST_F(V8StepTest, AFrameThatIsBeingMadeHasNoFunctionYet) {
  walk_.sp = kBp - 8;
  EXPECT_THAT(Walk(), ElementsAre(kJit, kNative));
}

TEST_F(V8StepTest, AFramePointerThatCannotBeOneEndsTheWalk) {
  walk_.bp = kBp + 4;
  EXPECT_THAT(Walk(), ElementsAre(kJit));
  EXPECT_EQ(step_, FT_STEP_ENDED);
  EXPECT_EQ(walk_.stop, FT_STOP_RUNTIME);
}

}  // namespace
}  // namespace firetower::daemon
