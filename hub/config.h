// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "store/retention.h"

namespace firetower::hub {

// The settings of firetower-hub. These defaults are overridden by flags.
struct Config {
  std::string kubeconfig_path;  // empty: as a pod does
  std::string trace_url;        // a template for pages of traces; empty: none
  std::string signature_file;   // of further signatures for diagnoses; empty: none
  std::string listen = "127.0.0.1:7080";
  std::string tls_cert_file;  // empty, as the key: plain HTTP
  std::string tls_private_key_file;
  std::string lease_namespace;  // empty: the service account's, else the kubeconfig's, else default
  std::string lease_name = "firetower-hub";
  std::string identity;   // empty: made up at start
  std::string store_url;  // empty: profiles are not this hub's business
  store::RetentionPolicy retention;
  bool rollout_events = true;          // Events on Deployments whose roll-out made functions slower
  std::string cluster = "standalone";  // whose profiles these are: firetowerd's default
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kText;
};

enum class CommandAction { kRun, kHelp, kVersion, kPrintLifecycleRules };

struct CommandLine {
  CommandAction action = CommandAction::kRun;
  Config config;
};

// Parses flags "--name value" or "--name=value"; each may be given once. An error says what is
// wrong and what is allowed, for the person who started the program.
Result<CommandLine> ParseCommandLine(std::span<const std::string> arguments);
std::string HelpText();
// Returns the table of flags in docs/reference/hub.md.
std::string OptionsMarkdown();

}  // namespace firetower::hub
