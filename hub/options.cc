// SPDX-License-Identifier: Apache-2.0
#include "hub/options.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.h"
#include "base/units.h"
#include "store/store.h"

namespace firetower::hub {
namespace {

constexpr int64_t kHourNs = 3600 * kNsPerSecond;
constexpr int64_t kDayNs = 24 * kHourNs;
constexpr int64_t kMostDays = 3650;

Error Refused(std::string why) { return {ErrorCode::kInvalid, std::move(why)}; }

// The typed part of an Option.
struct ValueType {
  std::string allowed;
  std::function<Status(Config&, const std::string& text)> set;
};

// Accepts object names (RFC 1123 subdomain), and nothing that would end a
// name.
bool IsName(const std::string& text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && letter(text.front()) && letter(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return letter(c) || c == '-' || c == '.'; });
}

ValueType NameValue(std::string Config::*field, size_t most, std::string allowed) {
  return {std::move(allowed), [=](Config& config, const std::string& text) -> Status {
            if (!IsName(text)) return Refused("it is no such name");
            if (text.size() > most) return Refused(fmt::format("it is longer than {}", most));
            config.*field = text;
            return OkStatus();
          }};
}

ValueType IdentityValue() {
  return {"at most 253 characters", [](Config& config, const std::string& text) -> Status {
            if (text.empty() || text.size() > 253) return Refused("it is empty or longer");
            config.identity = text;
            return OkStatus();
          }};
}

ValueType PathValue() {
  return {"a kubeconfig file", [](Config& config, const std::string& text) -> Status {
            config.kubeconfig_path = text;
            return OkStatus();
          }};
}

ValueType ListenValue() {
  return {"HOST:PORT or [IPv6]:PORT", [](Config& config, const std::string& text) -> Status {
            if (text.rfind(':') == std::string::npos) return Refused("the port is missing");
            config.listen = text;
            return OkStatus();
          }};
}

ValueType StoreValue() {
  return {"file:///DIR, s3://BUCKET or s3://BUCKET/PREFIX",
          [](Config& config, const std::string& text) -> Status {
            RETURN_IF_ERROR(store::CheckStoreUrl(text));
            config.store_url = text;
            return OkStatus();
          }};
}

// Accepts the same text as --cluster of firetowerd; keys have it in lower case.
ValueType ClusterValue() {
  return {"letters, digits, '.', '_' and '-', at most 253 characters",
          [](Config& config, const std::string& text) -> Status {
            const bool fits = std::ranges::all_of(text, [](char c) {
              return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '.' || c == '_' || c == '-';
            });
            if (text.empty() || text.size() > 253 || !fits)
              return Refused("it is empty, longer, or holds another character");
            config.cluster = text;
            return OkStatus();
          }};
}

// Whole seconds.
ValueType AgeValue(int64_t store::RetentionPolicy::*seconds) {
  return {fmt::format("1h to {}d, 0 for ever", kMostDays),
          [=](Config& config, const std::string& text) -> Status {
            ASSIGN_OR_RETURN(const int64_t age_ns, ParseDurationNs(text));
            if (age_ns != 0 && (age_ns < kHourNs || age_ns > kMostDays * kDayNs))
              return Refused("it is out of bounds");
            config.retention.*seconds = age_ns / kNsPerSecond;
            return OkStatus();
          }};
}

// `names`: of the values of an enum, in its order.
template <typename T, size_t kCount>
ValueType ChoiceValue(T Config::*field, const std::array<std::string_view, kCount>& names,
                      std::string allowed) {
  return {std::move(allowed), [=](Config& config, const std::string& text) -> Status {
            const auto found = std::find(names.begin(), names.end(), text);
            if (found == names.end()) return Refused("it is none of them");
            config.*field = static_cast<T>(found - names.begin());
            return OkStatus();
          }};
}

Option Row(std::string_view name, std::string_view placeholder, std::string_view help,
           ValueType type, std::string default_text = "") {
  return {name,
          placeholder,
          help,
          std::move(type.allowed),
          std::move(type.set),
          std::move(default_text)};
}

void AddStorage(std::vector<Option>& rows) {
  const Config defaults;
  const auto age = [](int64_t seconds) { return FormatDuration(seconds * kNsPerSecond); };
  rows.push_back(Row("store", "URL",
                     "Where the agents' profiles are: the same as firetowerd's --store. The hub "
                     "answers questions about them, writes catalogs and deletes what is too old. "
                     "Without it the hub has nothing to do with profiles.",
                     StoreValue(), "none"));
  rows.push_back(
      Row("retention-short", "DURATION", "Profiles of the class short are deleted at this age.",
          AgeValue(&store::RetentionPolicy::short_seconds), age(defaults.retention.short_seconds)));
  rows.push_back(Row("retention-standard", "DURATION",
                     "The same of the class standard, which is that of policies that say nothing.",
                     AgeValue(&store::RetentionPolicy::standard_seconds),
                     age(defaults.retention.standard_seconds)));
  rows.push_back(Row("retention-long", "DURATION", "The same of the class long.",
                     AgeValue(&store::RetentionPolicy::long_seconds),
                     age(defaults.retention.long_seconds)));
  rows.push_back(Row("cluster", "NAME",
                     "Whose profiles of the store the hub answers about, catalogs and deletes: the "
                     "same as firetowerd's --cluster. Those of other clusters are left alone.",
                     ClusterValue(), defaults.cluster));
}

}  // namespace

std::vector<Option> ConfigOptions() {
  static constexpr std::array<std::string_view, 4> kLevels = {"debug", "info", "warn", "error"};
  static constexpr std::array<std::string_view, 2> kFormats = {"text", "json"};
  const Config defaults;
  std::vector<Option> rows;
  rows.push_back(Row("kubeconfig", "FILE",
                     "How the API server is reached. Without one as a pod does: by its service "
                     "account.",
                     PathValue(), "none"));
  rows.push_back(Row("listen", "ADDRESS",
                     "Where questions, /metrics, /livez and /readyz are answered.", ListenValue(),
                     defaults.listen));
  AddStorage(rows);
  rows.push_back(Row("lease-namespace", "NAME",
                     "The namespace of the Lease, of the agents' pods, and of this one.",
                     NameValue(&Config::lease_namespace, 63, "a namespace's name"),
                     "the service account's"));
  rows.push_back(Row("lease-name", "NAME", "The Lease by which one of several leads.",
                     NameValue(&Config::lease_name, 253, "an object's name"), defaults.lease_name));
  rows.push_back(Row("identity", "NAME",
                     "What this one is called in the Lease; it must differ from every other one's.",
                     IdentityValue(), "the host name and chance"));
  rows.push_back(Row("log-level", "LEVEL", "The least severe messages that are written.",
                     ChoiceValue(&Config::log_level, kLevels, "debug, info, warn or error"),
                     "info"));
  rows.push_back(Row("log-format", "FORMAT", "How a message is written, one line each.",
                     ChoiceValue(&Config::log_format, kFormats, "text or json"), "text"));
  return rows;
}

}  // namespace firetower::hub
