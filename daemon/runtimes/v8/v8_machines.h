// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "daemon/runtimes/v8/v8_names.h"

namespace firetower::daemon {

// The processes that run V8 among the sampled ones: what the walk needs of each, and the names of
// their functions. Owned by the resolve thread; it reads the processes' memory there.
class V8Machines {
 public:
  // The most processes that are kept; further ones' functions have no names.
  static constexpr size_t kMax = 1024;
  using Open = std::function<std::unique_ptr<RemoteMemory>(uint32_t pid)>;

  explicit V8Machines(Open open = OpenProcessMemory) : open_(std::move(open)) {}

  // Notes that a module has V8, and forgets it when its id is another file's.
  void AddLibrary(uint32_t module, const V8Build& build) { libraries_[module] = build; }
  void ForgetLibrary(uint32_t module) { libraries_.erase(module); }
  bool has_libraries() const { return !libraries_.empty(); }
  // Returns null if the module has no V8.
  const V8Build* BuildOf(uint32_t module) const;

  // Keeps the image `identity` of a process that maps a library. Returns false if there is no room.
  bool Meet(uint32_t pid, uint32_t identity, uint32_t library, const ft_v8& walk);
  // Returns what the walk needs of a process; null unless it was met.
  const ft_v8* Find(uint32_t pid, uint32_t identity) const;
  template <typename IsGone>
  void ForgetIf(IsGone is_gone) {
    std::erase_if(machines_, [&](const auto& machine) { return is_gone(machine.first); });
  }

  // Returns the functions of a frame as V8Names::Find does; nothing where the process was not met.
  std::vector<RuntimePlace> Name(uint32_t pid, uint32_t identity, const V8Frame& frame);
  std::unique_ptr<RemoteMemory> OpenMemory(uint32_t pid) const { return open_(pid); }

 private:
  struct Machine {
    uint32_t identity = 0;
    ft_v8 walk{};
    std::unique_ptr<V8Names> names;
    std::unique_ptr<RemoteMemory> memory;
  };

  Open open_;
  std::unordered_map<uint32_t, V8Build> libraries_;  // by module
  std::unordered_map<uint32_t, Machine> machines_;   // by pid
};

}  // namespace firetower::daemon
