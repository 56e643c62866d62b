// SPDX-License-Identifier: Apache-2.0
#include "profile/table/location_table.h"

#include <cstring>
#include <span>

#include "base/hash.h"

namespace firetower::profile {
namespace {

uint32_t HashOf(const Location& location) {
  const uint64_t folded = location.is_folded ? 1 : 0;
  uint64_t hash = HashWord(kHashSeed, location.address);
  hash = HashWord(hash, uint64_t{location.mapping} << 1 | folded);
  for (const Line& line : location.lines) {
    hash = HashWord(hash, uint64_t{line.function} << 32 | line.column);
    hash = HashWord(hash, static_cast<uint64_t>(line.line));
  }
  return static_cast<uint32_t>(hash);
}

}  // namespace

uint32_t LocationTable::Intern(const Location& location) {
  // Tables of profiles that are merged are much alike: what followed before follows again.
  if (next_ < size() && !is_open_ && IsAt(next_, location)) return next_++;
  const uint32_t hash = HashOf(location);
  uint32_t id = ids_.Find(hash, [&](uint32_t at) { return IsAt(at, location); });
  if (id == IdSet::kNone) {
    id = size();
    records_.push_back(RecordOf(location));
    ids_.Insert(hash, id);
  }
  next_ = id + 1;
  return id;
}

Location LocationTable::Get(uint32_t id) const {
  const LocationRecord& record = records_[id];
  return {.mapping = record.mapping,
          .address = record.address,
          .is_folded = record.is_folded != 0,
          .lines = lines_.pool().Get(record.lines)};
}

uint32_t LocationTable::AddOpen() {
  is_open_ = true;
  records_.push_back(RecordOf({}));
  return size() - 1;
}

void LocationTable::Set(uint32_t open, const Location& location) {
  records_[open] = RecordOf(location);
}

bool LocationTable::IsAt(uint32_t id, const Location& location) const {
  const LocationRecord& record = records_[id];
  if (record.address != location.address || record.mapping != location.mapping ||
      (record.is_folded != 0) != location.is_folded) {
    return false;
  }
  const std::span<const Line> lines = lines_.pool().Get(record.lines);
  return lines.size() == location.lines.size() &&
         (lines.empty() ||
          std::memcmp(lines.data(), location.lines.data(), lines.size_bytes()) == 0);
}

LocationRecord LocationTable::RecordOf(const Location& location) {
  return {.address = location.address,
          .mapping = location.mapping,
          .lines = lines_.Intern(location.lines),
          .is_folded = location.is_folded ? 1u : 0u};
}

size_t LocationTable::bytes() const { return lines_.bytes() + records_.bytes() + ids_.bytes(); }

void LocationTable::Reserve(size_t locations) {
  lines_.Reserve(locations, locations);
  records_.reserve(locations);
  ids_.Reserve(locations);
}

}  // namespace firetower::profile
