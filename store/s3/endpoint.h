// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "store/s3/config.h"

namespace firetower::store::s3 {

// Destination of a request.
struct Target {
  std::string scheme = {};        // "https://"
  std::string host = {};          // with the port, as in Host
  std::string encoded_path = {};  // "/key", or "/bucket/key"

  std::string Url() const { return scheme + host + encoded_path; }
};

// The region whose endpoint and scope are used while the real one is unknown. Most other servers
// use this name too.
inline constexpr std::string_view kFirstRegion = "us-east-1";

// `key`: of an object, with the store's prefix; "" for the bucket.
Target TargetOf(const Config& config, std::string_view region, std::string_view key);

}  // namespace firetower::store::s3
