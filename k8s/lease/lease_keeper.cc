// SPDX-License-Identifier: Apache-2.0
#include "k8s/lease/lease_keeper.h"

#include <utility>

#include "base/log.h"
#include "k8s/status/api_call.h"
#include "k8s/status/timestamp.h"

namespace firetower::k8s {

LeaseKeeper::LeaseKeeper(ApiServer& server, const Clock& clock, std::string namespace_name,
                         std::string name, ElectionOptions options)
    : server_(server),
      clock_(clock),
      namespace_(std::move(namespace_name)),
      name_(std::move(name)),
      election_(std::move(options)) {}

int64_t LeaseKeeper::StepNs() {
  const int64_t retry_ns = election_.options().retry_ns;
  // A leader knows the version that it wrote, and renews without a look.
  const bool leads = election_.Leads(clock_.MonotonicNs());
  if ((!leads || !election_.known()) && !Look()) return retry_ns;
  if (const auto wanted = election_.Attempt(clock_.MonotonicNs(), MicroTimeText(clock_.WallNs()))) {
    Try(*wanted);
  }
  Publish();
  return retry_ns;
}

bool LeaseKeeper::Look() {
  ApiRequest request;
  request.target = LeaseFolder(namespace_) + "/" + name_;
  const Result<ApiAnswer> answer = Call(server_, request);
  if (!answer) {
    Fail(answer.error().message());
    return false;
  }
  if (answer->status == 404) {
    election_.Observe(std::nullopt, clock_.MonotonicNs());
    return true;
  }
  if (!answer->ok()) {
    Fail(answer->message);
    return false;
  }
  const Result<LeaseRecord> lease = ReadLease(answer->body);
  if (!lease) {
    Fail(lease.error().message());
    return false;
  }
  election_.Observe(*lease, clock_.MonotonicNs());
  return true;
}

void LeaseKeeper::Try(const LeaseRecord& wanted) {
  const bool is_new = wanted.resource_version.empty();
  ApiRequest request;
  request.method = is_new ? "POST" : "PATCH";
  request.target = LeaseFolder(namespace_);
  if (!is_new) request.target += "/" + name_;
  request.body = is_new ? NewLeaseJson(name_, namespace_, wanted) : LeasePatchJson(wanted);
  request.content_type = is_new ? kJson : kMergePatch;
  const int64_t began_ns = clock_.MonotonicNs();
  const Result<ApiAnswer> answer = Call(server_, request);
  if (!answer || !answer->ok()) {
    election_.Refused();
    // Another was faster: that is how an election ends for all but one.
    if (!answer || answer->status != 409) Fail(answer ? answer->message : answer.error().message());
    return;
  }
  const Result<LeaseRecord> lease = ReadLease(answer->body);
  if (!lease) {
    election_.Refused();
    return Fail(lease.error().message());
  }
  failing_ = false;
  const bool led = election_.leads_until_ns() != 0;
  election_.Accepted(*lease, began_ns, clock_.MonotonicNs());
  if (led || !election_.Leads(clock_.MonotonicNs())) return;
  ++terms_;
  LOG(kInfo, "leading", {{"lease", namespace_ + "/" + name_}, {"as", lease->holder}});
}

void LeaseKeeper::Release(ApiServer& server) {
  const auto released = election_.Release(clock_.MonotonicNs(), MicroTimeText(clock_.WallNs()));
  Publish();
  if (!released) return;
  ApiRequest request;
  request.method = "PATCH";
  request.target = LeaseFolder(namespace_) + "/" + name_;
  request.body = LeasePatchJson(*released);
  request.content_type = kMergePatch;
  const Result<ApiAnswer> answer = Call(server, request);
  if (!answer || !answer->ok()) Fail(answer ? answer->message : answer.error().message());
}

void LeaseKeeper::Fail(const std::string& message) {
  ++failures_;
  Publish();
  if (std::exchange(failing_, true)) return;
  LOG(kWarn, "the lease could not be read or written",
      {{"lease", namespace_ + "/" + name_}, {"error", message}});
}

void LeaseKeeper::Publish() { leads_until_ns_ = election_.leads_until_ns(); }

}  // namespace firetower::k8s
