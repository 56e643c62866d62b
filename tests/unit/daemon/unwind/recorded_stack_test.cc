// SPDX-License-Identifier: Apache-2.0
// Moments of real programs (tests/testdata/stacks), walked by the C that the kernel side runs. The
// frames to be seen are what elfutils' libdwfl saw in the live process: see record_stacks.cc.
#include "tests/support/stacks/recorded_stack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "daemon/process/module.h"
#include "daemon/unwind/address_spaces.h"
#include "daemon/unwind/module_tables.h"
#include "daemon/unwind/native_walk.h"
#include "tests/support/fake_unwind_memory.h"

namespace firetower::daemon {
namespace {

constexpr uint32_t kFirstModule = 16;  // The registry has those before.

std::vector<std::string> Recordings() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(FIRETOWER_SOURCE_DIR "/tests/testdata/stacks")) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

// The arena filled from a recording, and the end of the walk.
class Replay {
 public:
  explicit Replay(const testing::RecordedStack& stack) : stack_(stack) {
    Process process;
    process.pid = 42;
    process.mappings = std::make_shared<std::vector<ProcessMapping>>();
    for (const auto& mapping : stack.mappings) {
      uint32_t module = mapping.module ? kFirstModule + static_cast<uint32_t>(*mapping.module)
                                       : ModuleRegistry::kJit;
      process.mappings->push_back({mapping.start, mapping.end, mapping.file_offset, module, 0});
    }
    space_ = spaces_.Publish(process);
    for (size_t i = 0; i < stack.mappings.size(); ++i) {
      tables_.SetNone(kFirstModule + static_cast<uint32_t>(i));
    }
    for (size_t i = 0; i < stack.tables.size(); ++i) {
      if (stack.tables[i].empty()) continue;
      tables_.Insert(kFirstModule + static_cast<uint32_t>(i), stack.tables[i]);
    }
  }

  // Returns enum ft_stop, or -1 where the walk met something cold.
  int Walk(std::span<const std::byte> bytes) {
    WalkMemory memory;
    memory.arena = memory_.arena();
    memory.arena_bytes = uint64_t{memory_.max_slabs()} * FT_SLAB_BYTES;
    memory.modules = memory_.modules();
    memory.stack_begin = stack_.memory_begin;
    memory.stack = bytes;
    memory.stack_start = stack_.stack_start;
    memory.registers = stack_.registers;
    ft_walk walk{};
    walk.ip = stack_.ip;
    walk.sp = stack_.sp;
    walk.bp = stack_.bp;
    walk.mappings = space_->position;
    walk.mapping_count = space_->count;
    frames = {walk.ip};
    int step = WalkOn(memory, walk, 100, frames);
    return step == FT_STEP_ENDED ? static_cast<int>(walk.stop) : -1;
  }

  std::vector<uint64_t> frames;

 private:
  const testing::RecordedStack& stack_;
  testing::FakeUnwindMemory memory_;
  FakeClock clock_{1, 1};
  Arena arena_{memory_, 4u << 20};
  AddressSpaces spaces_{memory_, arena_, clock_};
  ModuleTables tables_{memory_, arena_, 4u << 20, clock_};
  std::shared_ptr<const AddressSpace> space_;
};

class RecordedStackTest : public ::testing::TestWithParam<std::string> {
 protected:
  static testing::RecordedStack Read() {
    std::string path = FIRETOWER_SOURCE_DIR "/tests/testdata/stacks/" + GetParam();
    return testing::ReadRecordedStack(ReadFile(path).value()).value();
  }
};

TEST_P(RecordedStackTest, IsWalkedAsAnotherUnwinderDid) {
  testing::RecordedStack stack = Read();
  ASSERT_GE(stack.frames.size(), 3u);
  Replay replay(stack);
  EXPECT_EQ(replay.Walk(stack.memory), int{FT_STOP_ROOT}) << stack.about;
  EXPECT_EQ(replay.frames, stack.frames) << stack.about;
}

TEST_P(RecordedStackTest, ReadsBackAsItWasWritten) {
  testing::RecordedStack stack = Read();
  std::string path = FIRETOWER_SOURCE_DIR "/tests/testdata/stacks/" + GetParam();
  EXPECT_EQ(testing::WriteRecordedStack(stack), ReadFile(path).value());
}

// Every prefix of the stack gives the first frames of the whole walk, and no invented ones.
TEST_P(RecordedStackTest, ACutStackGivesALeadingPart) {
  testing::RecordedStack stack = Read();
  Replay replay(stack);
  for (size_t size = 0; size < stack.memory.size(); size += 8) {
    int stop = replay.Walk(std::span(stack.memory).first(size));
    ASSERT_LE(replay.frames.size(), stack.frames.size()) << size;
    ASSERT_TRUE(std::equal(replay.frames.begin(), replay.frames.end(), stack.frames.begin()))
        << size;
    if (replay.frames.size() == stack.frames.size()) continue;
    ASSERT_NE(stop, int{FT_STOP_ROOT}) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Recordings, RecordedStackTest, ::testing::ValuesIn(Recordings()),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::ranges::replace_if(
                               name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace firetower::daemon
