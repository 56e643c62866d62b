// SPDX-License-Identifier: Apache-2.0
#include "hub/config.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/suggest.h"

namespace firetower::hub {
namespace {

struct Flag {
  std::string_view name;
  std::string_view placeholder;
  std::string_view help;
  std::string_view allowed;
  bool (*set)(Config&, const std::string&);  // false: not allowed
};

// What may stand in an object's name (RFC 1123 subdomain), and nothing that would end it.
bool IsName(const std::string& text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= 253 && letter(text.front()) && letter(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return letter(c) || c == '-' || c == '.'; });
}

template <typename T, size_t kCount>
bool Choose(const std::array<std::string_view, kCount>& names, const std::string& text, T& into) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) return false;
  into = static_cast<T>(found - names.begin());
  return true;
}

bool SetPath(Config& config, const std::string& text) {
  config.kubeconfig_path = text;
  return true;
}
bool SetListen(Config& config, const std::string& text) {
  config.listen = text;
  return text.rfind(':') != std::string::npos;
}
bool SetNamespace(Config& config, const std::string& text) {
  config.lease_namespace = text;
  return IsName(text) && text.size() <= 63;
}
bool SetLease(Config& config, const std::string& text) {
  config.lease_name = text;
  return IsName(text);
}
bool SetIdentity(Config& config, const std::string& text) {
  config.identity = text;
  return !text.empty() && text.size() <= 253;
}
bool SetLevel(Config& config, const std::string& text) {
  constexpr std::array<std::string_view, 4> kNames = {"debug", "info", "warn", "error"};
  return Choose(kNames, text, config.log_level);
}
bool SetFormat(Config& config, const std::string& text) {
  constexpr std::array<std::string_view, 2> kNames = {"text", "json"};
  return Choose(kNames, text, config.log_format);
}

constexpr std::array<Flag, 7> kFlags = {{
    {"kubeconfig", "FILE",
     "How the API server is reached. Without one as a pod does: by its service account.",
     "a kubeconfig file", SetPath},
    {"listen", "ADDRESS", "Where /metrics, /livez and /readyz are served.",
     "HOST:PORT or [IPv6]:PORT", SetListen},
    {"lease-namespace", "NAME", "The namespace of the Lease; its pod's where there is one.",
     "a namespace's name", SetNamespace},
    {"lease-name", "NAME", "The Lease by which one of several leads.", "an object's name",
     SetLease},
    {"identity", "NAME",
     "What this one is called in the Lease; it must differ from every other one's. Made of the "
     "host name and chance where it is not given.",
     "at most 253 characters", SetIdentity},
    {"log-level", "LEVEL", "The least severe messages that are written.",
     "debug, info, warn or error", SetLevel},
    {"log-format", "FORMAT", "How a message is written, one line each.", "text or json", SetFormat},
}};

Error Unknown(std::string_view spelling) {
  std::vector<std::string_view> names = {"help", "version"};
  for (const Flag& flag : kFlags) names.push_back(flag.name);
  const std::string_view name =
      spelling.substr(std::min(spelling.find_first_not_of('-'), spelling.size()));
  return Error(ErrorCode::kInvalid,
               fmt::format("{}: no such flag{}", spelling, DidYouMean(std::string(name), names)));
}

}  // namespace

Result<CommandLine> ParseCommandLine(std::span<const std::string> arguments) {
  CommandLine line;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--help" || argument == "-h") {
      line.action = CommandAction::kHelp;
      return line;
    }
    if (argument == "--version") {
      line.action = CommandAction::kVersion;
      return line;
    }
    const size_t equals = argument.find('=');
    const std::string spelling = argument.substr(0, equals);
    const auto* flag = std::find_if(kFlags.begin(), kFlags.end(), [&](const Flag& one) {
      return spelling == fmt::format("--{}", one.name);
    });
    if (flag == kFlags.end()) return Unknown(spelling);
    if (equals == std::string::npos && i + 1 == arguments.size()) {
      return Error(ErrorCode::kInvalid,
                   fmt::format("{}: its value is missing; allowed: {}", spelling, flag->allowed));
    }
    const std::string value =
        equals == std::string::npos ? arguments[++i] : argument.substr(equals + 1);
    if (!flag->set(line.config, value)) {
      return Error(ErrorCode::kInvalid,
                   fmt::format("{}: '{}' is refused; allowed: {}", spelling, value, flag->allowed));
    }
  }
  return line;
}

std::string HelpText() {
  std::string text =
      "firetower-hub: tells what profiling policies do on all nodes, in their status.\n\n"
      "Run two of it; one leads, by a Lease. It needs no rights on any node.\n\n";
  for (const Flag& flag : kFlags)
    text += fmt::format("  --{} {}\n      {} Allowed: {}.\n", flag.name, flag.placeholder,
                        flag.help, flag.allowed);
  text += "  --help, --version\n";
  return text;
}

}  // namespace firetower::hub
