// SPDX-License-Identifier: Apache-2.0
#include "daemon/outbox/sweep.h"

#include <string>

#include "base/log.h"

namespace firetower::daemon {

void Sweep::Run() {
  const int64_t begin_ns = clock_.MonotonicNs();
  const Result<store::RetentionResult> swept =
      store::ApplyRetention(store_, policy_, clock_.WallNs());
  observer_.OnStoreOperation("retention", swept ? OkStatus() : Status(swept.error()),
                             clock_.MonotonicNs() - begin_ns);
  if (!swept) {
    LOG(kWarn, "retention not applied", {{"error", swept.error().message()}});
    return;
  }
  for (const std::string& error : swept->errors) LOG(kWarn, "not deleted", {{"error", error}});
  if (!swept->deleted.empty()) {
    LOG(kInfo, "retention", {{"deleted", swept->deleted.size()}, {"bytes", swept->deleted_bytes}});
  }
}

}  // namespace firetower::daemon
