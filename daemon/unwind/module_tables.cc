// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind/module_tables.h"

#include <algorithm>
#include <cstring>

namespace firetower::daemon {
namespace {

constexpr uint64_t AlignToLine(uint64_t bytes) {
  return (bytes + Arena::kUnitBytes - 1) / Arena::kUnitBytes * Arena::kUnitBytes;
}

// Writes the state last, so that a walk that sees it also sees the other fields.
void Publish(ft_module& slot, uint32_t state) {
  __atomic_store_n(&slot.state, state, __ATOMIC_RELEASE);
}

}  // namespace

ModuleTables::ModuleTables(UnwindMemory& memory, Arena& arena, uint64_t budget_bytes,
                           const Clock& clock)
    : memory_(memory), arena_(arena), clock_(clock), budget_bytes_(budget_bytes) {
  for (uint32_t module : {ModuleRegistry::kUnknown, ModuleRegistry::kKernel, ModuleRegistry::kJit,
                          ModuleRegistry::kVdso, ModuleRegistry::kPython, ModuleRegistry::kJava,
                          ModuleRegistry::kScript, ModuleRegistry::kPhp, ModuleRegistry::kRuby,
                          ModuleRegistry::kPerl}) {
    SetNone(module);
  }
}

ModuleTables::State& ModuleTables::StateOf(uint32_t module) {
  if (module >= states_.size()) states_.resize(module + 64, State::kWanted);
  return states_[module];
}

ModuleTables::State ModuleTables::Get(uint32_t module) const {
  if (module >= FT_MAX_MODULES) return State::kNone;
  return module < states_.size() ? states_[module] : State::kWanted;
}

void ModuleTables::SetNone(uint32_t module) {
  StateOf(module) = State::kNone;
  if (module < FT_MAX_MODULES) Publish(memory_.modules()[module], FT_MODULE_NO_TABLE);
}

bool ModuleTables::Insert(uint32_t module, const PackedTable& table) {
  uint64_t blocks_bytes = AlignToLine(table.blocks.size() * sizeof(uint32_t));
  uint64_t rows_bytes = AlignToLine(table.rows.size() * sizeof(uint32_t));
  uint64_t rules_bytes = table.rules.size() * sizeof(ft_rule);
  const uint64_t rules_room = AlignToLine(rules_bytes);
  const uint64_t bytes =
      blocks_bytes + rows_bytes + rules_room + (table.interpreter ? 2 * sizeof(ft_interpreter) : 0);
  if (module >= FT_MAX_MODULES || table.empty() || bytes > budget_bytes_ / kLargestShare) {
    if (!table.empty()) ++refused_;
    SetNone(module);
    return false;
  }
  Drop(module);
  while (bytes_ + bytes > budget_bytes_ && EvictOldest()) {
  }
  std::optional<uint32_t> position = arena_.Allocate(bytes);
  if (!position) {
    // Evicted memory becomes free after a grace period, so the module's next stack tries again.
    EvictOldest();
    StateOf(module) = State::kWanted;
    return false;
  }
  std::byte* to = arena_.At(*position);
  std::memcpy(to, table.blocks.data(), table.blocks.size() * sizeof(uint32_t));
  std::memcpy(to + blocks_bytes, table.rows.data(), table.rows.size() * sizeof(uint32_t));
  std::memcpy(to + blocks_bytes + rows_bytes, table.rules.data(), rules_bytes);
  // The walk reads it at a multiple of its size.
  constexpr uint64_t kAlign = sizeof(ft_interpreter) - 1;
  const auto runtime = static_cast<uint32_t>(
      (*position + blocks_bytes + rows_bytes + rules_room + kAlign) & ~kAlign);
  if (table.interpreter)
    std::memcpy(arena_.At(runtime), &*table.interpreter, sizeof(ft_interpreter));
  ft_module& slot = memory_.modules()[module];
  slot.runtime = table.interpreter ? runtime : 0;
  slot.blocks = *position;
  slot.rows = static_cast<uint32_t>(*position + blocks_bytes);
  slot.rules = static_cast<uint32_t>(*position + blocks_bytes + rows_bytes);
  slot.first_block = table.first_block;
  slot.block_count = static_cast<uint32_t>(table.blocks.size() - 1);
  if (++serial_ == 0) ++serial_;
  __atomic_store_n(&slot.serial, serial_, __ATOMIC_RELEASE);
  Publish(slot, FT_MODULE_TABLE);
  StateOf(module) = State::kTable;
  tables_[module] = {*position, static_cast<uint32_t>(bytes), clock_.MonotonicNs(), false};
  bytes_ += bytes;
  return true;
}

void ModuleTables::Touch(uint32_t module) {
  auto found = tables_.find(module);
  if (found != tables_.end()) found->second.used_ns = clock_.MonotonicNs();
}

void ModuleTables::Drop(uint32_t module) {
  auto found = tables_.find(module);
  if (found == tables_.end()) return;
  Publish(memory_.modules()[module], FT_MODULE_COLD);
  StateOf(module) = State::kWanted;
  arena_.Free(found->second.position, clock_.MonotonicNs());
  bytes_ -= found->second.bytes;
  tables_.erase(found);
}

bool ModuleTables::EvictOldest() {
  auto age = [](const auto& table) {
    // The vDSO is in no file to read it from again.
    return table.first == ModuleRegistry::kVdso ? INT64_MAX : table.second.used_ns;
  };
  auto oldest = std::min_element(tables_.begin(), tables_.end(),
                                 [&](const auto& a, const auto& b) { return age(a) < age(b); });
  if (oldest == tables_.end() || oldest->first == ModuleRegistry::kVdso) return false;
  ++evicted_;
  Drop(oldest->first);
  return true;
}

void ModuleTables::DropUnmapped(const std::vector<bool>& mapped) {
  std::vector<uint32_t> gone;
  for (auto& [module, table] : tables_) {
    if (module == ModuleRegistry::kVdso) continue;  // every process maps it
    bool unmapped = module >= mapped.size() || !mapped[module];
    if (unmapped && table.unmapped) gone.push_back(module);
    table.unmapped = unmapped;
  }
  for (uint32_t module : gone) Drop(module);
}

void ModuleTables::Forget(uint32_t module) {
  Drop(module);
  StateOf(module) = State::kWanted;
  if (module < FT_MAX_MODULES) Publish(memory_.modules()[module], FT_MODULE_COLD);
}

}  // namespace firetower::daemon
