// SPDX-License-Identifier: Apache-2.0
#include "store/profiles/entry_reader.h"

#include <fmt/core.h>

#include <utility>

#include "store/access/limited_store.h"

namespace firetower::store {
namespace {

uint64_t BytesOf(const StoredEntry& one) { return one.entry.size; }

CatalogRow RowOf(const CatalogRow& row) {
  return {.namespace_name = row.namespace_name,
          .pod = row.pod,
          .container = row.container,
          .pod_uid = row.pod_uid,
          .container_id = row.container_id,
          .workload = row.workload,
          .service_name = row.service_name,
          .node = row.node,
          .type = row.type,
          .start_ns = row.start_ns,
          .duration_ns = row.duration_ns,
          .samples = row.samples,
          .value = row.value,
          .unit = row.unit,
          .capture = row.capture,
          .also_samples = row.also_samples,
          .also_value = row.also_value};
}

StoredEntry EntryOf(const FoundProfile& found) {
  StoredEntry one{.key = *found.key, .is_capture = found.entry == nullptr};
  one.entry.row = RowOf(*found.row);
  one.entry.size = found.bytes();
  if (one.is_capture) return one;
  one.entry.name = found.entry->name;
  one.entry.crc32 = found.entry->crc32;
  one.entry.header_offset = found.entry->header_offset;
  one.entry.end_offset = found.entry->end_offset;
  return one;
}

}  // namespace

EntryReader::EntryReader(const ObjectStore& store, const QueryLimits& limits,
                         const CountedPart& counted, Visit visit, const Clock& clock)
    : EntryReader(store, limits, counted, counted.cut() ? EntryFiles::kBoth : EntryFiles::kProfile,
                  std::move(visit), clock) {}

EntryReader::EntryReader(const ObjectStore& store, const QueryLimits& limits,
                         const CountedPart& counted, EntryFiles files, Visit visit,
                         const Clock& clock)
    : store_(store.Limited(limits.calls)),
      limits_(limits),
      counted_(counted),
      files_(files),
      visit_(std::move(visit)),
      clock_(clock),
      ahead_("entries", [this](StoredEntry& one) { Read(one); }) {}

Status EntryReader::Add(const FoundProfile& found) {
  if (counted_.IsNone(*found.row)) return OkStatus();
  read_bytes_ += found.bytes();
  if (read_bytes_ > limits_.max_read_bytes) {
    return Error(ErrorCode::kExhausted,
                 fmt::format("the answer needs more than {} bytes of profiles: narrow the "
                             "selector or the time range",
                             limits_.max_read_bytes));
  }
  StoredEntry one = EntryOf(found);
  if (slow_reads_ < kSlowReads) return ReadNow(std::move(one));
  const uint64_t bytes = BytesOf(one);
  while (!HasRoomFor(bytes)) RETURN_IF_ERROR(DeliverFirst());
  held_bytes_ += bytes;
  ahead_.Ask(std::move(one));
  return OkStatus();
}

Status EntryReader::Finish() {
  while (!ahead_.empty()) RETURN_IF_ERROR(DeliverFirst());
  return OkStatus();
}

bool EntryReader::HasRoomFor(uint64_t bytes) const {
  return ahead_.empty() || (!ahead_.is_full() && held_bytes_ + bytes <= kMaxHeldBytes);
}

Status EntryReader::ReadNow(StoredEntry one) {
  const int64_t begin_ns = clock_.MonotonicNs();
  Read(one);
  slow_reads_ = clock_.MonotonicNs() - begin_ns >= kSlowNs ? slow_reads_ + 1 : 0;
  return Deliver(std::move(one));
}

Status EntryReader::DeliverFirst() {
  StoredEntry first = ahead_.Take();
  held_bytes_ -= BytesOf(first);
  return Deliver(std::move(first));
}

Status EntryReader::Deliver(StoredEntry&& read) {
  if (!read.pprof_gz || !read.times_gz) RETURN_IF_ERROR(CheckLimits(limits_.calls));
  return visit_(std::move(read));
}

void EntryReader::Read(StoredEntry& one) const {
  const FoundProfile found{.key = &one.key,
                           .entry = one.is_capture ? nullptr : &one.entry,
                           .object_bytes = one.entry.size,
                           .row = &one.entry.row};
  if (files_ != EntryFiles::kTimes) one.pprof_gz = found.Read(*store_);
  if (files_ != EntryFiles::kProfile && !one.is_capture)
    one.times_gz = ReadBundleTimes(*store_, one.key, one.entry);
}

}  // namespace firetower::store
