// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "net/client/http_client.h"
#include "store/s3/messages.h"

namespace firetower::store::s3 {

// An answer that is not the expected one, with its meaning.
struct Refusal {
  int status = 0;
  ErrorBody body = {};
  bool has_body = false;  // whatever is in it

  bool Is(std::string_view code) const { return body.code == code; }
  bool IsRetryable() const;
  // The error's code says what a caller can do; its message says what happened, why and what to do.
  // `what`: "PUT v1/…/x.zip"; `source`: where the credentials come from.
  Error ToError(std::string_view what, std::string_view source) const;
};

Refusal RefusalOf(const net::HttpResponse& response);

}  // namespace firetower::store::s3
