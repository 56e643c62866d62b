// SPDX-License-Identifier: Apache-2.0
// Credentials from a program (Kubernetes, "Authenticating: client-go credential plugins"). It gets
// the request in KUBERNETES_EXEC_INFO and prints an ExecCredential on standard output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "k8s/client/config.h"

namespace firetower::k8s {

struct ExecCredential {
  std::string token;
  std::string certificate_pem;
  std::string key_pem;
  std::optional<int64_t> expires_wall_ns;  // good until the server says 401 when there is none
};

// Runs the plugin of `config`, which must have one, without a terminal and with an empty standard
// input. Waits at most `timeout_ns`, or until `cancel_fd` (-1: none) is readable, and then kills
// it. The error has at most 1 KiB of its standard error.
Result<ExecCredential> RunExecPlugin(const ClientConfig& config, int cancel_fd, int64_t timeout_ns);

// The ExecCredential that a plugin printed.
Result<ExecCredential> ParseExecCredential(std::string_view json);

// RFC 3339 in UTC or with an offset, as Kubernetes writes times; nanoseconds since the epoch.
std::optional<int64_t> ParseTimestampNs(std::string_view text);

}  // namespace firetower::k8s
