// SPDX-License-Identifier: Apache-2.0
// The kernel side as its users see it: remembers what it was told, answers what it is given.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "daemon/capture/bpf_sampler.h"
#include "tests/support/fake_unwind_memory.h"

namespace firetower::testing {

class FakeSampler : public daemon::BpfSampler {
 public:
  Status AttachCgroups() override { return OkStatus(); }
  Status AttachCpu(int) override { return OkStatus(); }
  void DetachCpu(int) override {}
  Status SetFrequency(uint32_t frequency_hz) override {
    if (refuse_frequency) return Error(ErrorCode::kPermission, "no");
    frequencies.push_back(frequency_hz);
    return OkStatus();
  }
  int ring_fd() const override { return -1; }
  void Drain(Sink&) override {}
  void SetEpoch(uint32_t epoch) override { epochs.push_back(epoch); }
  void SetFallback(const ft_verdicts& verdicts_of) override { fallback = verdicts_of; }
  Status SetVerdicts(uint64_t cgroup_id, const ft_verdicts& verdicts_of) override {
    verdicts[cgroup_id] = verdicts_of;
    return OkStatus();
  }
  Status ChangeVerdicts(uint64_t cgroup_id, const ft_verdicts& verdicts_of) override {
    if (verdicts.count(cgroup_id) == 0) return Error(ErrorCode::kNotFound, "gone");
    return SetVerdicts(cgroup_id, verdicts_of);
  }
  void RemoveVerdicts(uint64_t cgroup_id) override { verdicts.erase(cgroup_id); }
  void SetTasksVersion(uint32_t version) override { tasks_version = version; }
  void SetTask(const ft_task& verdict) override { tasks[verdict.tid] = verdict; }
  void ForgetTask(uint32_t tid) override { tasks.erase(tid); }
  void SetCpuSet(uint32_t index, const ft_cpu_set& cpus) override { cpu_sets[index] = cpus; }
  daemon::UnwindMemory& unwind_memory() override { return unwind; }
  ft_counters Counters() const override { return counters; }
  Counted CountedTime() const override { return counted; }
  ft_load_config load_config() const override { return {}; }
  size_t cpu_count() const override { return 1; }
  int SharedMap(std::string_view) const override { return -1; }
  uint64_t MapBytes() const override { return map_bytes; }
  uint32_t VerifiedInstructions() const override { return 0; }

  FakeUnwindMemory unwind;
  bool refuse_frequency = false;
  std::vector<uint32_t> frequencies;
  std::vector<uint32_t> epochs;
  std::map<uint64_t, ft_verdicts> verdicts;
  ft_verdicts fallback{};
  uint32_t tasks_version = 0;
  std::map<uint32_t, ft_task> tasks;
  std::map<uint32_t, ft_cpu_set> cpu_sets;
  ft_counters counters{};
  Counted counted;
  uint64_t map_bytes = 0;
};

}  // namespace firetower::testing
