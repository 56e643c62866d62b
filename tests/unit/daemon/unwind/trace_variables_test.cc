// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind/trace_variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "tests/unit/daemon/runtimes/fake_memory.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::FakeMemory;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Access = TraceSymbol::Access;

class TraceVariablesTest : public ::testing::Test {
 protected:
  static constexpr uint32_t kLibrary = 5, kMusl = 9;
  // The library's code is mapped at file offset 0x1000, so addresses have this bias.
  static constexpr uint64_t kBias = 0x7f0000000000, kSlot = 0x3fd0, kIndex = 0x560000001000;

  TraceVariablesTest() {
    memory_->Map(kBias + 0x3000, 0x1000);
    memory_->Map(kIndex, 0x100);
    process_.pid = 42;
    process_.identity = 7;
    process_.mappings = std::make_shared<std::vector<ProcessMapping>>(std::vector<ProcessMapping>{
        {0x1000, 0x2000, 0, 3, 0}, {kBias + 0x1000, kBias + 0x2000, 0x1000, kLibrary, 0}});
  }

  // Sets the two words that the process's memory has at the slot.
  void Slot(uint64_t first, uint64_t second) {
    memory_->Put(kBias + kSlot, std::array<uint64_t, 2>{first, second});
  }
  TraceVariable FindWith(const TraceSymbol& symbol) {
    variables_.AddLibrary(kLibrary, symbol);
    return variables_.Find(process_);
  }

  // Shared with each memory that is opened.
  class Shared : public RemoteMemory {
   public:
    explicit Shared(std::shared_ptr<FakeMemory> memory) : memory_(std::move(memory)) {}
    bool Read(uint64_t address, std::span<std::byte> to) const override {
      return memory_->Read(address, to);
    }

   private:
    std::shared_ptr<FakeMemory> memory_;
  };

  std::shared_ptr<FakeMemory> memory_ = std::make_shared<FakeMemory>();
  Process process_;
  TraceVariables variables_{[](uint32_t module) { return module == kMusl; },
                            [this](uint32_t) { return std::make_unique<Shared>(memory_); }};
};

constexpr uint64_t kMinus64 = ~uint64_t{0} - 63;
const TraceVariable kStatic{.kind = FT_TRACE_STATIC, .offset = -64};

TEST_F(TraceVariablesTest, AProgramKnowsItsOffset) {
  EXPECT_EQ(variables_.Find(process_), TraceVariable()) << "no file has the variable";
  EXPECT_EQ(FindWith({.access = Access::kExecutable, .offset = -64}), kStatic);
}

TEST_F(TraceVariablesTest, ReadsAnOffsetOnceTheLoaderHasFilledItIn) {
  const TraceSymbol symbol{.access = Access::kOffset, .slot = kSlot};
  EXPECT_EQ(FindWith(symbol), TraceVariable());
  EXPECT_THAT(variables_.Unplaced(), ElementsAre(42u));
  Slot(kMinus64, 0);
  EXPECT_EQ(variables_.Find(process_), kStatic);
  EXPECT_THAT(variables_.Unplaced(), IsEmpty());
}

TEST_F(TraceVariablesTest, ADescriptorHasTheOffsetOrWhereToReadMore) {
  const TraceSymbol symbol{.access = Access::kDescriptor, .slot = kSlot};
  Slot(0x7f1111111111, kMinus64);
  EXPECT_EQ(FindWith(symbol), kStatic);
  ++process_.identity;  // it has called execve
  memory_->Put(kIndex, std::array<uint64_t, 2>{3, 0x40});
  Slot(0x7f1111111111, kIndex);
  EXPECT_EQ(variables_.Find(process_),
            (TraceVariable{.kind = FT_TRACE_DTV, .dtv_bytes = 16, .module = 3, .offset = 0x40}));
}

TEST_F(TraceVariablesTest, ADescriptorThatIsNotResolvedIsNone) {
  const TraceSymbol symbol{.access = Access::kDescriptor, .slot = kSlot};
  // The relocation begins with the slot's address in the file.
  memory_->Put(kIndex, std::array<uint64_t, 2>{kSlot, 0x100000024});
  Slot(0x7f1111111111, kIndex);
  EXPECT_EQ(FindWith(symbol), TraceVariable());
  Slot(0x7f1111111111, 0x1234);  // nothing is there
  EXPECT_EQ(variables_.Find(process_), TraceVariable());
}

TEST_F(TraceVariablesTest, AModuleIndexIsOfTheThreadsVector) {
  Slot(4, 0x18);
  EXPECT_EQ(FindWith({.access = Access::kModuleIndex, .slot = kSlot}),
            (TraceVariable{.kind = FT_TRACE_DTV, .dtv_bytes = 16, .module = 4, .offset = 0x18}));
  ++process_.identity;
  // The file has the place in the block, and the loader leaves that word alone.
  Slot(4, 0);
  EXPECT_EQ(FindWith({.access = Access::kModuleIndex, .slot = kSlot, .in_block = 0x20}),
            (TraceVariable{.kind = FT_TRACE_DTV, .dtv_bytes = 16, .module = 4, .offset = 0x20}));
  ++process_.identity;
  process_.mappings->push_back({0x9000, 0xa000, 0, kMusl, 0});
  EXPECT_EQ(variables_.Find(process_).dtv_bytes, 8);
}

TEST_F(TraceVariablesTest, ForgetsALibraryThatWasClosed) {
  Slot(kMinus64, 0);
  EXPECT_EQ(FindWith({.access = Access::kOffset, .slot = kSlot}), kStatic);
  const ProcessMapping mapping = process_.mappings->back();
  process_.mappings->pop_back();
  EXPECT_EQ(variables_.Find(process_), TraceVariable());
  // Opened again, it lies elsewhere, and its loader has not filled the slot in.
  process_.mappings->push_back(mapping);
  Slot(0, 0);
  EXPECT_EQ(variables_.Find(process_), TraceVariable());
}

TEST_F(TraceVariablesTest, GivesUpAfterSomeTries) {
  variables_.AddLibrary(kLibrary, {.access = Access::kOffset, .slot = kSlot});
  for (int i = 0; i < TraceVariables::kMaxTries; ++i) variables_.Find(process_);
  EXPECT_THAT(variables_.Unplaced(), IsEmpty());
  Slot(kMinus64, 0);
  EXPECT_EQ(variables_.Find(process_), kStatic) << "whoever looks again finds it";
  variables_.ForgetIf([](uint32_t pid) { return pid == 42; });
  variables_.ForgetLibrary(kLibrary);
  EXPECT_EQ(variables_.Find(process_), TraceVariable());
}

}  // namespace
}  // namespace firetower::daemon
