// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/thread.h"
#include "hub/config.h"
#include "hub/profiles/hub_sources.h"
#include "hub/profiles/profile_figures.h"
#include "hub/rollouts/rollout_watch.h"
#include "k8s/client/api_client.h"
#include "k8s/watch/watch_set.h"
#include "net/message.h"
#include "query/api.h"
#include "service/access/kube_authorizer.h"
#include "store/access/served_store.h"
#include "store/catalog/catalog_index.h"
#include "store/catalog/recent_rows.h"
#include "store/store.h"

namespace firetower::hub {

// The hub's work for profiles: answers queries over a store for one cluster, with that cluster's
// own rights, keeps catalogs, and deletes expired objects. Objects of other clusters in the same
// store are neither read nor deleted.
//
//   catalogs thread ──► catalogs ──────────────┐
//          └──────────► rows of the last minutes ──► queries ──► HTTP
//   rollouts thread ──► compares ─► Events, metrics      ▲
//   retention thread ─► deletes                          │
//   API server: whose token is this, what may they? ─────┘
//
// A query takes at most some 200 MiB, and two are answered at a time. Rights that the API server
// refuses to the hub itself are checked again every minute and reported.
class ProfileServer {
 public:
  // All references must outlive this.
  struct Parts {
    k8s::ApiServer& reviews;     // to check the rights of callers; used by
    k8s::ApiServer& own_rights;  // used by the catalogs thread
    const Clock& clock;
    std::function<bool()> leads;                                    // any thread
    std::function<std::string(service::ExpositionFormat)> metrics;  // the page; any thread
    std::function<std::vector<k8s::WatchState>()> watches;
    std::function<std::vector<query::PolicyState>()> policies;  // any thread
    // Tells somebody what a roll-out made slower. Called by the rollouts thread; null: nobody.
    RolloutWatch::Tell tell_regression = nullptr;
  };
  // `config.store_url` must be set. Fails as store::OpenStore does.
  static Result<std::unique_ptr<ProfileServer>> Start(const Config& config, Parts parts);
  ~ProfileServer() { Stop(); }

  // Serves the paths of docs/reference/http-api.md. Any thread.
  net::HttpResponse Serve(const net::HttpRequest& request) { return api_.Serve(request); }
  // The number of HTTP threads with which probes are answered while queries wait.
  int WorkerThreads() const { return api_.WorkerThreads(); }
  ProfileFigures figures() const;  // any thread
  // Ends its threads and their work in the store. Queries are still answered.
  void Stop();

 private:
  ProfileServer(const Config& config, Parts parts, std::unique_ptr<store::ObjectStore> store);

  void Start();
  void Told(const Regression& regression);
  std::array<NamedThread*, 3> Threads() {
    return {&catalog_thread_, &retention_thread_, &rollout_thread_};
  }
  // Returns memory that the allocator kept from earlier answers of all threads. It does not run
  // after each answer, because the next one would fault in every page of it again.
  void GiveBackMemory();
  void KeepCatalogs(const std::stop_token& stop, WakeFd& wake);

  const Parts parts_;
  const std::unique_ptr<store::ObjectStore> store_;
  std::stop_source stop_;
  const std::unique_ptr<store::ObjectStore> own_store_;  // the threads', until they stop
  const std::string cluster_;                            // as keys have it
  const store::ServedStore served_;
  store::RecentRows recent_;
  store::CatalogIndex index_;
  CatalogController catalogs_;
  RetentionController retention_;
  RolloutWatch rollouts_;
  OwnRights rights_;
  service::KubeAuthorizer authorizer_;
  HubSources sources_;
  std::atomic<bool> answered_ = false;  // since the last GiveBackMemory
  query::Api api_;
  NamedThread catalog_thread_;
  NamedThread retention_thread_;
  NamedThread rollout_thread_;
};

}  // namespace firetower::hub
