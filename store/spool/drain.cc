// SPDX-License-Identifier: Apache-2.0
#include "store/spool/drain.h"

#include <optional>
#include <string>

#include "store/spool/spooled_object.h"

namespace firetower::store {

Result<uint64_t> DrainSpool(Spool& spool, ObjectStore& to, const Clock& clock, int64_t until_ns) {
  uint64_t moved = 0;
  Status unread;
  for (std::optional<std::string> key = spool.Oldest(); key; key = spool.After(*key)) {
    if (clock.MonotonicNs() >= until_ns) break;
    const Result<std::string> bytes = spool.pending().Get(*key);
    if (!bytes && bytes.error().code() == ErrorCode::kNotFound) {  // deleted by somebody else
      RETURN_IF_ERROR(spool.Remove(*key));
      continue;
    }
    if (!bytes) {  // it may be had later, and holds up no other
      if (unread) unread = bytes.error();
      continue;
    }
    if (const Status sound = CheckSpooled(*key, *bytes); !sound) {
      spool.Drop(*key, sound.error());
      continue;
    }
    RETURN_IF_ERROR(to.Put(*key, *bytes));
    RETURN_IF_ERROR(spool.Remove(*key));
    ++moved;
  }
  if (!unread) return unread.error();
  return moved;
}

}  // namespace firetower::store
