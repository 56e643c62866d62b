// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/dwarf/unit_cache.h"

namespace firetower::symbolizer::dwarf {

namespace {
constexpr size_t kEntryOverheadBytes = 176;  // list and tree node, the table's own block
}

uint64_t UnitCache::NewFile() {
  std::lock_guard lock(mutex_);
  ++files_;
  return next_file_++;
}

std::shared_ptr<const UnitTable> UnitCache::Find(uint64_t file, size_t unit) {
  std::lock_guard lock(mutex_);
  auto found = index_.find({file, unit});
  if (found == index_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->table;
}

bool UnitCache::Has(uint64_t file, size_t unit) const {
  std::lock_guard lock(mutex_);
  return index_.contains({file, unit});
}

void UnitCache::Insert(uint64_t file, size_t unit, std::shared_ptr<const UnitTable> table) {
  std::lock_guard lock(mutex_);
  const Key key{file, unit};
  if (auto old = index_.find(key); old != index_.end()) Remove(old->second);
  const size_t cost = table->bytes() + kEntryOverheadBytes;
  entries_.push_front({key, std::move(table), cost});
  index_.emplace(key, entries_.begin());
  bytes_ += cost;
  // The entry that was just read stays, because its reader will need it next.
  while (bytes_ > budget_bytes_ && entries_.size() > 1) Remove(std::prev(entries_.end()));
}

void UnitCache::Forget(uint64_t file) {
  std::lock_guard lock(mutex_);
  --files_;
  for (auto entry = index_.lower_bound({file, 0});
       entry != index_.end() && entry->first.first == file;) {
    auto gone = entry++;
    Remove(gone->second);
  }
}

void UnitCache::Remove(std::list<Entry>::iterator entry) {
  bytes_ -= entry->cost_bytes;
  index_.erase(entry->key);
  entries_.erase(entry);
}

size_t UnitCache::bytes() const {
  std::lock_guard lock(mutex_);
  return bytes_;
}

size_t UnitCache::files() const {
  std::lock_guard lock(mutex_);
  return files_;
}

}  // namespace firetower::symbolizer::dwarf
