// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/thread.h"
#include "k8s/client/api_client.h"
#include "k8s/watch/reflector.h"

namespace firetower::k8s {

// Starts a thread that only steps `reflector`, which reads through `client`, so that no other
// thread waits for the API server. Stopping cancels its request at once; the client cannot be used
// after that. Both must outlive the thread.
NamedThread WatchOnThread(std::string name, Reflector& reflector, ApiClient& client);

}  // namespace firetower::k8s
