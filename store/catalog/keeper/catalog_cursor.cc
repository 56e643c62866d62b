// SPDX-License-Identifier: Apache-2.0
#include "store/catalog/keeper/catalog_cursor.h"

#include <string_view>
#include <tuple>
#include <utility>

namespace firetower::store {
namespace {

constexpr uint64_t kReadAheadBytes = 512 << 10;

Error Corrupt(const std::string& key, const char* why) {
  return {ErrorCode::kCorrupt, "catalog " + key + ": " + why};
}

}  // namespace

bool CatalogCursor::IsBefore(const Placed& a, const Placed& b) {
  const auto order = [](const Placed& one) {
    const CatalogRow& row = one.entry.entry.row;
    return std::tie(one.place, row.container, row.type, row.start_ns, one.entry.bundle,
                    one.entry.entry.header_offset);
  };
  return order(a) < order(b);
}

bool CatalogCursor::IsBefore(const CatalogCursor& other) const {
  return IsBefore(rows_[at_], other.rows_[other.at_]);
}

Result<bool> CatalogCursor::Next() {
  Placed before;
  const bool has_before = begun_ && at_ < rows_.size();
  if (has_before) before = std::move(rows_[at_]);
  if (begun_) ++at_;
  begun_ = true;
  while (at_ >= rows_.size()) {
    if (next_block_ >= file_.blocks()) return false;
    RETURN_IF_ERROR(ReadBlock());
  }
  if (has_before && IsBefore(rows_[at_], before))
    return Corrupt(key(), "its rows are out of order");
  return true;
}

Status CatalogCursor::ReadBlock() {
  const uint64_t begin = file_.BlockOffset(next_block_), end = file_.BlockEnd(next_block_);
  if (begin < packed_offset_ || end > packed_offset_ + packed_.size()) {
    size_t last = next_block_;
    while (last + 1 < file_.blocks() && file_.BlockEnd(last + 1) - begin <= kReadAheadBytes) ++last;
    ASSIGN_OR_RETURN(packed_, store_.GetRange(catalog_.key, begin, file_.BlockEnd(last) - begin));
    packed_offset_ = begin;
    if (packed_.size() != file_.BlockEnd(last) - begin) return Corrupt(key(), "truncated");
  }
  ASSIGN_OR_RETURN(std::vector<CatalogEntry> entries,
                   CatalogFile::ParseBlock(
                       std::string_view(packed_).substr(begin - packed_offset_, end - begin)));
  ++next_block_;
  rows_.clear();
  at_ = 0;
  for (CatalogEntry& one : entries) {
    const CatalogRow& row = one.entry.row;
    if (ShardOf(row.namespace_name, row.workload, shards_) != shard_) continue;
    std::string place = PlaceOf(row);
    rows_.push_back({std::move(place), std::move(one)});
  }
  return OkStatus();
}

}  // namespace firetower::store
