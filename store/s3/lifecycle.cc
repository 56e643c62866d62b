// SPDX-License-Identifier: Apache-2.0
#include "store/s3/lifecycle.h"

#include <fmt/core.h>

#include <cstdint>
#include <string_view>

#include "base/json.h"
#include "store/key.h"

namespace firetower::store::s3 {
namespace {

// No upload is under way for so long: it was killed.
constexpr int kUploadDays = 7;

struct Kind {
  std::string_view name;
  std::string_view folder;
  int64_t extra_days;
};
constexpr Kind kKinds[] = {{"bundle", "bundle/", 0},
                           {"rollup", "rollup-", 0},
                           {"capture", "capture/", 0},
                           {"catalog", "catalog/", 1}};

std::string Rule(std::string_view id, std::string_view prefix, std::string_view action) {
  return fmt::format(
      "    {{\n"
      "      \"ID\": \"{}\",\n"
      "      \"Status\": \"Enabled\",\n"
      "      \"Filter\": {{\"Prefix\": \"{}\"}},\n"
      "      {}\n"
      "    }}",
      JsonEscape(id), JsonEscape(prefix), action);
}

}  // namespace

std::string LifecycleRulesJson(std::string_view prefix, std::string_view cluster,
                               const RetentionPolicy& policy) {
  std::string rules;
  for (const RetentionClass retention : kRetentionClasses) {
    const int64_t keep_s = policy.SecondsOf(retention);
    if (keep_s == 0) continue;
    const int64_t days = (keep_s + kSecondsPerDay - 1) / kSecondsPerDay;
    const std::string_view name = RetentionClassName(retention);
    for (const Kind& kind : kKinds) {
      rules += Rule(fmt::format("firetower-{}-{}-{}", cluster, name, kind.name),
                    fmt::format("{}v1/{}/{}/{}", prefix, name, cluster, kind.folder),
                    fmt::format("\"Expiration\": {{\"Days\": {}}}", days + kind.extra_days));
      rules += ",\n";
    }
  }
  rules += Rule("firetower-uploads", fmt::format("{}v1/", prefix),
                fmt::format("\"AbortIncompleteMultipartUpload\": {{\"DaysAfterInitiation\": {}}}",
                            kUploadDays));
  return fmt::format("{{\n  \"Rules\": [\n{}\n  ]\n}}\n", rules);
}

}  // namespace firetower::store::s3
