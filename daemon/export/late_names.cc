// SPDX-License-Identifier: Apache-2.0
#include "daemon/export/late_names.h"

#include <algorithm>
#include <map>
#include <utility>

namespace firetower::daemon {
namespace {

std::unique_lock<std::mutex> Lock(std::mutex* mutex) {
  return mutex != nullptr ? std::unique_lock(*mutex) : std::unique_lock<std::mutex>();
}

// Returns the modules sorted by their number of unnamed frames, most first.
std::vector<uint32_t> LateModules(const std::vector<ContainerProfile*>& profiles) {
  std::map<uint32_t, size_t> frames;
  for (const ContainerProfile* profile : profiles) profile->CountLate(frames);
  std::vector<uint32_t> modules;
  for (const auto& [module, count] : frames) modules.push_back(module);
  std::ranges::stable_sort(modules, [&](uint32_t a, uint32_t b) { return frames[a] > frames[b]; });
  return modules;
}

}  // namespace

void NameLate(FrameNamer& namer, const std::vector<ContainerProfile*>& profiles,
              int64_t deadline_ns, std::mutex* mutex) {
  const Clock& clock = Clock::System();
  {
    const auto lock = Lock(mutex);
    for (ContainerProfile* profile : profiles) profile->LookAgain();
  }
  for (uint32_t module : LateModules(profiles)) {
    const int64_t left_ms = (deadline_ns - clock.MonotonicNs()) / kNsPerMs;
    if (left_ms <= 0) return;
    if (!namer.ReadAgain(module, static_cast<int>(left_ms))) continue;
    const auto lock = Lock(mutex);
    for (ContainerProfile* profile : profiles) profile->LookAgain(module);
  }
}

}  // namespace firetower::daemon
