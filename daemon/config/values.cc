// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/values.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/units.h"
#include "daemon/push/target.h"
#include "store/store.h"
#include "symbolizer/debuginfod/client.h"

namespace firetower::daemon {
namespace {

Error Refused(std::string why) { return Error(ErrorCode::kInvalid, std::move(why)); }

std::optional<int64_t> WholeNumber(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Status InBounds(int64_t value, int64_t least, int64_t most) {
  if (value < least) return Refused("it is below the least value");
  if (value > most) return Refused("it is above the largest value");
  return OkStatus();
}

std::string Joined(const std::vector<std::string>& list) {
  std::string all;
  for (const std::string& one : list) all += (all.empty() ? "" : ",") + one;
  return all;
}

bool IsPowerOfTwo(int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

}  // namespace

ValueType SwitchValue(bool Config::*field) {
  return {"true or false",
          [field](Config& config, std::string_view text) -> Status {
            if (text != "true" && text != "false") return Refused("it is neither");
            config.*field = text == "true";
            return OkStatus();
          },
          [field](const Config& config) { return config.*field ? "true" : "false"; }};
}

ValueType IntegerValue(int Config::*field, int least, int most) {
  return {fmt::format("{} to {}", least, most),
          [=](Config& config, std::string_view text) -> Status {
            std::optional<int64_t> value = WholeNumber(text);
            if (!value) return Refused("it is not a whole number");
            RETURN_IF_ERROR(InBounds(*value, least, most));
            config.*field = static_cast<int>(*value);
            return OkStatus();
          },
          [field](const Config& config) { return fmt::format("{}", config.*field); }};
}

ValueType BytesValue(int64_t Config::*field, int64_t least, int64_t most, ByteShape shape) {
  bool power = shape == ByteShape::kPowerOfTwo;
  return {fmt::format("{}{} to {}", power ? "a power of two, " : "", FormatBytes(least),
                      FormatBytes(most)),
          [=](Config& config, std::string_view text) -> Status {
            ASSIGN_OR_RETURN(int64_t value, ParseBytes(text));
            RETURN_IF_ERROR(InBounds(value, least, most));
            if (power && !IsPowerOfTwo(value)) return Refused("it is not a power of two");
            config.*field = value;
            return OkStatus();
          },
          [field](const Config& config) { return FormatBytes(config.*field); }};
}

ValueType DurationValue(int64_t Config::*field, int64_t least_ns, int64_t most_ns) {
  return {fmt::format("{} to {}", FormatDuration(least_ns), FormatDuration(most_ns)),
          [=](Config& config, std::string_view text) -> Status {
            ASSIGN_OR_RETURN(int64_t value, ParseDurationNs(text));
            RETURN_IF_ERROR(InBounds(value, least_ns, most_ns));
            config.*field = value;
            return OkStatus();
          },
          [field](const Config& config) { return FormatDuration(config.*field); }};
}

ValueType PathValue(std::string Config::*field, std::string allowed) {
  return {std::move(allowed),
          [field](Config& config, std::string_view text) -> Status {
            config.*field = text;
            return OkStatus();
          },
          [field](const Config& config) { return config.*field; }};
}

ValueType AbsolutePathValue(std::string Config::*field) {
  return {"an absolute path",
          [field](Config& config, std::string_view text) -> Status {
            if (text.empty() || text[0] != '/') return Refused("it does not start with '/'");
            config.*field = text;
            return OkStatus();
          },
          [field](const Config& config) { return config.*field; }};
}

ValueType NameValue(std::string Config::*field, std::string allowed) {
  return {std::move(allowed),
          [field](Config& config, std::string_view text) -> Status {
            if (text.empty()) return Refused("it is empty");
            if (text.size() > 253) return Refused("it is longer than 253 characters");
            bool fits = std::all_of(text.begin(), text.end(), [](char c) {
              return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '.' || c == '_' || c == '-';
            });
            if (!fits) return Refused("it holds another character");
            // A folder of this name would lead out of the store.
            if (text == "." || text == "..") return Refused("it names a folder");
            config.*field = text;
            return OkStatus();
          },
          [field](const Config& config) { return config.*field; }};
}

ValueType StoreValue() {
  return {"file:/// and an absolute folder, or s3://BUCKET",
          [](Config& config, std::string_view text) -> Status {
            RETURN_IF_ERROR(store::CheckStoreUrl(text));
            config.store_url = text;
            return OkStatus();
          },
          [](const Config& config) { return config.store_url; }};
}

ValueType ListenValue() {
  return {"HOST:PORT or [IPv6]:PORT; an empty host is every address, port 0 any free one",
          [](Config& config, std::string_view text) -> Status {
            size_t colon = text.rfind(':');
            if (colon == std::string_view::npos) return Refused("the port is missing");
            std::string_view host = text.substr(0, colon);
            std::optional<int64_t> port = WholeNumber(text.substr(colon + 1));
            if (!port || *port < 0 || *port > 65535) return Refused("the port is not 0 to 65535");
            if (host.starts_with('[') && host.ends_with(']')) {
              host = host.substr(1, host.size() - 2);
            } else if (host.find(':') != std::string_view::npos) {
              return Refused("an IPv6 address needs brackets");
            }
            config.listen = {std::string(host), static_cast<uint16_t>(*port)};
            return OkStatus();
          },
          [](const Config& config) {
            bool ipv6 = config.listen.host.find(':') != std::string::npos;
            return fmt::format("{}{}{}:{}", ipv6 ? "[" : "", config.listen.host, ipv6 ? "]" : "",
                               config.listen.port);
          }};
}

ValueType HostNamesValue() {
  return {"host names without ports, apart by commas or spaces, * for any; empty for none more",
          [](Config& config, std::string_view text) -> Status {
            std::vector<std::string> names;
            while (!text.empty()) {
              const std::string_view one = text.substr(0, text.find_first_of(", "));
              text.remove_prefix(std::min(text.size(), one.size() + 1));
              if (one.empty()) continue;
              if (one != "*" && one.find_first_of(":/*@[]") != std::string_view::npos) {
                return Refused(fmt::format("'{}' is no host name", one));
              }
              names.emplace_back(one);
            }
            config.allowed_hosts = std::move(names);
            return OkStatus();
          },
          [](const Config& config) { return Joined(config.allowed_hosts); }};
}

ValueType SampleLabelsValue() {
  return {"any of thread, comm, cpu, separated by commas; empty for none",
          [](Config& config, std::string_view text) -> Status {
            SampleLabels labels{false, false, false};
            while (!text.empty()) {
              std::string_view one = text.substr(0, text.find(','));
              text.remove_prefix(std::min(text.size(), one.size() + 1));
              bool* field = one == "thread" ? &labels.thread
                            : one == "comm" ? &labels.comm
                            : one == "cpu"  ? &labels.cpu
                                            : nullptr;
              if (field == nullptr) return Refused(fmt::format("there is no label '{}'", one));
              *field = true;
            }
            config.sample_labels = labels;
            return OkStatus();
          },
          [](const Config& config) {
            std::string out;
            if (config.sample_labels.thread) out += ",thread";
            if (config.sample_labels.comm) out += ",comm";
            if (config.sample_labels.cpu) out += ",cpu";
            return out.empty() ? out : out.substr(1);
          }};
}

ValueType CgroupHierarchyValue() {
  return {"auto, v2 or v1:CONTROLLER (v1:cpu, v1:memory, v1:name=systemd)",
          [](Config& config, std::string_view text) -> Status {
            constexpr std::string_view kV1 = "v1:";
            if (text == "auto") {
              config.cgroup_hierarchy = {CgroupChoice::kAuto, ""};
            } else if (text == "v2") {
              config.cgroup_hierarchy = {CgroupChoice::kV2, ""};
            } else if (text.starts_with(kV1) && text.size() > kV1.size()) {
              config.cgroup_hierarchy = {CgroupChoice::kV1, std::string(text.substr(kV1.size()))};
            } else {
              return Refused("there is no such hierarchy");
            }
            return OkStatus();
          },
          [](const Config& config) -> std::string {
            switch (config.cgroup_hierarchy.choice) {
              case CgroupChoice::kAuto:
                return "auto";
              case CgroupChoice::kV2:
                return "v2";
              case CgroupChoice::kV1:
                return "v1:" + config.cgroup_hierarchy.controller;
            }
            return "auto";
          }};
}

ValueType SymbolsValue() {
  static constexpr std::string_view kNames[] = {"names", "full", "remote"};
  return {"names, full or remote",
          [](Config& config, std::string_view text) -> Status {
            const auto* found = std::find(std::begin(kNames), std::end(kNames), text);
            if (found == std::end(kNames)) return Refused("there is no such choice");
            config.symbols = static_cast<SymbolMode>(found - std::begin(kNames));
            return OkStatus();
          },
          [](const Config& config) {
            return std::string(kNames[static_cast<size_t>(config.symbols)]);
          }};
}

ValueType DebuginfodValue() {
  return {"http:// or https:// URLs, apart by commas or spaces; empty for none",
          [](Config& config, std::string_view text) -> Status {
            ASSIGN_OR_RETURN(config.debuginfod_urls, symbolizer::ParseDebuginfodUrls(text));
            return OkStatus();
          },
          [](const Config& config) { return Joined(config.debuginfod_urls); }};
}

ValueType PushValue() {
  return {fmt::format("at most {} URLs that begin with pyroscope+http://, pyroscope+https://, "
                      "otlp+http:// or otlp+https://, apart by commas or spaces; empty for none",
                      kMaxPushTargets),
          [](Config& config, std::string_view text) -> Status {
            ASSIGN_OR_RETURN(config.push_urls, SplitPushUrls(text));
            return OkStatus();
          },
          [](const Config& config) { return Joined(config.push_urls); }};
}

ValueType LogLevelValue() {
  static constexpr std::string_view kNames[] = {"debug", "info", "warn", "error"};
  return {"debug, info, warn or error",
          [](Config& config, std::string_view text) -> Status {
            const auto* found = std::find(std::begin(kNames), std::end(kNames), text);
            if (found == std::end(kNames)) return Refused("there is no such level");
            config.log_level = static_cast<LogLevel>(found - std::begin(kNames));
            return OkStatus();
          },
          [](const Config& config) {
            return std::string(kNames[static_cast<size_t>(config.log_level)]);
          }};
}

ValueType LogFormatValue() {
  return {
      "text or json",
      [](Config& config, std::string_view text) -> Status {
        if (text != "text" && text != "json") return Refused("there is no such format");
        config.log_format = text == "json" ? LogFormat::kJson : LogFormat::kText;
        return OkStatus();
      },
      [](const Config& config) { return config.log_format == LogFormat::kJson ? "json" : "text"; }};
}

}  // namespace firetower::daemon
