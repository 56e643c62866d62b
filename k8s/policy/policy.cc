// SPDX-License-Identifier: Apache-2.0
#include "k8s/policy/policy.h"

#include <algorithm>

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

std::optional<int64_t> MinBlockMicroseconds(const PolicySpec& spec, ProfileType type) {
  const std::optional<ProfileSpec> waits = FindProfile(spec, type);
  if (!waits) return std::nullopt;
  return waits->min_block_microseconds.value_or(kDefaultMinBlockMicroseconds);
}

std::optional<int64_t> SampleBytes(const PolicySpec& spec) {
  const std::optional<ProfileSpec> memory = FindProfile(spec, ProfileType::kMemory);
  if (!memory) return std::nullopt;
  return memory->sample_bytes.value_or(kDefaultSampleBytes);
}

bool SamplesInUse(const PolicySpec& spec) {
  const std::optional<ProfileSpec> memory = FindProfile(spec, ProfileType::kMemory);
  return memory && memory->in_use;
}

bool IsTracepoint(std::string_view event) {
  const size_t colon = event.rfind(':');
  if (colon == std::string_view::npos) return false;
  // perf's modifiers: user space, the kernel.
  const std::string_view behind = event.substr(colon + 1);
  const bool modifiers = behind == "u" || behind == "k" || behind == "uk" || behind == "ku";
  return !modifiers || event.find(':') != colon;
}

std::vector<EventSpec> EventsOf(const ProfilingPolicy& policy) {
  const PolicySpec& spec = policy.spec;
  std::vector<EventSpec> events;
  if (const std::optional<ProfileSpec> profile = FindProfile(spec, ProfileType::kEvent))
    events = profile->events;
  if (!policy.cluster)
    std::erase_if(events, [](const EventSpec& event) { return IsTracepoint(event.name); });
  const auto is_faults = [](const EventSpec& event) { return event.name == kPageFaults; };
  if (FindProfile(spec, ProfileType::kMemory) && std::ranges::none_of(events, is_faults)) {
    events.push_back({.name = std::string(kPageFaults),
                      .period = {},
                      .frequency_hertz = kDefaultFrequencyHertz});
  }
  return events;
}

}  // namespace firetower::k8s
