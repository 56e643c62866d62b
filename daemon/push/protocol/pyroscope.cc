// SPDX-License-Identifier: Apache-2.0
// Pyroscope's push.v1.PusherService/Push by the Connect protocol's unary form
// (https://connectrpc.com/docs/protocol): one POST, the message as it is.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/json.h"
#include "daemon/push/protocol/protocol.h"
#include "profile/copy.h"
#include "profile/otlp/request.h"
#include "profile/pprof.h"
#include "profile/type.h"
#include "proto/pyroscope/push.pb.h"

namespace firetower::daemon {
namespace {

using net::HttpResponse;

// Codes of Connect's unknown, internal and data_loss: a server in trouble, or one profile that
// brings it there.
constexpr int kInternalError = 500;
constexpr int kMaxTriesOfInternal = 5;

// What Pyroscope's type ids begin with, a name as Prometheus' metrics have it: process_cpu for
// process_cpu:cpu:nanoseconds:cpu:nanoseconds.
std::string NameOf(const std::string& type_name) {
  const Result<profile::ProfileType> type = profile::ParseProfileType(type_name);
  if (type && type->kind != profile::TypeKind::kEvent) {
    const std::string id = type->PyroscopeId();
    return id.substr(0, id.find(':'));
  }
  std::string name = type ? type->FileToken() : type_name;
  std::ranges::replace_if(
      name, [](char c) { return (c < 'a' || c > 'z') && (c < '0' || c > '9'); }, '_');
  return name;
}

// As Pyroscope's own agents for Kubernetes group by default: a service is a namespace's container.
std::string ServiceOf(const store::CatalogRow& row) {
  if (!row.service_name.empty()) return row.service_name;
  return row.namespace_name == "-" ? row.container : row.namespace_name + "/" + row.container;
}

// A UUID of version 8, made of what is given, by RFC 9562.
std::string UuidOf(std::string_view identity) {
  std::array<uint8_t, 16> id = profile::StableId(identity);
  id[6] = static_cast<uint8_t>((id[6] & 0x0f) | 0x80);
  id[8] = static_cast<uint8_t>((id[8] & 0x3f) | 0x80);
  std::string text;
  for (size_t i = 0; i < id.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", id[i]);
  }
  return text;
}

// The samples' own labels stay out: Pyroscope makes a series of each set of them, and a thread's
// name would be one of thousands.
std::string WithoutLabels(const profile::Profile& from) {
  profile::ProfileBuilder builder(from.meta());
  const auto keep_mapping = [&](const profile::Mapping& mapping) {
    return profile::MovedMapping{builder.AddMapping(mapping), 0};
  };
  const auto drop_labels = [](std::vector<int64_t>&, std::vector<profile::Label>& labels) {
    labels.clear();
    return true;
  };
  profile::CopyInto(from, keep_mapping, drop_labels, builder);
  return profile::EncodePprof(std::move(builder).Build());
}

class PyroscopeProtocol : public PushProtocol {
 public:
  explicit PyroscopeProtocol(std::string cluster) : cluster_(std::move(cluster)) {}

  Status Add(const store::CatalogRow& row, std::string_view pprof) override {
    ASSIGN_OR_RETURN(const profile::Profile profile, profile::DecodePprof(pprof));
    proto::pyroscope::PushRequest request;
    proto::pyroscope::RawProfileSeries* series = request.add_series();
    for (const auto& [name, value] : LabelsOf(row)) {
      if (value.empty() || value == "-") continue;
      proto::pyroscope::LabelPair* label = series->add_labels();
      label->set_name(name.data(), name.size());
      label->set_value(ToValidUtf8(value));
    }
    proto::pyroscope::RawSample* sample = series->add_samples();
    sample->set_raw_profile(WithoutLabels(profile));
    sample->set_id(UuidOf(store::ProfileId(row)));
    // Encoded messages one behind the other are one message with the series of all.
    request.AppendToString(&body_);
    return OkStatus();
  }

  size_t bytes() const override { return body_.size(); }
  // The profiles in it are compressed.
  std::string TakeBody() override { return std::exchange(body_, {}); }
  const net::NamedValues& headers() const override { return headers_; }

  PushAnswer Judge(const HttpResponse& response, int tries, int64_t wall_ns) const override {
    if (response.status == 200) {
      if (response.Header("content-type").starts_with("application/proto")) return {};
      return {.verdict = PushVerdict::kRefused,
              .reason = "what answers is no Pyroscope: no application/proto"};
    }
    constexpr std::array kPassing = {408, 429, 502, 503, 504};
    const bool passes = std::ranges::find(kPassing, response.status) != kPassing.end() ||
                        (response.status == kInternalError && tries < kMaxTriesOfInternal);
    if (passes) return AskLater(response, wall_ns);
    constexpr std::array kOfContent = {400, 413, 422, kInternalError};
    return {.verdict = PushVerdict::kRefused,
            .blames_content = std::ranges::find(kOfContent, response.status) != kOfContent.end(),
            .reason = DescribeRefusal(response)};
  }

 private:
  std::map<std::string_view, std::string> LabelsOf(const store::CatalogRow& row) const {
    return {
        {"__name__", NameOf(row.type)},    {"cluster", cluster_},     {"container", row.container},
        {"namespace", row.namespace_name}, {"node", row.node},        {"pod", row.pod},
        {"service_name", ServiceOf(row)},  {"workload", row.workload}};
  }

  const std::string cluster_;
  const net::NamedValues headers_ = {{"Content-Type", "application/proto"},
                                     {"Connect-Protocol-Version", "1"}};
  std::string body_;
};

}  // namespace

std::unique_ptr<PushProtocol> NewPyroscopeProtocol(std::string cluster) {
  return std::make_unique<PyroscopeProtocol>(std::move(cluster));
}

}  // namespace firetower::daemon
