// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "daemon/runtimes/hotspot/java_names.h"

namespace firetower::daemon {

// The Java virtual machines among the sampled processes: what the walk needs of each, and the names
// of their frames. A machine is looked at while it starts, until its code cache is there. Owned by
// the resolve thread; it reads the processes' memory there.
class JavaMachines {
 public:
  // The most processes that are kept; further ones' frames have no names.
  static constexpr size_t kMax = 1024;
  using Open = std::function<std::unique_ptr<RemoteMemory>(uint32_t pid)>;

  explicit JavaMachines(Open open = OpenProcessMemory) : open_(std::move(open)) {}

  // Notes that a module is a libjvm, and forgets it when its id is another file's.
  void AddLibrary(uint32_t module, const HotSpotSymbols& symbols) { libraries_[module] = symbols; }
  void ForgetLibrary(uint32_t module) { libraries_.erase(module); }
  bool has_libraries() const { return !libraries_.empty(); }
  bool IsLibrary(uint32_t module) const { return libraries_.contains(module); }

  enum class State : uint8_t { kReady, kLater, kUnsupported };
  // Looks at the image `identity` of a process that maps a library with that bias.
  State Look(uint32_t pid, uint32_t identity, uint32_t library, uint64_t bias);
  // Returns what a machine is: "HotSpot 21"; "HotSpot" where its version is not known.
  std::string VersionOf(uint32_t pid) const;
  // Returns why a machine is not supported, for people; empty if it is, or is not known.
  std::string_view WhyNot(uint32_t pid) const;
  // Returns what the walk needs of a process; null unless it is ready.
  const ft_hotspot* Find(uint32_t pid, uint32_t identity) const;
  template <typename IsGone>
  void ForgetIf(IsGone is_gone) {
    std::erase_if(machines_, [&](const auto& machine) { return is_gone(machine.first); });
  }

  // Returns the functions of a frame as JavaNames::Find does; empty where the machine is not known.
  const std::vector<RuntimePlace>& Name(uint32_t pid, uint32_t identity, uint64_t word,
                                        uint64_t where);
  std::unique_ptr<RemoteMemory> OpenMemory(uint32_t pid) const { return open_(pid); }

 private:
  struct Machine {
    uint32_t identity = 0;
    std::optional<VmLayout> layout;
    std::unique_ptr<JavaNames> names;  // once it is ready
    std::unique_ptr<RemoteMemory> memory;
    std::string why_not;  // it is not supported
  };

  Open open_;
  std::unordered_map<uint32_t, HotSpotSymbols> libraries_;  // by module
  std::unordered_map<uint32_t, Machine> machines_;          // by pid
  std::vector<RuntimePlace> none_;
};

}  // namespace firetower::daemon
