// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/check.h"
#include "daemon/unwind/native_walk.h"

namespace firetower::daemon {
namespace {

// The input's layout: numbers as they come, then the arena, then the stack. Each piece is a heap
// block of exactly its size, so that a read beside it is seen.
struct Head {
  uint64_t ip;
  uint64_t sp;
  uint64_t bp;
  uint64_t registers[15];
  uint64_t stack_begin;
  uint32_t mappings;
  uint32_t mapping_count;
  uint16_t arena_bytes;
  uint16_t module_count;
  uint8_t returned;
  uint8_t guessed;
  uint8_t register_count;
  uint8_t pad;
};

constexpr size_t kMaxFrames = 3840;
constexpr size_t kMaxModules = 64;

template <typename T>
std::unique_ptr<T[]> Copy(std::span<const uint8_t> bytes, size_t count) {
  auto copy = std::make_unique<T[]>(count);
  if (!bytes.empty()) std::memcpy(copy.get(), bytes.data(), bytes.size());
  return copy;
}

std::span<const uint8_t> Take(std::span<const uint8_t>& rest, size_t size) {
  std::span<const uint8_t> taken = rest.first(std::min(size, rest.size()));
  rest = rest.subspan(taken.size());
  return taken;
}

void Walk(std::span<const uint8_t> input) {
  Head head{};
  if (input.size() < sizeof(head)) return;
  std::memcpy(&head, input.data(), sizeof(head));
  std::span<const uint8_t> rest = input.subspan(sizeof(head));
  // Slots beyond those that the input fills are cold, as slots never used are.
  static std::vector<ft_module> modules(FT_MAX_MODULES);
  auto slots = Take(rest, sizeof(ft_module) * (head.module_count % (kMaxModules + 1)));
  std::fill_n(modules.begin(), kMaxModules, ft_module{});
  if (!slots.empty()) std::memcpy(modules.data(), slots.data(), slots.size());
  auto arena_bytes = Take(rest, head.arena_bytes);
  // In words: rows and rules are aligned in the arena.
  auto arena = Copy<uint64_t>(arena_bytes, arena_bytes.size() / 8 + 1);
  auto stack = Copy<uint8_t>(rest, rest.size());

  WalkMemory memory;
  memory.arena = reinterpret_cast<const std::byte*>(arena.get());
  memory.arena_bytes = arena_bytes.size() / 8 * 8;
  memory.modules = modules.data();
  memory.stack_begin = head.stack_begin;
  memory.stack = std::as_bytes(std::span(stack.get(), rest.size()));
  memory.registers = std::span(head.registers).first(std::min<size_t>(head.register_count, 15));
  ft_walk walk{};
  walk.ip = head.ip;
  walk.sp = head.sp;
  walk.bp = head.bp;
  walk.mappings = head.mappings;
  walk.mapping_count = head.mapping_count;
  walk.returned = head.returned & 1;
  walk.guessed = head.guessed & 1;
  std::vector<uint64_t> addresses;
  int step = WalkOn(memory, walk, kMaxFrames, addresses);
  CHECK(addresses.size() <= kMaxFrames);
  CHECK(step == FT_STEP_ENDED || step == FT_STEP_COLD);
  if (step == FT_STEP_ENDED) CHECK(walk.stop < FT_STOP_COUNT);
  // A reader may subtract one to find the call, and is then still in user space.
  for (uint64_t address : addresses)
    CHECK(ft_is_user_address(address) || address == FT_USER_END + 1);
}

}  // namespace
}  // namespace firetower::daemon

// Any registers, stack, list of mappings and tables: the walk reads nothing beside them and ends.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  firetower::daemon::Walk({data, size});
  return 0;
}
