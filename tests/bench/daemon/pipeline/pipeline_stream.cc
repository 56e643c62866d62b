// SPDX-License-Identifier: Apache-2.0
// pipeline_stream SLICES STACKS: plays so many slices of 8,000 samples of so many stacks through
// RoundBuilder, Resolver and SliceBuilder, in windows of twelve slices as the daemon's. For
// pipeline_bench.py, which counts the instructions.
#include <fmt/core.h>

#include <cstdlib>
#include <limits>

#include "base/check.h"
#include "daemon/pipeline/resolver.h"
#include "tests/support/fake_unwind_memory.h"
#include "tests/support/no_tables.h"
#include "tests/support/sample_stream.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::SampleStream;

constexpr int64_t kStartNs = 1000 * kNsPerSecond;
constexpr uint32_t kSlicesAWindow = 12;

class Peers : public ResolverPeers {
 public:
  void WantSymbols(const std::shared_ptr<const Module>& module, const Process&,
                   const ProcessMapping&) override {
    module->symbols = Module::kAsked;
  }
  void SetGate(uint64_t, const Decisions&, bool, bool) override {}
  void OnOomKill(const std::shared_ptr<const Container>&, int64_t) override {}
  void RemoveGate(uint64_t) override {}
  void SetTasksVersion(uint32_t) override {}
  void SetTask(const ft_task&) override {}
  void ForgetTask(uint32_t) override {}
  uint64_t UnreportedCgroups() override { return 0; }
};

// Takes slices and gives the last one's memory back.
class Reader {
 public:
  int64_t EndSlice(SliceBuilder& builder) {
    Count(builder);
    return end_ns += slice_ns;
  }
  void Count(SliceBuilder& builder) {
    std::unique_ptr<Slice> done = builder.Take(std::move(spare_));
    for (const Slice::Row& row : done->rows) samples += row.amount.count;
    CHECK(done->stops[kStopStackLost] == 0);
    done->Clear();
    spare_ = std::move(done);
  }
  int64_t slice_ns = 0;
  int64_t end_ns = 0;
  uint64_t samples = 0;

 private:
  std::unique_ptr<Slice> spare_ = std::make_unique<Slice>();
};

}  // namespace

int Main(uint32_t slices, uint32_t stacks) {
  SampleStream::Shape shape;
  shape.stacks = stacks;
  SampleStream stream(shape);
  FakeClock clock(kStartNs, 0);
  ModuleRegistry modules;
  ProcessTable processes(modules, ProcFs("/nonexistent"), clock);
  CgroupTree cgroups("/nonexistent");
  for (uint32_t i = 0; i < shape.containers; ++i) {
    cgroups.Add(SampleStream::kFirstCgroup + i, SampleStream::PathOf(i));
  }
  Peers peers;
  Reader reader;
  firetower::testing::FakeUnwindMemory memory;
  firetower::testing::NoTables tables;
  Unwinder unwinder(memory, processes, modules, tables, clock, {});
  Resolver resolver(modules, processes, cgroups, unwinder, peers, clock, {});
  Round rounds[2];
  stream.AddProcesses(rounds[0], kStartNs - 1);
  resolver.Process(rounds[0]);
  reader.slice_ns = stream.turn_ns();
  reader.end_ns = kStartNs + stream.turn_ns();
  resolver.SetSliceEnd(reader.end_ns);
  RoundBuilder ring;
  for (uint32_t slice = 0; slice < slices; ++slice) {
    for (uint32_t i = 0; i < shape.rounds; ++i) {
      Round& round = rounds[i % 2];
      round.Clear();
      stream.Play(i, kStartNs + slice * stream.turn_ns(), 1 + slice / kSlicesAWindow,
                  slice % kSlicesAWindow == 0, ring, round);
      while (resolver.Process(round)) resolver.SetSliceEnd(reader.EndSlice(resolver.builder()));
    }
  }
  reader.Count(resolver.builder());
  CHECK(reader.samples == slices * stream.samples_a_turn());
  fmt::print("samples {}\n", reader.samples);
  return 0;
}

}  // namespace firetower::daemon

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  auto number = [&](int i) { return static_cast<uint32_t>(std::strtoul(argv[i], nullptr, 10)); };
  return firetower::daemon::Main(number(1), number(2));
}
