// SPDX-License-Identifier: Apache-2.0
#include "store/spool/spooled_store.h"

namespace firetower::store {

Status SpooledStore::Put(std::string_view key, std::string_view bytes) {
  RETURN_IF_ERROR(spool_.Add(key, bytes));
  on_put_();
  return OkStatus();
}

Status SpooledStore::Delete(std::string_view key) {
  RETURN_IF_ERROR(spool_.Remove(key));
  return remote_.Delete(key);
}

}  // namespace firetower::store
