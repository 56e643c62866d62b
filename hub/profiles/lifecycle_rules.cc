// SPDX-License-Identifier: Apache-2.0
#include "hub/profiles/lifecycle_rules.h"

#include "store/key.h"
#include "store/s3/config.h"
#include "store/s3/lifecycle.h"

namespace firetower::hub {

Result<std::string> LifecycleRules(const Config& config) {
  if (!config.store_url.starts_with("s3://")) {
    return Error(ErrorCode::kInvalid,
                 "--print-lifecycle-rules: only buckets have such rules; set --store to "
                 "s3://BUCKET or s3://BUCKET/PREFIX");
  }
  ASSIGN_OR_RETURN(const store::s3::Config bucket,
                   store::s3::ParseUrl(config.store_url, store::s3::SystemEnvironment()));
  return store::s3::LifecycleRulesJson(bucket.prefix, store::ToKeyComponent(config.cluster),
                                       config.retention);
}

}  // namespace firetower::hub
