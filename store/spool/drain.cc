// SPDX-License-Identifier: Apache-2.0
#include "store/spool/drain.h"

#include <optional>
#include <string>

#include "store/spool/spooled_object.h"

namespace firetower::store {

Result<uint64_t> DrainSpool(Spool& spool, ObjectStore& to, const Clock& clock, int64_t until_ns) {
  uint64_t moved = 0;
  while (const std::optional<std::string> key = spool.Oldest()) {
    if (clock.MonotonicNs() >= until_ns) break;
    ASSIGN_OR_RETURN(const std::string bytes, spool.pending().Get(*key));
    if (const Status sound = CheckSpooled(*key, bytes); !sound) {
      spool.Drop(*key, sound.error());
      continue;
    }
    RETURN_IF_ERROR(to.Put(*key, bytes));
    RETURN_IF_ERROR(spool.Remove(*key));
    ++moved;
  }
  return moved;
}

}  // namespace firetower::store
