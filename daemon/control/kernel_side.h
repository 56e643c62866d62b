// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "daemon/capture/bpf_sampler.h"
#include "daemon/capture/hierarchy.h"
#include "daemon/config/config.h"
#include "daemon/health/kernel_version.h"
#include "daemon/metrics/metrics_registry.h"

namespace firetower::daemon {

// The loaded BPF programs, and the facts about this kernel that decided how they were loaded.
struct KernelSide {
  // Errors name a missing capability if that is the reason.
  static Result<KernelSide> Load(const Config& config);

  // Shows on /metrics what this kernel allows.
  void Show(const std::string& proc_root, MetricsRegistry& registry) const;

  std::string mounts;  // /proc/self/mountinfo as of the start
  ChosenHierarchy hierarchy;
  KernelIdentity identity;
  bool user_reads = true;
  std::unique_ptr<BpfSampler> sampler;
};

}  // namespace firetower::daemon
