// SPDX-License-Identifier: Apache-2.0
// On a sample's way nothing allocates (docs/architecture.md, Threads): once the memory that is
// recycled has grown to the machine's variety, slice after slice goes through without a single call
// of operator new. This program has an operator new that counts.
#include <gtest/gtest.h>

#include <limits>

#include "daemon/capture/rounds/round_builder.h"
#include "tests/support/allocations.h"
#include "tests/support/fake_unwind_memory.h"
#include "tests/support/no_tables.h"
#include "tests/support/sample_stream.h"
#include "tests/unit/daemon/pipeline/resolver_fixture.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::Allocations;
using ::firetower::testing::SampleStream;

constexpr int kSlicesAWindow = 3;
constexpr int kWarmSlices = 4 * kSlicesAWindow;
constexpr int kSlices = 4 * kSlicesAWindow;

TEST(Allocations, AreCounted) {
  uint64_t before = Allocations();
  auto use = [](void* memory) { asm volatile("" : : "r"(memory) : "memory"); };
  auto one = std::make_unique<int>(1);
  auto many = std::make_unique<char[]>(100);
  std::vector<uint64_t> list(10);
  use(one.get());
  use(many.get());
  use(list.data());
  EXPECT_EQ(Allocations() - before, 3u);
}

// Hands slices round in a circle, as the pipeline and its reader do.
class RecyclingReader {
 public:
  // Returns when the next slice ends.
  int64_t EndSlice(SliceBuilder& builder) {
    std::unique_ptr<Slice> done = builder.Take(std::move(spare_));
    samples += done->attribution.container;
    rows += done->rows.size();
    done->Clear();
    spare_ = std::move(done);
    return next_end_ns += slice_ns;
  }
  int64_t slice_ns = 0;
  int64_t next_end_ns = 0;
  uint64_t samples = 0;
  uint64_t rows = 0;

 private:
  std::unique_ptr<Slice> spare_ = std::make_unique<Slice>();
};

class AllocationTest : public ::testing::Test {
 protected:
  static constexpr int64_t kStartNs = 1000 * kNsPerSecond;

  AllocationTest() {
    for (uint32_t i = 0; i < stream_.shape().containers; ++i) {
      cgroups_.Add(SampleStream::kFirstCgroup + i, SampleStream::PathOf(i));
    }
    Round births;
    stream_.AddProcesses(births, kStartNs - 1);
    resolver_.Process(births);
    reader_.slice_ns = stream_.turn_ns();
    reader_.next_end_ns = kStartNs + stream_.turn_ns();
    resolver_.SetSliceEnd(reader_.next_end_ns);
  }
  // `last` - `first` slices; an epoch lasts kSlicesAWindow of them. The looks at /proc once a
  // minute (Resolver::Tick) are on no sample's way, and are left out.
  void Play(int first, int last) {
    for (int slice = first; slice < last; ++slice) {
      for (uint32_t i = 0; i < stream_.shape().rounds; ++i) {
        Round& round = rounds_[i % 2];
        round.Clear();
        stream_.Play(i, kStartNs + slice * stream_.turn_ns(),
                     static_cast<uint32_t>(1 + slice / kSlicesAWindow), slice % kSlicesAWindow == 0,
                     ring_, round);
        while (resolver_.Process(round))
          resolver_.SetSliceEnd(reader_.EndSlice(resolver_.builder()));
      }
    }
  }

  SampleStream stream_{SampleStream::Shape{}};
  testing::FakeProc proc_;
  FakeClock clock_{kStartNs, 0};
  ModuleRegistry modules_;
  ProcessTable processes_{modules_, ProcFs(proc_.root()), clock_};
  CgroupTree cgroups_{"/nonexistent"};
  FakePeers peers_;
  RecyclingReader reader_;
  testing::FakeUnwindMemory unwind_memory_;
  testing::NoTables tables_;
  Unwinder unwinder_{unwind_memory_, processes_, modules_, tables_, clock_, {}};
  Resolver resolver_{modules_, processes_, cgroups_, unwinder_, peers_, clock_, {true, true, true}};
  RoundBuilder ring_;
  Round rounds_[2];
};

TEST_F(AllocationTest, FromTheRingIntoASliceThereIsNone) {
  Play(0, kWarmSlices);
  uint64_t samples = reader_.samples, rows = reader_.rows;
  uint64_t before = Allocations();
  Play(kWarmSlices, kWarmSlices + kSlices);
  uint64_t allocations = Allocations() - before;
  EXPECT_EQ(allocations, 0u);
  // It was real work: all samples came through, as several hundred rows a slice.
  EXPECT_EQ(reader_.samples - samples, kSlices * stream_.samples_a_turn());
  EXPECT_GT(reader_.rows - rows, kSlices * 300u);
  EXPECT_EQ(resolver_.builder().slice().stops[kStopStackLost], 0u);
}

// Records of two CPUs' sideband rings, drained one after the other, beside the samples.
TEST_F(AllocationTest, RoundsOfSeveralRingsNeedNone) {
  namespace t = ::firetower::testing;
  std::vector<t::Bytes> sideband;
  for (uint64_t cpu = 0; cpu < 2; ++cpu) {
    for (uint32_t i = 0; i < 40; ++i) {
      uint64_t time_ns = i * 100 + cpu;
      sideband.push_back(t::PerfTask(t::kPerfFork, 100 + i, 1, 100 + i, 1, time_ns));
      sideband.push_back(t::PerfComm(100 + i, 100 + i, "short-lived", true, time_ns + 10));
      sideband.push_back(
          t::PerfMmapInode({100 + i, 0x1000, 0x1000, 0, "/usr/bin/short", time_ns + 20}, 8, 1, 7));
      sideband.push_back(t::PerfTask(t::kPerfExit, 100 + i, 1, 100 + i, 1, time_ns + 30));
    }
  }
  std::vector<t::Bytes> cgroups;
  for (uint64_t i = 0; i < 20; ++i) {
    cgroups.push_back(t::RingCgroup(FT_CGROUP_MKDIR, i, "/docker/some-container", 4000 - i));
  }
  uint64_t allocations = 0, events = 0;
  for (int turn = 0; turn < 40; ++turn) {
    uint64_t before = Allocations();
    Round& round = rounds_[turn % 2];
    round.Clear();
    ring_.Begin(round);
    for (const t::Bytes& record : cgroups) ring_.OnRecord(record);
    for (const t::Bytes& record : sideband) ring_.OnSideband(record);
    // Records that are newer than the horizon wait for the next round.
    ring_.Finish(turn % 2 == 0 ? 3000 : std::numeric_limits<int64_t>::max());
    if (turn >= 20) {
      allocations += Allocations() - before;
      events += round.sideband.size() + round.cgroup_events.size();
    }
  }
  EXPECT_EQ(allocations, 0u);
  EXPECT_EQ(events, 20u * (sideband.size() + cgroups.size()));
}

}  // namespace
}  // namespace firetower::daemon
