// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "store/retention.h"

namespace firetower::store::s3 {

// Rules by which a bucket deletes by itself what SweepByAge would, of one cluster: JSON as
// `aws s3api put-bucket-lifecycle-configuration --lifecycle-configuration` takes it. There is a
// rule for each class and kind of object, none for a class that is kept for ever, and one for what
// killed uploads left. S3 counts whole days from when an object was written: parts of a day count
// as one. `prefix`: of the store in its bucket, "" or ending in '/'; `cluster`: as in keys.
std::string LifecycleRulesJson(std::string_view prefix, std::string_view cluster,
                               const RetentionPolicy& policy);

}  // namespace firetower::store::s3
