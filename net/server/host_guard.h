// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/message.h"

namespace firetower::net {

// By which names a server may be asked that asks nobody who he is.
struct HostRule {
  // Beside IP addresses, localhost and this machine's name; "*" is every name.
  std::vector<std::string> allowed = {};
  // The end of the refusal: what allows one more name.
  std::string how_to_allow;
};

// Against DNS rebinding: a page of elsewhere may have its own name resolve to 127.0.0.1, and then
// reads from there as from its own server. Its requests carry that name as their Host. Whoever has
// the address, or a name that no stranger's DNS says, is let in; without a Host, too, which
// browsers always send. Immutable.
class HostGuard {
 public:
  // `url`: how the server is asked for certain. `own_name`: this machine's.
  HostGuard(HostRule rule, std::string url, std::string_view own_name,
            ErrorFormat error_format = PlainError);

  // A 421 that says what, why and what to do; none where the request may pass.
  std::optional<HttpResponse> Refusal(const HttpRequest& request) const;

  // `handler` behind a guard, where one is wanted: on a loopback address, where the address is the
  // only other guard, and wherever names are listed. `bound` and `url` are the server's.
  static HttpHandler Around(HttpHandler handler, HostRule rule, std::string_view bound,
                            std::string url, ErrorFormat error_format = PlainError);

 private:
  bool Knows(std::string_view host) const;

  std::vector<std::string> names_;  // lower case
  bool any_name_ = false;
  HostRule rule_;
  std::string url_;
  ErrorFormat error_format_;
};

}  // namespace firetower::net
