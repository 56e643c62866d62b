// SPDX-License-Identifier: Apache-2.0
#include "store/s3/endpoint.h"

#include <fmt/core.h>

#include "store/s3/sign/uri.h"

namespace firetower::store::s3 {

Target TargetOf(const Config& config, std::string_view region, std::string_view key) {
  Target target{.scheme = "https://"};
  if (config.endpoint.empty()) {
    target.host =
        fmt::format("s3.{}.amazonaws.com{}", region, region.starts_with("cn-") ? ".cn" : "");
  } else {
    const size_t host = config.endpoint.find("://") + 3;
    target.scheme = config.endpoint.substr(0, host);
    target.host = config.endpoint.substr(host);
  }
  if (config.path_style) {
    target.encoded_path = '/' + EncodeUriComponent(config.bucket);
  } else {
    target.host = config.bucket + '.' + target.host;
  }
  if (!key.empty() || !config.path_style) target.encoded_path += '/' + EncodeUriPath(key);
  return target;
}

}  // namespace firetower::store::s3
