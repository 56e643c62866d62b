// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "k8s/client/config.h"
#include "k8s/client/exec_plugin.h"

namespace firetower::k8s {

// Credentials of one request; unused fields are empty.
struct Identity {
  std::string bearer_token;
  std::string certificate_pem;
  std::string key_pem;

  bool operator==(const Identity&) const = default;
};

// The current identity. Token and certificate files are read at every request: a projected token
// changes every hour (Kubernetes, "Configure Service Accounts for Pods"), and requests are rare.
// The output of a plugin is kept until shortly before it expires. If a file cannot be read any
// more, its last contents are used until the server refuses them.
//
// Belongs to one thread. Holds one identity.
class Credentials {
 public:
  // `config` and `clock` outlive this; `cancel_fd` ends a wait for a plugin (-1: nothing does).
  Credentials(const ClientConfig& config, const Clock& clock, int cancel_fd = -1)
      : config_(config), clock_(clock), cancel_fd_(cancel_fd) {}

  // Errors are those of the file or the plugin, only while none was ever read.
  Result<Identity> Get();
  // The server answered 401: a plugin is run again by the next Get. Whether trying again may help.
  bool Refused();

 private:
  Result<Identity> Read();
  Status AddPlugins(Identity& identity);

  const ClientConfig& config_;
  const Clock& clock_;
  const int cancel_fd_;
  std::optional<Identity> last_;
  std::optional<ExecCredential> plugin_;
};

}  // namespace firetower::k8s
