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
  // Copies of stored objects.
  uint64_t copied_bytes = 0;
  // Since the start: objects that were dropped to make room, or refused for good, and are in no
  // store.
  uint64_t dropped_objects = 0;
  uint64_t dropped_profiles = 0;
  // The reason of the last drop, and its monotonic time.
  std::optional<Error> drop_reason = {};
  int64_t dropped_at_ns = 0;
};

// Objects on this machine's disk that wait for their store. An object that Add has accepted
// survives a kill and a power cut, and is available again after Open. Bundles of the last
// kCopySeconds stay after they are stored, as copies from which roll-ups are made.
//
// The total size is bounded: beyond the limit copies are dropped first, then the oldest waiting
// window, which is counted. The folder belongs to one Spool at a time. Any thread.
class Spool {
 public:
  // An hour, and the time until its last windows have arrived.
  static constexpr int64_t kCopySeconds = 3600 + 900;

  // kInvalid: `folder` is not absolute.
  static Result<std::unique_ptr<Spool>> Open(const std::string& folder, uint64_t max_bytes,
                                             const Clock& clock = Clock::System());

  // Opens the objects that an earlier process left for a store that is no longer configured; null
  // when there are none. kUnavailable: that process still has the folder open.
  static Result<std::unique_ptr<Spool>> OpenLeftover(const std::string& folder,
                                                     const Clock& clock = Clock::System());

  // Adds an object. kInvalid: it alone is too large. ENOSPC: the disk is full and nothing is left
  // to drop. In both cases the caller keeps it, and it is not counted here.
  Status Add(std::string_view key, std::string_view bytes);
  // Returns the key of the oldest waiting window or capture.
  std::optional<std::string> Oldest() const;
  // Returns the waiting key after `key`, whether `key` still waits or not.
  std::optional<std::string> After(std::string_view key) const;
  // Reports that the object is in its store now. Succeeds when it is gone.
  Status Stored(std::string_view key);
  // Deletes and counts an object that is useless, or that its store will never accept. Succeeds
  // when it is gone.
  void Drop(std::string_view key, const Error& why);
  // Deletes an object, whether it waits or not. Succeeds when there is none.
  Status Remove(std::string_view key);

  // The waiting objects. Must not be written to.
  const ObjectStore& pending() const { return *pending_; }
  // The waiting objects and the copies.
  const ObjectStore& all() const { return all_; }
  // Never waits for a disk.
  SpoolFigures figures() const;

 private:
  // One change: holds mutex_, and publishes the figures at its end.
  class Change;

  // Sorted by the start of its window, then by key.
  using Place = std::pair<int64_t, std::string>;
  using Objects = std::map<Place, uint64_t>;  // with their bytes

  Spool(std::unique_ptr<DirStore> pending, std::unique_ptr<DirStore> copies, uint64_t max_bytes,
        const Clock& clock)
      : pending_(std::move(pending)),
        copies_(std::move(copies)),
        max_bytes_(max_bytes),
        clock_(clock) {}

  // The following need mutex_ to be held.
  Status ReadFolder(const DirStore& folder, Objects& objects, uint64_t& bytes);
  static void Note(std::string_view key, uint64_t size, Objects& objects, uint64_t& bytes);
  static void Forget(std::string_view key, Objects& objects, uint64_t& bytes);
  void DropOldCopies();
  // Returns false when there is nothing to drop.
  bool MakeRoom(const Error& why);
  void DropOldest(DirStore& folder, Objects& objects, uint64_t& bytes);
  void DropWaiting(Objects::const_iterator object, const Error& why);
  Error BoundReached() const;
  // Adds the free space to a disk error.
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
