// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "hub/config.h"
#include "hub/profiles/profile_figures.h"
#include "k8s/client/api_client.h"
#include "k8s/watch/watch_set.h"
#include "net/message.h"

namespace firetower::hub {

// Everything that the hub has to do with profiles: questions about those of its cluster in a store
// under the cluster's own rights, their catalogs, and what is too old of them. What other clusters
// have in the same store is neither read nor deleted.
//
//   catalogs thread ──► catalogs ──────────────┐
//          └──────────► rows of the last minutes ──► questions ──► HTTP
//   retention thread ─► deletes                          ▲
//   API server: whose token is this, what may they? ─────┘
//
// A question takes at most some 200 MiB, and two are answered at a time. What the API server
// refuses to the hub itself is asked for every minute, and told.
class ProfileServer {
 public:
  // All are borrowed, and outlive this.
  struct Parts {
    k8s::ApiServer& reviews;     // for questions about who asks; used by HTTP threads
    k8s::ApiServer& own_rights;  // used by the catalogs thread
    const Clock& clock;
    std::function<bool()> leads;           // any thread
    std::function<std::string()> metrics;  // the page; any thread
    std::function<std::vector<k8s::WatchState>()> watches;
  };
  // `config.store_url` is given. Errors as store::OpenStore's.
  static Result<std::unique_ptr<ProfileServer>> Start(const Config& config, Parts parts);
  virtual ~ProfileServer() = default;

  // The paths of docs/reference/http-api.md. Any thread.
  virtual net::HttpResponse Serve(const net::HttpRequest& request) = 0;
  // That HTTP needs so that probes are answered while questions wait.
  virtual int WorkerThreads() const = 0;
  virtual ProfileFigures figures() const = 0;  // any thread
  // Ends its threads, and what they do in the store. Questions are still answered.
  virtual void Stop() = 0;
};

}  // namespace firetower::hub
