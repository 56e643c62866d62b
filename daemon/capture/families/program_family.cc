// SPDX-License-Identifier: Apache-2.0
#include "daemon/capture/families/program_family.h"

#include <bpf/libbpf.h>

#include "daemon/capture/map_array.h"

namespace firetower::daemon {

void LinkDeleter::operator()(bpf_link* link) const { bpf_link__destroy(link); }

Status ShareWithFamily(const BpfSampler& sampler, bpf_object* object, bpf_map* cpus) {
  bpf_map__set_max_entries(cpus, static_cast<uint32_t>(sampler.cpu_count()));
  return sampler.ShareMaps(object);
}

Result<void*> MapValues(const bpf_map* map, size_t bytes, const std::string& what) {
  std::byte* values = nullptr;
  RETURN_IF_ERROR(MapArray(bpf_map__fd(map), bytes, what.c_str(), values));
  return static_cast<void*>(values);
}

uint64_t MapMemory(std::initializer_list<const bpf_map*> maps) {
  uint64_t bytes = 0;
  for (const bpf_map* map : maps) bytes += MapMemory(bpf_map__fd(map));
  return bytes;
}

}  // namespace firetower::daemon
