// SPDX-License-Identifier: Apache-2.0
// A resolver with fakes for all its neighbours: an empty /proc, a cgroup tree in a scratch folder,
// a fixed clock, and peers that record their calls.
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/pipeline/resolver.h"
#include "tests/support/fake_proc.h"
#include "tests/support/fake_unwind_memory.h"
#include "tests/support/rounds.h"

namespace firetower::daemon {

inline const std::string kPodUid = "12345678-1234-1234-1234-123456789abc";
inline const std::string kPodPath = "/kubepods/burstable/pod" + kPodUid;
inline const std::string kAppPath = kPodPath + "/" + std::string(64, 'a');
inline const std::string kSidecarPath = kPodPath + "/" + std::string(64, 'b');
inline const std::string kCronPath = "/system.slice/cron.service";

class FakePeers : public ResolverPeers {
 public:
  struct Gate {
    Decision decision;  // on CPU time
    Decision waits;
    bool is_container = false;
    bool told = false;
  };

  void WantSymbols(const std::shared_ptr<const Module>& module, const Process& process,
                   const ProcessMapping& mapping) override {
    wanted.push_back({module->path, process.pid, mapping.start});
    module->symbols = Module::kAsked;
  }
  void SetGate(uint64_t cgroup_id, const Decisions& decisions, bool is_container,
               bool told) override {
    gates[cgroup_id] = {decisions[FT_TYPE_CPU], decisions[FT_TYPE_OFFCPU], is_container, told};
  }
  void OnOomKill(const std::shared_ptr<const Container>& container, int64_t time_ns) override {
    oom_kills.emplace_back(container->root_path, time_ns);
  }
  void RemoveGate(uint64_t cgroup_id) override {
    gates.erase(cgroup_id);
    ungated.push_back(cgroup_id);
  }
  void SetTasksVersion(uint32_t version) override { tasks_version = version; }
  void SetTask(const ft_task& verdict) override { tasks[verdict.tid] = verdict; }
  void ForgetTask(uint32_t tid) override { tasks.erase(tid); }
  uint64_t UnreportedCgroups() override { return untold; }

  struct Wanted {
    std::string path;
    uint32_t pid = 0;
    uint64_t start = 0;
    bool operator==(const Wanted&) const = default;
  };
  std::vector<Wanted> wanted;
  std::map<uint64_t, Gate> gates;
  std::vector<uint64_t> ungated;
  std::vector<std::pair<std::string, int64_t>> oom_kills;
  uint32_t tasks_version = 0;
  std::map<uint32_t, ft_task> tasks;
  uint64_t untold = 0;
  std::vector<std::unique_ptr<Slice>> slices;
  int64_t next_end_ns = std::numeric_limits<int64_t>::max();
};

// Remembers which tables were asked for.
class FakeTables : public TableRequests {
 public:
  bool WantTable(uint32_t module_id, const std::shared_ptr<const Module>&, const Process&,
                 const ProcessMapping&) override {
    wanted.push_back(module_id);
    return true;
  }
  std::vector<uint32_t> wanted;
};

// Answers by the container's label; the rest is not sampled.
class LabelSelection : public Selection {
 public:
  explicit LabelSelection(std::map<std::string, Decision> by_label,
                          std::map<std::string, Decision> waits_by_label = {})
      : by_label_(std::move(by_label)), waits_by_label_(std::move(waits_by_label)) {}
  uint32_t frequency_hz() const override { return 97; }
  bool everything() const override { return false; }
  bool filters() const override { return true; }

 private:
  Decision DecideOn(const Container& container, Type type) const override {
    const auto& by_label = type == FT_TYPE_CPU ? by_label_ : waits_by_label_;
    auto found = by_label.find(container.labels.container);
    return found == by_label.end() ? Decision{} : found->second;
  }

  std::map<std::string, Decision> by_label_, waits_by_label_;
};

inline Decision Sampled(StackParts parts = StackParts::kUserAndKernel) {
  Decision decision;
  decision.sampled = true;
  decision.frequency_hz = 97;
  decision.stacks = parts;
  return decision;
}

class ResolverTest : public ::testing::Test {
 protected:
  static constexpr int64_t kStartNs = 1000 * kNsPerSecond;
  static constexpr uint64_t kApp = 11, kSidecar = 12, kCron = 13, kRoot = 1;

  ResolverTest() {
    resolver_.SetSliceEnd(std::numeric_limits<int64_t>::max());
    cgroups_.Add(kRoot, "/");
    cgroups_.Add(kApp, kAppPath);
    cgroups_.Add(kSidecar, kSidecarPath);
    cgroups_.Add(kCron, kCronPath);
  }

  // Hands on what round_ holds.
  void Process() {
    while (resolver_.Process(round_)) {
      peers_.slices.push_back(resolver_.builder().Take(nullptr));
      resolver_.SetSliceEnd(peers_.next_end_ns);
    }
    round_.Clear();
  }
  void Sample(uint64_t hash, uint64_t cgroup_id, uint32_t pid, uint64_t value = 10) {
    round_.samples.push_back(testing::SampleOf(kStartNs, hash, cgroup_id, pid, value));
  }
  // A process with code of /bin/app at [0x10000, 0x20000), file offset 0x3000.
  void Start(uint32_t pid) {
    testing::AddTask(round_, kStartNs - 20, SidebandKind::kFork, pid, 1);
    testing::AddMap(round_, kStartNs - 19, {pid, 0x10000, 0x10000, 0x3000, "/bin/app"});
  }
  const Slice& slice() { return resolver_.builder().slice(); }
  // Label of the container of each row, in order.
  std::vector<std::string> RowContainers() {
    std::vector<std::string> labels;
    for (const Slice::Row& row : slice().rows) {
      labels.push_back(slice().containers[row.container].container->labels.container);
    }
    return labels;
  }
  std::vector<Frame> FramesOfRow(size_t row) {
    const Slice::Stack& stack = slice().stacks[slice().rows.at(row).stack];
    return {slice().frames.begin() + stack.begin,
            slice().frames.begin() + stack.begin + stack.size};
  }
  uint8_t StopOfRow(size_t row) { return slice().stacks[slice().rows.at(row).stack].stop; }
  std::string PathOf(const Frame& frame) { return modules_.Get(frame.module)->path; }
  void Select(std::map<std::string, Decision> by_label) {
    resolver_.SetSelection(std::make_shared<LabelSelection>(std::move(by_label)));
  }

  testing::FakeProc proc_;
  testing::ScratchFolder mount_;
  FakeClock clock_{kStartNs, 1'700'000'000 * kNsPerSecond};
  ModuleRegistry modules_;
  ProcessTable processes_{modules_, ProcFs(proc_.root()), clock_};
  CgroupTree cgroups_{mount_.path()};
  FakePeers peers_;
  testing::FakeUnwindMemory unwind_memory_;
  FakeTables tables_;
  Unwinder unwinder_{unwind_memory_, processes_, modules_, tables_, clock_, {}};
  Resolver resolver_{modules_, processes_, cgroups_, unwinder_, peers_, clock_, {}};
  Round round_;

  // The labels the paths above must get (docs/architecture.md, Faces).
  const std::string app_label_ = std::string(12, 'a');
  const std::string sidecar_label_ = std::string(12, 'b');
};

}  // namespace firetower::daemon
