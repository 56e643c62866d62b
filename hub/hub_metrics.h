// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hub/profiles/profile_figures.h"
#include "k8s/status/status_writer.h"
#include "k8s/watch/reflector.h"
#include "k8s/watch/watch_set.h"
#include "net/server/tls_certificate.h"
#include "service/metrics/exposition.h"

namespace firetower::hub {

// Source of the hub's /metrics. Any thread. A mutex suffices, because only a few requests per
// second are counted, none of them on a hot path. The series are bounded by the number of verbs,
// watched kinds and HTTP statuses.
class HubMetrics final : public k8s::ReflectorMetrics {
 public:
  void OnRequest(std::string_view resource, std::string_view verb, int status) override;
  void OnRestart(std::string_view resource, std::string_view reason, bool relist) override;
  void OnSkipped(std::string_view resource, std::string_view reason) override;

  void OnStatusWrite(k8s::WriteEnd end, int status);
  void OnDeletion(k8s::WriteEnd end, int status);
  void OnEvent(k8s::WriteEnd end, int status);
  // Counts a request to the hub. The routes are the known ones, and "other".
  void OnHttpRequest(std::string_view route, int status);

  struct Now {
    bool leads = false;
    uint64_t terms = 0;
    uint64_t lease_failures = 0;
    size_t nodes = 0;
    size_t policies = 0;
    size_t cluster_policies = 0;
    std::vector<k8s::WatchState> watches;
    std::optional<ProfileFigures> profiles = {};  // unset: profiles are not its business
    std::shared_ptr<const net::TlsCertificateState> certificate = {};  // null: plain HTTP
  };
  std::string Render(const Now& now,
                     service::ExpositionFormat format = service::ExpositionFormat::kText) const;

 private:
  // A family with the values of its labels.
  using Series = std::pair<std::string_view, std::vector<std::string>>;
  void Count(Series series);
  // Returns the counters, with zeros for events that may still occur: a rate sees the first event
  // only if there was a sample before it. HTTP statuses are not known in advance.
  std::map<Series, uint64_t> CountsOf(const Now& now) const;
  void CountWrite(std::string_view verb, std::string_view resource, k8s::WriteEnd end, int status);

  mutable std::mutex mutex_;
  std::map<Series, uint64_t> counts_;
};

}  // namespace firetower::hub
