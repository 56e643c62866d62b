// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/check.h"
#include "daemon/capture/cpu_list.h"
#include "daemon/capture/hierarchy.h"

// /proc/self/mountinfo, and behind an empty line /proc/self/cgroup: whatever is chosen was mounted.
// The same bytes as a list of CPUs: in order, none twice.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace daemon = firetower::daemon;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t gap = text.find("\n\n");
  const std::string_view mounts = text.substr(0, gap);
  const std::string_view own = gap == std::string_view::npos ? "" : text.substr(gap + 2);
  for (std::string_view wanted : {"auto", "v2", "v1:memory", "v1:cpuacct"}) {
    auto chosen = daemon::ChooseHierarchy(wanted, mounts, own, "/sys/fs/cgroup");
    if (!chosen) continue;
    CHECK(chosen->mount.starts_with("/sys/fs/cgroup"));
    CHECK(mounts.find(chosen->mount) != std::string_view::npos);
    CHECK(chosen->v2 == chosen->controller.empty());
    CHECK(wanted == "auto" || chosen->Name() == wanted);
  }
  if (auto cpus = daemon::ParseCpuList(text)) {
    CHECK(std::adjacent_find(cpus->begin(), cpus->end(), std::greater_equal<>()) == cpus->end());
    CHECK(cpus->empty() || (cpus->front() >= 0 && cpus->back() <= 8191));
  }
  return 0;
}
