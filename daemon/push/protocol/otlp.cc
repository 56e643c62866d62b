// SPDX-License-Identifier: Apache-2.0
// OTLP/HTTP with Protocol Buffers (https://opentelemetry.io/docs/specs/otlp/): POST of an
// ExportProfilesServiceRequest.
#include <algorithm>
#include <array>
#include <utility>

#include "daemon/push/protocol/protocol.h"
#include "profile/codec/gzip.h"
#include "profile/otlp/request.h"
#include "profile/otlp/response.h"
#include "profile/pprof.h"

namespace firetower::daemon {
namespace {

using net::HttpResponse;

std::string_view Known(std::string_view value) { return value == "-" ? std::string_view() : value; }

class OtlpProtocol : public PushProtocol {
 public:
  explicit OtlpProtocol(std::string cluster) : cluster_(std::move(cluster)) {}

  Status Add(const store::CatalogRow& row, std::string_view pprof) override {
    ASSIGN_OR_RETURN(const profile::Profile profile, profile::DecodePprof(pprof));
    request_.Add(profile, ResourceOf(row), store::ProfileId(row));
    return OkStatus();
  }

  size_t bytes() const override { return request_.bytes(); }
  std::string TakeBody() override { return profile::GzipCompress(request_.Take(), 1); }
  const net::NamedValues& headers() const override { return headers_; }

  // What may be sent again is what the specification lists, and nothing else.
  PushAnswer Judge(const HttpResponse& response, int /*tries*/, int64_t wall_ns) const override {
    if (response.ok()) return Taken(response);
    constexpr std::array kPassing = {429, 502, 503, 504};
    if (std::ranges::find(kPassing, response.status) != kPassing.end())
      return AskLater(response, wall_ns);
    constexpr std::array kOfContent = {400, 413, 422};
    return {.verdict = PushVerdict::kRefused,
            .blames_content = std::ranges::find(kOfContent, response.status) != kOfContent.end(),
            .reason = DescribeRefusal(response)};
  }

 private:
  static PushAnswer Taken(const HttpResponse& response) {
    if (response.Header("content-type").starts_with("text/html")) {
      return {.verdict = PushVerdict::kRefused,
              .reason = "what answers is no receiver of OTLP: it sends a page"};
    }
    // An answer in another form than the request's says no less that it was taken.
    Result<profile::OtlpResponse> partial = profile::DecodeOtlpResponse(response.body);
    if (!partial) return {};
    return {.rejected = partial->rejected_profiles, .reason = ReasonOf(partial->message)};
  }

  // OpenTelemetry's semantic conventions for resources: service, k8s, container, host.
  std::vector<profile::OtlpAttribute> ResourceOf(const store::CatalogRow& row) const {
    const bool in_pod = row.pod != "-";
    const auto of_pod = [&](std::string_view value) {
      return std::string(in_pod ? Known(value) : std::string_view());
    };
    return {{"service.name", store::LabelValueOf(row, "service_name")},
            {"service.namespace", of_pod(row.namespace_name)},
            {"k8s.cluster.name", of_pod(cluster_)},
            {"k8s.node.name", of_pod(row.node)},
            {"k8s.namespace.name", of_pod(row.namespace_name)},
            {"k8s.pod.name", of_pod(row.pod)},
            {"k8s.pod.uid", of_pod(row.pod_uid)},
            {"k8s.container.name", of_pod(row.container)},
            {"container.id", row.container_id},
            {"host.name", row.node}};
  }

  const std::string cluster_;
  const net::NamedValues headers_ = {{"Content-Type", "application/x-protobuf"},
                                     {"Content-Encoding", "gzip"}};
  profile::OtlpRequest request_{"firetower", FIRETOWER_VERSION};
};

}  // namespace

std::unique_ptr<PushProtocol> NewOtlpProtocol(std::string cluster) {
  return std::make_unique<OtlpProtocol>(std::move(cluster));
}

}  // namespace firetower::daemon
