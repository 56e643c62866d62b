// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>

#include "base/check.h"
#include "k8s/cgroup_path.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string path(reinterpret_cast<const char*>(data), size);
  const firetower::k8s::ContainerPath parsed = firetower::k8s::ParseCgroupPath(path);
  CHECK(parsed.root_depth <= size);
  CHECK((parsed.kind == firetower::k8s::PathKind::kContainer) == !parsed.container_id.empty());
  CHECK((parsed.kind == firetower::k8s::PathKind::kHostUnit) == !parsed.unit.empty());
  CHECK(!firetower::k8s::LabelsOf(parsed).container.empty());
  return 0;
}
