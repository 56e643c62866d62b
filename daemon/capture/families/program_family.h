// SPDX-License-Identifier: Apache-2.0
// The parts that all families of programs have, those that load beside the sampler and the sampler
// itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>

#include "base/result.h"
#include "daemon/capture/bpf_log.h"
#include "daemon/capture/bpf_sampler.h"

struct bpf_link;
struct bpf_map;
struct bpf_object;

namespace firetower::daemon {

struct LinkDeleter {
  void operator()(bpf_link* link) const;
};
using Link = std::unique_ptr<bpf_link, LinkDeleter>;

// Gives an opened object the sampler's maps, and its array `cpus` an entry for each CPU.
Status ShareWithFamily(const BpfSampler& sampler, bpf_object* object, bpf_map* cpus);
// Returns the mapping of a loaded array map. The caller unmaps it.
Result<void*> MapValues(const bpf_map* map, size_t bytes, const std::string& what);

// Gives an opened object the sampler's configuration and maps, and its array `cpus` an entry for
// each CPU; loads it by `load`, and maps that array to `own`. The caller unmaps it.
template <typename Object, typename Cpu>
Status LoadFamily(const BpfSampler& sampler, const BpfLog& log, Object& object,
                  int (*load)(Object*), bpf_map* cpus, const char* what, Cpu*& own) {
  const ft_load_config config = sampler.load_config();
  std::memcpy(const_cast<ft_load_config*>(&object.rodata->load_config), &config, sizeof(config));
  RETURN_IF_ERROR(ShareWithFamily(sampler, object.obj, cpus));
  if (int error = load(&object)) return log.Failure("load " + std::string(what), -error);
  ASSIGN_OR_RETURN(void* values, MapValues(cpus, sizeof(Cpu) * sampler.cpu_count(),
                                           "map the counters of " + std::string(what)));
  own = static_cast<Cpu*>(values);
  return OkStatus();
}

// Returns the bytes of kernel memory that these maps take.
uint64_t MapMemory(std::initializer_list<const bpf_map*> maps);

}  // namespace firetower::daemon
