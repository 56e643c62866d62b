// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind/native_walk.h"

#include <cstring>
#include <utility>

#include "bpf/abi/runtime.h"

namespace firetower::daemon {
namespace {

struct Env : WalkMemory {
  ft_cached_rule cached{};
};

const WalkMemory& Memory(const void* env) { return *static_cast<const Env*>(env); }

// The largest thing read at once is a mapping or a rule; each is aligned to its size.
void* ArenaAt(const void* env, uint32_t position, uint32_t align) {
  const WalkMemory& memory = Memory(env);
  uint64_t at = position & ~uint64_t{align - 1};
  if (at + align > memory.arena_bytes) return nullptr;
  // The walk does not write; the kernel side's maps have no const.
  return const_cast<std::byte*>(memory.arena + at);
}

ft_module* ModuleAt(const void* env, uint32_t slot) {
  return slot < FT_MAX_MODULES ? const_cast<ft_module*>(Memory(env).modules + slot) : nullptr;
}

bool IsAbsent(const WalkMemory& memory, uint64_t address) {
  constexpr uint64_t kPageBytes = 4096;
  const uint64_t page = address / kPageBytes - memory.stack_begin / kPageBytes;
  return page < memory.absent.size() && memory.absent[page] != 0;
}

int ReadStack(const void* env, void* to, uint64_t size, uint64_t address) {
  const WalkMemory& memory = Memory(env);
  uint64_t at = address - memory.stack_begin;  // wraps to a large number below it
  if (at >= memory.stack.size() || memory.stack.size() - at < size) return -1;
  if (IsAbsent(memory, address) || IsAbsent(memory, address + size - 1)) return -1;
  std::memcpy(to, memory.stack.data() + at, size);
  return 0;
}

int ReadFar(const void* env, void* to, uint64_t size, uint64_t address) {
  const std::span<std::byte> bytes(static_cast<std::byte*>(to), size);
  return Memory(env).far->Read(address, bytes) ? 0 : -1;
}

int RegisterAt(const void* env, uint32_t number, void* to) {
  uint64_t slot = FT_REGISTER_SLOT(number);
  if (number == 7 || number > 15 || slot >= Memory(env).registers.size()) return -1;
  std::memcpy(to, &Memory(env).registers[slot], sizeof(uint64_t));
  return 0;
}

}  // namespace
}  // namespace firetower::daemon

#define FT_SLAB(env, number) (const_cast<void*>(env))  // one range
#define FT_IN_SLAB(env, slab, position, align) ::firetower::daemon::ArenaAt(env, position, align)
#define FT_MODULE(env, slot) ::firetower::daemon::ModuleAt(env, slot)
#define FT_READ_USER(env, to, size, address) ::firetower::daemon::ReadStack(env, to, size, address)
#define FT_REGISTER(env, number, to) ::firetower::daemon::RegisterAt(env, number, to)

#define FT_READ_FRAME(env, to, size, address) ::firetower::daemon::ReadStack(env, to, size, address)
#define FT_READ_FAR(env, to, size, address) ::firetower::daemon::ReadFar(env, to, size, address)
#define FT_STACK_START(env) (::firetower::daemon::Memory(env).stack_start)
#define FT_CACHED_RULE(env, index) \
  (static_cast<void>(index), &static_cast<::firetower::daemon::Env*>(env)->cached)

// The kernel side's integer conversions are its own.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include "bpf/walk/hotspot/step.h"
#include "bpf/walk/php/compiled.h"
#include "bpf/walk/unwind.h"
#include "bpf/walk/v8/step.h"
#pragma GCC diagnostic pop

namespace firetower::daemon {

namespace {

// The machine of a process, whose frames are on its native stack.
struct Machine {
  hotspot_walk java{};
  v8_walk script{};
};

void BeginMachine(const Env& env, ft_walk& walk, Machine& machine) {
  if (env.hotspot != nullptr) {
    machine.java.vm = *env.hotspot;
    ft_set_machine(&walk, &machine.java.vm.at);
  } else if (env.v8 != nullptr) {
    machine.script.vm = *env.v8;
    ft_set_machine(&walk, &machine.script.vm.at);
  } else if (env.php != nullptr) {
    ft_set_machine(&walk, env.php);
  }
}

// Steps over a frame of a machine's, whose address is the last one, and appends its caller's.
int StepOverMachine(Env& env, ft_walk& walk, Machine& machine, std::vector<uint64_t>& addresses) {
  if (walk.machine_kind == FT_MACHINE_PHP) {
    const uint64_t loop = ft_php_loop_instead(&walk);
    if (!addresses.empty()) addresses.back() = loop;
    return FT_STEP_CALLER;
  }
  const bool java = walk.machine_kind == FT_MACHINE_HOTSPOT;
  const int step =
      java ? ft_hotspot_step(&env, &walk, &machine.java) : ft_v8_step(&env, &walk, &machine.script);
  const uint64_t word = java ? machine.java.word : machine.script.word;
  if (word != 0) {
    if (!addresses.empty()) addresses.pop_back();
    addresses.push_back(word);
    addresses.push_back(java ? machine.java.where : machine.script.where);
    if (!java && machine.script.code != 0) {
      addresses.push_back(machine.script.code);
      addresses.push_back(machine.script.feedback);
    }
  }
  if (step == FT_STEP_CALLER) addresses.push_back(walk.ip);
  return step;
}

}  // namespace

int WalkOn(const WalkMemory& memory, ft_walk& walk, size_t max_frames,
           std::vector<uint64_t>& addresses) {
  Env env{memory};
  const uint32_t first_returned = walk.returned;
  Machine machine;
  BeginMachine(env, walk, machine);
  for (size_t i = 0; i < max_frames; ++i) {
    // The leaf's registers are also its direct caller's, unless a signal interrupted that function.
    if (i > 0 && (i + first_returned > 1 || walk.returned == 0)) env.registers = {};
    if (ft_in_machine(&walk)) {
      if (const int step = StepOverMachine(env, walk, machine, addresses); step != FT_STEP_CALLER)
        return step;
      continue;
    }
    int step = ft_step(&env, &walk);
    if (step == FT_STEP_MACHINE) continue;
    if (std::exchange(walk.trampoline, 0) != 0 && !addresses.empty()) ++addresses.back();
    if (step != FT_STEP_CALLER) return step;
    if (env.entry != 0 && walk.sp > env.entry) {
      addresses.push_back(FT_WORD_JOIN);
      env.entry = 0;
    }
    addresses.push_back(walk.ip + (walk.returned != 0 ? 0 : 1));
  }
  walk.stop = FT_STOP_DEPTH;
  return FT_STEP_ENDED;
}

}  // namespace firetower::daemon
