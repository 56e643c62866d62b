// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "net/message.h"
#include "profile/selector.h"

namespace firetower::query {

// Decides which profiles a request may read. Called from several threads at once.
class Authorizer {
 public:
  virtual ~Authorizer() = default;
  // Answers from memory, without asking a server: an error if Identify would refuse the caller,
  // true if the caller is known or was known recently, false if only Identify can tell. Never
  // blocks.
  virtual Result<bool> Recall(const net::HttpRequest&) const { return true; }
  // Identifies the caller; runs before Narrow, and may ask a server. kPermission (answered as 401):
  // the caller is not known.
  virtual Status Identify(const net::HttpRequest&) const { return OkStatus(); }
  // Returns the selector to answer with: `asked`, or `asked` narrowed to what the caller may read.
  // kPermission (answered as 403): the caller may read nothing; the message names the missing
  // right.
  virtual Result<profile::Selector> Narrow(const net::HttpRequest& request,
                                           const profile::Selector& asked) const = 0;
  // Whether the caller may read /metrics, where that takes a right. kPermission: no.
  virtual Status ReadMetrics(const net::HttpRequest&) const { return OkStatus(); }
};

// Authorizer of the standalone daemon, which is protected by its loopback address.
class AllowAll : public Authorizer {
 public:
  Result<profile::Selector> Narrow(const net::HttpRequest&,
                                   const profile::Selector& asked) const override {
    return asked;
  }
};

}  // namespace firetower::query
