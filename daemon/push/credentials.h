// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/result.h"
#include "daemon/push/target.h"
#include "net/client/http_client.h"

namespace firetower::daemon {

// The headers that say who we are, from files that are read anew each time: tokens are replaced
// while the daemon runs. Of an error the message names the file, and says nothing of what it holds.
Result<net::NamedValues> ReadCredentials(const PushTarget& target);

}  // namespace firetower::daemon
