// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/snapshot.h"
#include "k8s/client/api_client.h"

namespace firetower::hub {

// A right of the hub's own account: to create such objects.
struct OwnRight {
  std::string_view group;
  std::string_view resource;
  std::optional<bool> allowed;  // unset: the API server did not say
  std::string message;          // why it did not
};

// Checks whether the hub may review the rights of its callers: without that it answers no query,
// and the single answers do not show the reason. Look belongs to one thread.
class OwnRights {
 public:
  // `server` must not be shared, and must outlive this.
  explicit OwnRights(k8s::ApiServer& server);

  // Checks each right. Logs a missing right when that is new.
  void Look();
  std::shared_ptr<const std::vector<OwnRight>> Get() const { return rights_.Get(); }

 private:
  k8s::ApiServer& server_;
  std::vector<OwnRight> now_;
  SnapshotCell<std::vector<OwnRight>> rights_;
};

}  // namespace firetower::hub
