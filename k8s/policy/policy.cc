// SPDX-License-Identifier: Apache-2.0
#include "k8s/policy/policy.h"

namespace firetower::k8s {

std::string DisplayName(const ProfilingPolicy& policy) {
  if (policy.cluster) return "ClusterProfilingPolicy " + policy.name;
  return "ProfilingPolicy " + policy.namespace_name + "/" + policy.name;
}

GeneralSpec EffectiveGeneral(const PolicySpec& spec) {
  return spec.general.value_or(GeneralSpec{});
}

bool CapturesNode(const PolicySpec& spec) {
  return spec.trigger && spec.trigger->capture.scope == CaptureScope::kNode;
}

std::optional<ProfileSpec> FindProfile(const PolicySpec& spec, ProfileType type) {
  if (spec.profiles.empty() && type == ProfileType::kCpu) return ProfileSpec{};
  for (const ProfileSpec& profile : spec.profiles) {
    if (profile.type == type) return profile;
  }
  return std::nullopt;
}

int64_t CpuFrequencyHertz(const PolicySpec& spec) {
  const std::optional<ProfileSpec> cpu = FindProfile(spec, ProfileType::kCpu);
  return cpu ? cpu->frequency_hertz.value_or(kDefaultFrequencyHertz) : 0;
}

std::optional<int64_t> MinBlockMicroseconds(const PolicySpec& spec) {
  const std::optional<ProfileSpec> waits = FindProfile(spec, ProfileType::kOffCpu);
  if (!waits) return std::nullopt;
  return waits->min_block_microseconds.value_or(kDefaultMinBlockMicroseconds);
}

}  // namespace firetower::k8s
