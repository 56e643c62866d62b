// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/thread.h"
#include "k8s/client/api_client.h"
#include "k8s/watch/reflector.h"

namespace firetower::k8s {

// A thread that does nothing but step `reflector`, which reads through `client`: whatever the API
// server does is waited for here and nowhere else. To stop it ends its request at once; the client
// is of no use after that. Both outlive the thread.
NamedThread WatchOnThread(std::string name, Reflector& reflector, ApiClient& client);

}  // namespace firetower::k8s
