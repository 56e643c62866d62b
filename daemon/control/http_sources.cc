// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/http_sources.h"

#include "service/metrics/negotiation.h"

namespace firetower::daemon {
namespace {

query::CheckStatus ToQuery(CheckStatus status) {
  switch (status) {
    case CheckStatus::kSkip:
      return query::CheckStatus::kSkip;
    case CheckStatus::kOk:
      return query::CheckStatus::kOk;
    case CheckStatus::kWarn:
      return query::CheckStatus::kWarn;
    case CheckStatus::kFail:
      return query::CheckStatus::kFail;
  }
  return query::CheckStatus::kFail;
}

}  // namespace

std::vector<store::OpenProfile> HttpSources::OpenProfiles() const {
  return exporter_.OpenProfiles();
}

query::MetricsSource::Page HttpSources::Render(std::string_view accept) const {
  const ExpositionFormat format = service::NegotiateFormat(accept);
  return {std::string(service::ContentTypeOf(format)), registry_.Render(format)};
}

std::vector<query::Check> HttpSources::Checks() const {
  std::vector<query::Check> checks;
  for (Check& check : RunDoctor(doctor_)) {
    checks.push_back({std::move(check.name), ToQuery(check.status), std::move(check.message),
                      std::move(check.fix)});
  }
  return checks;
}

std::vector<std::string> HttpSources::NotReadyReasons() const {
  if (!ready_.load(std::memory_order_acquire)) return {"sampling has not started yet"};
  return awaited_ ? awaited_() : std::vector<std::string>();
}

}  // namespace firetower::daemon
