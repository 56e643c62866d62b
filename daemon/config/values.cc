// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/values.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

#include "daemon/push/target.h"
#include "service/options/values.h"
#include "store/store.h"
#include "symbolizer/debuginfod/client.h"

namespace firetower::daemon {
namespace {

using service::Refused;
using service::WholeNumber;

std::string Joined(const std::vector<std::string>& list) {
  std::string all;
  for (const std::string& one : list) all += (all.empty() ? "" : ",") + one;
  return all;
}

}  // namespace

ValueType StoreValue(std::string& url) {
  return service::TextValue(url, "file:/// and an absolute folder, or s3://BUCKET",
                            store::CheckStoreUrl);
}

ValueType ListenValue(ListenAddress& listen) {
  return {"HOST:PORT or [IPv6]:PORT; an empty host is every address, port 0 any free one",
          [&listen](std::string_view text) -> Status {
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
            listen = {std::string(host), static_cast<uint16_t>(*port)};
            return OkStatus();
          },
          [&listen] {
            bool ipv6 = listen.host.find(':') != std::string::npos;
            return fmt::format("{}{}{}:{}", ipv6 ? "[" : "", listen.host, ipv6 ? "]" : "",
                               listen.port);
          }};
}

ValueType HostNamesValue(std::vector<std::string>& field) {
  return {"host names without ports, apart by commas or spaces, * for any; empty for none more",
          [&field](std::string_view text) -> Status {
            std::vector<std::string> names;
            while (!text.empty()) {
              const std::string_view one = text.substr(0, text.find_first_of(", "));
              text.remove_prefix(std::min(text.size(), one.size() + 1));
              if (one.empty()) continue;
              if (one != "*" && one.find_first_of(":/*@[]") != std::string_view::npos) {
                return Refused(fmt::format("'{}' is not a host name", one));
              }
              names.emplace_back(one);
            }
            field = std::move(names);
            return OkStatus();
          },
          [&field] { return Joined(field); }};
}

ValueType SampleLabelsValue(SampleLabels& choice) {
  return {"any of thread, comm, cpu, trace, separated by commas; empty for none",
          [&choice](std::string_view text) -> Status {
            SampleLabels labels{false, false, false, false};
            while (!text.empty()) {
              std::string_view one = text.substr(0, text.find(','));
              text.remove_prefix(std::min(text.size(), one.size() + 1));
              bool* field = one == "thread"  ? &labels.thread
                            : one == "comm"  ? &labels.comm
                            : one == "cpu"   ? &labels.cpu
                            : one == "trace" ? &labels.trace
                                             : nullptr;
              if (field == nullptr) return Refused(fmt::format("there is no label '{}'", one));
              *field = true;
            }
            choice = labels;
            return OkStatus();
          },
          [&choice] {
            std::string out;
            if (choice.thread) out += ",thread";
            if (choice.comm) out += ",comm";
            if (choice.cpu) out += ",cpu";
            if (choice.trace) out += ",trace";
            return out.empty() ? out : out.substr(1);
          }};
}

ValueType CgroupHierarchyValue(CgroupHierarchy& hierarchy) {
  return {"auto, v2 or v1:CONTROLLER (v1:cpu, v1:memory, v1:name=systemd)",
          [&hierarchy](std::string_view text) -> Status {
            constexpr std::string_view kV1 = "v1:";
            if (text == "auto") {
              hierarchy = {CgroupChoice::kAuto, ""};
            } else if (text == "v2") {
              hierarchy = {CgroupChoice::kV2, ""};
            } else if (text.starts_with(kV1) && text.size() > kV1.size()) {
              hierarchy = {CgroupChoice::kV1, std::string(text.substr(kV1.size()))};
            } else {
              return Refused("there is no such hierarchy");
            }
            return OkStatus();
          },
          [&hierarchy]() -> std::string {
            switch (hierarchy.choice) {
              case CgroupChoice::kAuto:
                return "auto";
              case CgroupChoice::kV2:
                return "v2";
              case CgroupChoice::kV1:
                return "v1:" + hierarchy.controller;
            }
            return "auto";
          }};
}

ValueType SymbolsValue(SymbolMode& mode) {
  return service::ChoiceValue(mode, std::array<std::string_view, 3>{"names", "full", "remote"},
                              "names, full or remote", "there is no such choice");
}

ValueType DebuginfodValue(std::vector<std::string>& urls) {
  return {"http:// or https:// URLs, apart by commas or spaces; empty for none",
          [&urls](std::string_view text) -> Status {
            ASSIGN_OR_RETURN(urls, symbolizer::ParseDebuginfodUrls(text));
            return OkStatus();
          },
          [&urls] { return Joined(urls); }};
}

ValueType PushValue(std::vector<std::string>& urls) {
  return {fmt::format("at most {} URLs that begin with pyroscope+http://, pyroscope+https://, "
                      "otlp+http:// or otlp+https://, apart by commas or spaces; empty for none",
                      kMaxPushTargets),
          [&urls](std::string_view text) -> Status {
            ASSIGN_OR_RETURN(urls, SplitPushUrls(text));
            return OkStatus();
          },
          [&urls] { return Joined(urls); }};
}

}  // namespace firetower::daemon
