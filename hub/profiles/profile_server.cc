// SPDX-License-Identifier: Apache-2.0
#include "hub/profiles/profile_server.h"

#include <malloc.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/log.h"
#include "query/flame/file_endpoint.h"
#include "store/key.h"

namespace firetower::hub {
namespace {

// Memory limits of one answer: a row has some 1.2 KB while profiles are looked for, and the sum,
// its tree and its encoded form are held after that.
store::QueryLimits LimitsOfAnAnswer() {
  store::QueryLimits limits;
  limits.max_rows = 100'000;
  limits.max_merged_bytes = uint64_t{64} << 20;
  return limits;
}

// A comparison is made beside the two answers: it may take half of what one of these may.
store::QueryLimits LimitsOfAComparison() {
  store::QueryLimits limits = LimitsOfAnAnswer();
  limits.max_merged_bytes /= 2;
  limits.max_read_bytes /= 2;
  return limits;
}

// So often the threads look whether this hub has begun to lead.
constexpr int64_t kLookNs = 2 * kNsPerSecond;

}  // namespace

ProfileServer::ProfileServer(const Config& config, Parts parts,
                             std::unique_ptr<store::ObjectStore> store)
    : parts_(std::move(parts)),
      store_(std::move(store)),
      own_store_(store_->Limited({.stop = stop_.get_token()})),
      cluster_(store::ToKeyComponent(config.cluster)),
      served_(*store_),
      index_(served_, &recent_,
             {.cluster = cluster_, .retention = config.retention, .clock = &parts_.clock}),
      catalogs_(*own_store_, recent_, parts_.clock, cluster_),
      retention_(*own_store_, config.retention, parts_.clock, cluster_),
      rollouts_({served_, &index_}, parts_.clock, LimitsOfAComparison(),
                [this](const Regression& regression) { Told(regression); }),
      rights_(parts_.own_rights),
      authorizer_(parts_.reviews, parts_.clock),
      sources_({*store_, cluster_, catalogs_, retention_, rights_, parts_.metrics, parts_.watches,
                parts_.policies}),
      api_(query::ApiParts{.store = {served_, &index_},
                           .live = sources_,
                           .metrics = sources_,
                           .doctor = sources_,
                           .ready = sources_,
                           .authorizer = authorizer_,
                           .policies = &sources_,
                           .clock = parts_.clock,
                           .limits = LimitsOfAnAnswer(),
                           // A dashboard asks for all of its panels at once.
                           .admission = {.waiting = 30, .strangers = 8},
                           .signature_file = config.signature_file,
                           .trace_url = config.trace_url,
                           .max_file_bytes = query::kServedFileBytes,
                           .on_idle = [this] { answered_ = true; }}) {}

void ProfileServer::Start() {
  LOG(kInfo, "profiles are served", {{"store", store_->Describe()}, {"cluster", cluster_}});
  catalog_thread_ = NamedThread(
      "catalogs", [this](std::stop_token stop, WakeFd& wake) { KeepCatalogs(stop, wake); });
  retention_thread_ = NamedThread("retention", [this](std::stop_token stop, WakeFd& wake) {
    while (!stop.stop_requested()) {
      retention_.Look(parts_.leads(), stop);
      GiveBackMemory();
      wake.Wait(static_cast<int>(kLookNs / kNsPerMs));
    }
  });
  rollout_thread_ = NamedThread("rollouts", [this](std::stop_token stop, WakeFd& wake) {
    while (!stop.stop_requested()) {
      rollouts_.Look(parts_.leads(), stop);
      wake.Wait(static_cast<int>(kLookNs / kNsPerMs));
    }
  });
}

void ProfileServer::Told(const Regression& regression) {
  LOG(kWarn, "functions take more CPU since a roll-out",
      {{"namespace", regression.rollout.namespace_name},
       {"workload", regression.rollout.workload},
       {"revision", regression.rollout.after},
       {"cause", regression.findings.front().cause}});
  if (parts_.tell_regression) parts_.tell_regression(regression);
}

void ProfileServer::Stop() {
  for (NamedThread* thread : Threads()) thread->RequestStop();
  stop_.request_stop();
  for (NamedThread* thread : Threads()) thread->Join();
}

ProfileFigures ProfileServer::figures() const {
  return {*catalogs_.figures(),  *retention_.figures(), *rollouts_.figures(),
          *rights_.Get(),        recent_.rows(),        recent_.bytes(),
          store_->ClockSkewNs(), catalogs_.LagSeconds()};
}

void ProfileServer::GiveBackMemory() {
  if (answered_.exchange(false)) ::malloc_trim(0);
}

void ProfileServer::KeepCatalogs(const std::stop_token& stop, WakeFd& wake) {
  while (!stop.stop_requested()) {
    const int64_t began_ns = parts_.clock.MonotonicNs();
    rights_.Look();
    if (stop.stop_requested()) return;
    const bool leads = parts_.leads();
    catalogs_.Look(leads, stop);
    // After a round that took longer than a minute, the store is not used for a second.
    const int64_t due_ns =
        std::max(began_ns + CatalogController::kEveryNs, parts_.clock.MonotonicNs() + kNsPerSecond);
    // A new leader immediately writes what the previous one left.
    while (!stop.stop_requested() && (leads || !parts_.leads())) {
      const int64_t rest_ns = due_ns - parts_.clock.MonotonicNs();
      if (rest_ns <= 0) break;
      wake.Wait(static_cast<int>(std::min(rest_ns, kLookNs) / kNsPerMs) + 1);
    }
  }
}

Result<std::unique_ptr<ProfileServer>> ProfileServer::Start(const Config& config, Parts parts) {
  ASSIGN_OR_RETURN(std::unique_ptr<store::ObjectStore> store, store::OpenStore(config.store_url));
  std::unique_ptr<ProfileServer> server(
      new ProfileServer(config, std::move(parts), std::move(store)));
  server->Start();
  return server;
}

}  // namespace firetower::hub
