// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "daemon/capture/bpf_sampler.h"

namespace firetower::testing {

// Loads the sampler for the v2 hierarchy of this machine, with a ring that no test here fills.
inline Result<std::unique_ptr<daemon::BpfSampler>> LoadSampler() {
  ASSIGN_OR_RETURN(const std::string mounts, ReadFile("/proc/self/mountinfo"));
  ASSIGN_OR_RETURN(const std::string own, ReadFile("/proc/self/cgroup"));
  daemon::SamplerOptions options;
  ASSIGN_OR_RETURN(options.hierarchy, daemon::ChooseHierarchy("v2", mounts, own, "/sys/fs/cgroup"));
  options.ring_bytes = 16u << 20;
  return daemon::BpfSampler::Load(options);
}

}  // namespace firetower::testing
