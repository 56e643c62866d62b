// SPDX-License-Identifier: Apache-2.0
#include "hub/options.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/units.h"
#include "service/options/tls.h"
#include "service/options/values.h"
#include "store/store.h"

namespace firetower::hub {
namespace {

using service::LogFormatValue;
using service::LogLevelValue;
using service::NameValue;
using service::Option;
using service::Refused;
using service::TextValue;
using service::ValueType;

constexpr int64_t kHourNs = 3600 * kNsPerSecond;
constexpr int64_t kDayNs = 24 * kHourNs;
constexpr int64_t kMostDays = 3650;

// Accepts object names (RFC 1123 subdomain), and nothing that would end a
// name.
bool IsName(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && letter(text.front()) && letter(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return letter(c) || c == '-' || c == '.'; });
}

// Value that names an object of Kubernetes.
ValueType ObjectNameValue(std::string& field, size_t most, std::string allowed) {
  return TextValue(field, std::move(allowed), [most](std::string_view text) -> Status {
    if (!IsName(text)) return Refused("it is no such name");
    if (text.size() > most) return Refused(fmt::format("it is longer than {}", most));
    return OkStatus();
  });
}

Status CheckIdentity(std::string_view text) {
  return text.empty() || text.size() > 253 ? Refused("it is empty or longer") : OkStatus();
}

Status CheckListen(std::string_view text) {
  return text.rfind(':') == std::string_view::npos ? Refused("the port is missing") : OkStatus();
}

// Whole seconds.
ValueType AgeValue(int64_t& seconds) {
  return {fmt::format("1h to {}d, 0 for ever", kMostDays),
          [&seconds](std::string_view text) -> Status {
            ASSIGN_OR_RETURN(const int64_t age_ns, ParseDurationNs(text));
            if (age_ns != 0 && (age_ns < kHourNs || age_ns > kMostDays * kDayNs))
              return Refused("it is out of bounds");
            seconds = age_ns / kNsPerSecond;
            return OkStatus();
          },
          [&seconds] { return FormatDuration(seconds * kNsPerSecond); }};
}

Option Row(std::string_view name, std::string_view placeholder, std::string_view help,
           ValueType value, std::string_view default_text = {}) {
  return {.name = name,
          .group = "",
          .placeholder = placeholder,
          .help = help,
          .value = std::move(value),
          .default_text = default_text};
}

void AddStorage(Config& config, std::vector<Option>& rows) {
  rows.push_back(Row("store", "URL",
                     "The store of the agents' profiles: the same as firetowerd's --store. The hub "
                     "answers queries over it, writes catalogs and deletes expired profiles. "
                     "Without it the hub does not use profiles.",
                     TextValue(config.store_url, "file:///DIR, s3://BUCKET or s3://BUCKET/PREFIX",
                               store::CheckStoreUrl)));
  rows.back().may_hold_secret = true;
  rows.push_back(Row("retention-short", "DURATION",
                     "Profiles of the retention class short are deleted at this age.",
                     AgeValue(config.retention.short_seconds)));
  rows.push_back(Row("retention-standard", "DURATION",
                     "The same for the class standard, which is the default of policies.",
                     AgeValue(config.retention.standard_seconds)));
  rows.push_back(Row("retention-long", "DURATION", "The same for the class long.",
                     AgeValue(config.retention.long_seconds)));
  rows.push_back(Row("rollout-events", "BOOL",
                     "Whether the hub writes an Event on a Deployment when functions take more CPU "
                     "since a roll-out, beyond chance. Metrics and the log tell it either way.",
                     service::SwitchValue(config.rollout_events)));
  rows.push_back(Row("cluster", "NAME",
                     "The cluster whose profiles the hub serves, catalogs and deletes: the same as "
                     "firetowerd's --cluster. Profiles of other clusters are not touched.",
                     NameValue(config.cluster)));
}

}  // namespace

std::vector<Option> ConfigOptions(Config& config) {
  std::vector<Option> rows;
  rows.push_back(
      Row("kubeconfig", "FILE",
          "How to reach the API server. Without it the hub uses its pod's service account.",
          TextValue(config.kubeconfig_path, "a kubeconfig file")));
  rows.push_back(Row("listen", "ADDRESS", "The address for queries, /metrics, /livez and /readyz.",
                     TextValue(config.listen, "HOST:PORT or [IPv6]:PORT", CheckListen)));
  service::AddTlsOptions("", config.tls_cert_file, config.tls_private_key_file, rows);
  AddStorage(config, rows);
  rows.push_back(Row("signatures", "FILE",
                     "Further signatures for diagnoses (JSON), read again for each one; see "
                     "docs/diagnosis.md.",
                     service::SignatureFileValue(config.signature_file)));
  rows.push_back(Row("trace-url", "URL",
                     "Where the pages lead for a trace, as https://traces.example/{trace_id}.",
                     service::TraceUrlValue(config.trace_url)));
  rows.push_back(Row("lease-namespace", "NAME",
                     "The namespace of the Lease, of the agents' pods, and of this pod.",
                     ObjectNameValue(config.lease_namespace, 63, "a namespace's name"),
                     "the service account's"));
  rows.push_back(Row("lease-name", "NAME", "The Lease that decides which hub leads.",
                     ObjectNameValue(config.lease_name, 253, "an object's name")));
  rows.push_back(Row("identity", "NAME", "This hub's name in the Lease; it must be unique.",
                     TextValue(config.identity, "at most 253 characters", CheckIdentity),
                     "the host name and a random suffix"));
  rows.push_back(Row("log-level", "LEVEL", "The lowest severity that is logged.",
                     LogLevelValue(config.log_level)));
  rows.push_back(
      Row("log-format", "FORMAT", "The format of log lines.", LogFormatValue(config.log_format)));
  return rows;
}

}  // namespace firetower::hub
