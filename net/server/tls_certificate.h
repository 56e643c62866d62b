// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"

namespace boost::asio::ssl {
class context;
}

namespace firetower::net {

// PEM files; both may be the same one, as Kubernetes writes a pod's certificate.
struct TlsFiles {
  std::string certificate;  // of the server, then those that lead to its issuer
  std::string private_key;  // without a passphrase
};

struct TlsCertificateState {
  int64_t not_after_seconds = 0;  // Unix time at which the certificate in use expires
  uint64_t refused = 0;           // new pairs that could not be used, since the start
};

// The certificate that a server shows, which may be renewed while it runs. Whatever replaces the
// files (a rename, another target of a symbolic link as Kubernetes does it), their content decides.
// Belongs to one thread; a context stays valid for the connections that began with it.
class TlsCertificate {
 public:
  // kInvalid names the files, and what is wrong with them.
  static Result<TlsCertificate> Load(TlsFiles files);

  // Reads the files again, which takes two small reads. Returns whether `state` has changed: a new
  // pair is in use, or one was refused, which is logged, and the old one stays.
  bool Reload();

  const std::shared_ptr<boost::asio::ssl::context>& context() const { return context_; }
  const TlsCertificateState& state() const { return state_; }

 private:
  explicit TlsCertificate(TlsFiles files) : files_(std::move(files)) {}
  Status Use(const std::string& certificates, const std::string& key);

  TlsFiles files_;
  uint64_t seen_ = 0;  // hash of what was read last
  std::shared_ptr<boost::asio::ssl::context> context_;
  TlsCertificateState state_;
};

}  // namespace firetower::net
