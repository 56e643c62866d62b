// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "store/dir_store.h"
#include "store/spool/both_stores.h"
#include "store/store.h"

namespace firetower::store {

struct SpoolFigures {
  // Objects that wait for the store.
  uint64_t objects = 0;
  uint64_t bytes = 0;
  // Copies of what is stored.
  uint64_t copied_bytes = 0;
  // Since the start: what went to make room, or was refused for good, and was in no store.
  uint64_t dropped_objects = 0;
  uint64_t dropped_profiles = 0;
  // Why the last of these went, and when (monotonic).
  std::optional<Error> drop_reason = {};
  int64_t dropped_at_ns = 0;
};

// Objects on this machine's disk that wait for their store. What Add has taken survives a kill and
// a power cut, whole; what a process left behind is there again after Open. The bundles of the last
// kCopySeconds stay when they are stored, as copies of which longer ones are made.
//
// All of it is at most so many bytes: beyond that copies go first, then the oldest window that
// waits, which is counted. The folder belongs to one Spool at a time. Any thread.
class Spool {
 public:
  // An hour, and the time until its last windows are there.
  static constexpr int64_t kCopySeconds = 3600 + 900;

  // kInvalid unless `folder` is absolute.
  static Result<std::unique_ptr<Spool>> Open(const std::string& folder, uint64_t max_bytes,
                                             const Clock& clock = Clock::System());

  // Opens the objects that an earlier process left for a store that is no longer configured; null
  // when there are none. kUnavailable while that process still has the folder open.
  static Result<std::unique_ptr<Spool>> OpenLeftover(const std::string& folder,
                                                     const Clock& clock = Clock::System());

  // kInvalid when it alone is too large; ENOSPC when the disk is full and nothing is left to
  // drop. It is the caller's then, and not counted here.
  Status Add(std::string_view key, std::string_view bytes);
  // The key of the oldest window, or capture, that waits.
  std::optional<std::string> Oldest() const;
  // The one after `key`, whether that still waits or not.
  std::optional<std::string> After(std::string_view key) const;
  // It is in its store now. Fine when it is gone.
  Status Stored(std::string_view key);
  // It is of no use, or its store will never take it: deletes and counts it. Fine when it is gone.
  void Drop(std::string_view key, const Error& why);
  // Deletes it, whether it waits or not. Fine when there is none.
  Status Remove(std::string_view key);

  // Not to be written to.
  const ObjectStore& pending() const { return *pending_; }
  // Waiting objects and copies.
  const ObjectStore& all() const { return all_; }
  // Waits for no disk, whatever is under way.
  SpoolFigures figures() const;

 private:
  // One change: holds mutex_, and shows the figures at its end.
  class Change;

  // By the start of its window, then by key.
  using Place = std::pair<int64_t, std::string>;
  using Objects = std::map<Place, uint64_t>;  // with their bytes

  Spool(std::unique_ptr<DirStore> pending, std::unique_ptr<DirStore> copies, uint64_t max_bytes,
        const Clock& clock)
      : pending_(std::move(pending)),
        copies_(std::move(copies)),
        max_bytes_(max_bytes),
        clock_(clock) {}

  // With mutex_ held, all of them.
  Status ReadFolder(const DirStore& folder, Objects& objects, uint64_t& bytes);
  static void Note(std::string_view key, uint64_t size, Objects& objects, uint64_t& bytes);
  static void Forget(std::string_view key, Objects& objects, uint64_t& bytes);
  void DropOldCopies();
  // False when there is nothing to drop.
  bool MakeRoom(const Error& why);
  void DropOldest(DirStore& folder, Objects& objects, uint64_t& bytes);
  void DropWaiting(Objects::const_iterator object, const Error& why);
  Error BoundReached() const;
  // Adds the free space to an error of the disk.
  Error DiskFull(const Error& error) const;
  uint64_t held_bytes() const { return figures_.bytes + figures_.copied_bytes; }

  UniqueFd lock_;  // of the folder, while this is there
  const std::unique_ptr<DirStore> pending_;
  const std::unique_ptr<DirStore> copies_;
  const BothStores all_{*pending_, *copies_};
  const uint64_t max_bytes_;
  const Clock& clock_;
  mutable std::mutex mutex_;  // a few times a minute, while the disk works
  Objects waiting_;
  Objects copied_;
  SpoolFigures figures_;
  mutable std::mutex shown_mutex_;
  SpoolFigures shown_;
};

}  // namespace firetower::store
