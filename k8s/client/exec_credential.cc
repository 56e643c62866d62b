// SPDX-License-Identifier: Apache-2.0
// Reads and writes ExecCredential objects. The only place of the client that builds a JSON tree: a
// plugin's output is small. nlohmann throws on wrong types, so types are checked first.
#include <fmt/core.h>

#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/json.h"
#include "base/text/base64.h"
#include "k8s/client/exec_info.h"
#include "k8s/client/exec_plugin.h"

namespace firetower::k8s {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kApiVersion = "client.authentication.k8s.io/v1";

std::string TextOf(const Json& map, const char* key) {
  const auto found = map.find(key);
  return found != map.end() && found->is_string() ? found->get<std::string>() : "";
}

Error Wrong(std::string_view why) {
  return Error(ErrorCode::kInvalid,
               fmt::format("its output is not an ExecCredential of {}: {}", kApiVersion, why));
}

bool Digits(std::string_view text, size_t from, size_t count) {
  for (size_t i = from; i < from + count; ++i) {
    if (i >= text.size() || text[i] < '0' || text[i] > '9') return false;
  }
  return true;
}

// "Z", "+02:00" or "-02:00" in seconds.
std::optional<int64_t> OffsetSeconds(std::string_view zone) {
  if (zone == "Z" || zone == "z") return 0;
  if (zone.size() != 6 || (zone[0] != '+' && zone[0] != '-') || zone[3] != ':' ||
      !Digits(zone, 1, 2) || !Digits(zone, 4, 2))
    return std::nullopt;
  const int64_t minutes =
      (zone[1] - '0') * 600 + (zone[2] - '0') * 60 + (zone[4] - '0') * 10 + (zone[5] - '0');
  return (zone[0] == '-' ? -60 : 60) * minutes;
}

}  // namespace

std::string ExecInfoJson(const ClientConfig& config) {
  std::string cluster;
  if (config.exec && config.exec->provide_cluster_info) {
    cluster = fmt::format(R"(,"cluster":{{"server":"{}","tls-server-name":"{}",)"
                          R"("insecure-skip-tls-verify":{}}})",
                          JsonEscape(config.ServerText()), JsonEscape(config.tls_server_name),
                          config.insecure_skip_tls_verify);
  }
  return fmt::format(
      R"({{"apiVersion":"{}","kind":"ExecCredential","spec":{{"interactive":false{}}}}})",
      kApiVersion, cluster);
}

Result<ExecCredential> ParseExecCredential(std::string_view json) {
  const Json root = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return Wrong("it is not a JSON object");
  if (TextOf(root, "kind") != "ExecCredential") return Wrong("its kind is another");
  if (TextOf(root, "apiVersion") != kApiVersion)
    return Wrong(fmt::format("its apiVersion is '{}'", TextOf(root, "apiVersion")));
  const auto status = root.find("status");
  if (status == root.end() || !status->is_object()) return Wrong("it has no status");

  ExecCredential credential;
  credential.token = TextOf(*status, "token");
  credential.certificate_pem = TextOf(*status, "clientCertificateData");
  credential.key_pem = TextOf(*status, "clientKeyData");
  if (credential.certificate_pem.empty() != credential.key_pem.empty())
    return Wrong("clientCertificateData and clientKeyData belong together: one is missing");
  if (credential.token.empty() && credential.certificate_pem.empty())
    return Wrong("its status has neither token nor clientCertificateData");
  const std::string expiry = TextOf(*status, "expirationTimestamp");
  if (expiry.empty()) return credential;
  credential.expires_wall_ns = ParseTimestampNs(expiry);
  if (!credential.expires_wall_ns)
    return Wrong(fmt::format("expirationTimestamp '{}' is not an RFC 3339 time", expiry));
  return credential;
}

std::optional<int64_t> ParseTimestampNs(std::string_view text) {
  // 2006-01-02T15:04:05[.fraction](Z|±hh:mm)
  if (text.size() < 20 || text.size() > 40) return std::nullopt;
  for (const size_t at : {0u, 2u, 5u, 8u, 11u, 14u, 17u}) {
    if (!Digits(text, at, 2)) return std::nullopt;
  }
  if (text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != 't') || text[13] != ':' ||
      text[16] != ':')
    return std::nullopt;
  std::tm parts{};
  const std::string fixed(text.substr(0, 19));
  if (std::sscanf(fixed.c_str(), "%4d-%2d-%2d%*c%2d:%2d:%2d", &parts.tm_year, &parts.tm_mon,
                  &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &parts.tm_sec) != 6)
    return std::nullopt;
  if (parts.tm_mon < 1 || parts.tm_mon > 12 || parts.tm_mday < 1 || parts.tm_mday > 31 ||
      parts.tm_hour > 23 || parts.tm_min > 59 || parts.tm_sec > 60 || parts.tm_year < 1970 ||
      parts.tm_year > 2200)  // 2262 is the last year that nanoseconds in 64 bits reach
    return std::nullopt;
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  std::string_view rest = text.substr(19);
  int64_t fraction_ns = 0;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    if (!Digits(rest, 0, 1)) return std::nullopt;
    for (int64_t unit = kNsPerSecond / 10; Digits(rest, 0, 1); unit /= 10, rest.remove_prefix(1))
      fraction_ns += unit * (rest[0] - '0');
  }
  const std::optional<int64_t> offset_s = OffsetSeconds(rest);
  if (!offset_s) return std::nullopt;
  return (::timegm(&parts) - *offset_s) * kNsPerSecond + fraction_ns;
}

}  // namespace firetower::k8s
