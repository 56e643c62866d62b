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
  // What is known of who asks without a question to anybody: an error where Identify would refuse,
  // true of who is known, or was lately, and false where only Identify can tell. Never waits.
  virtual Result<bool> Recall(const net::HttpRequest&) const { return true; }
  // Whether it is known who asks; comes before Narrow, and may take a question to a server.
  // kPermission (answered as 401): it is not.
  virtual Status Identify(const net::HttpRequest&) const { return OkStatus(); }
  // The selector to answer with: `asked`, or `asked` narrowed to what the caller may see.
  // kPermission (answered as 403) when that is nothing; the message says which right is missing.
  virtual Result<profile::Selector> Narrow(const net::HttpRequest& request,
                                           const profile::Selector& asked) const = 0;
  // Whether the caller may read /metrics, where that takes a right. kPermission: no.
  virtual Status ReadMetrics(const net::HttpRequest&) const { return OkStatus(); }
};

// For the standalone daemon, whose loopback address is its guard.
class AllowAll : public Authorizer {
 public:
  Result<profile::Selector> Narrow(const net::HttpRequest&,
                                   const profile::Selector& asked) const override {
    return asked;
  }
};

}  // namespace firetower::query
