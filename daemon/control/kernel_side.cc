// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/kernel_side.h"

#include <utility>

#include "base/file.h"
#include "base/log.h"
#include "daemon/control/agent_options.h"
#include "daemon/health/capabilities.h"
#include "daemon/health/host_checks.h"

namespace firetower::daemon {

Result<KernelSide> KernelSide::Load(const Config& config) {
  KernelSide side;
  ASSIGN_OR_RETURN(side.mounts, ReadFile(config.proc_root + "/self/mountinfo"));
  ASSIGN_OR_RETURN(std::string self, ReadFile(config.proc_root + "/self/cgroup"));
  ASSIGN_OR_RETURN(side.hierarchy, ChooseHierarchy(WantedHierarchy(config.cgroup_hierarchy),
                                                   side.mounts, self, config.cgroup_root));
  side.identity = ReadKernelIdentity(config.proc_root);
  side.user_reads = UserReadsAllowed(side.identity);
  if (!side.user_reads) {
    LOG(kWarn, "user stacks are off: BPF reads of user memory can freeze this kernel",
        {{"kernel", side.identity.release}});
  }
  SamplerOptions options;
  options.hierarchy = side.hierarchy;
  options.user_reads = side.user_reads;
  options.ring_bytes = SampleRingBytes(config.sample_ring_bytes);
  options.frequency_hz = static_cast<uint32_t>(config.default_frequency_hertz);
  Result<std::unique_ptr<BpfSampler>> sampler = BpfSampler::Load(options);
  if (!sampler) return CapabilityError(sampler.error(), PrivilegedCall::kBpf);
  side.sampler = *std::move(sampler);
  return side;
}

void KernelSide::Show(const std::string& proc_root, MetricsRegistry& registry) const {
  registry.SetInfo(MetricId::kBuildInfo, {FIRETOWER_VERSION});
  registry.SetInfo(MetricId::kFeatureInfo,
                   {identity.release, hierarchy.mode + "/" + hierarchy.Name(),
                    user_reads ? "unwind-tables" : "kernel-only"});
  registry.Set(MetricId::kUserReadsRefused, user_reads ? 0 : 1);
  const bool sees_processes = PidNamespaceCheck(proc_root).status == CheckStatus::kOk;
  registry.Set(MetricId::kHostPidsHidden, sees_processes ? 0 : 1);
}

}  // namespace firetower::daemon
