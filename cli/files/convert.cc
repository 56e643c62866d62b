// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "cli/commands/commands.h"
#include "cli/commands/common.h"
#include "cli/commands/output.h"
#include "cli/files/input.h"

namespace firetower::cli {

Outcome<int> RunConvert(const LocalContext& context) {
  const std::vector<std::string>& files = context.args.positionals;
  if (files.empty()) {
    return BadFlag(context, Error(ErrorCode::kInvalid, "'convert' needs a file to read"));
  }
  Outcome<ProfileOutput> output = PickOutput(context, files.size() > 1 ? files[1] : "-", "format");
  if (!output) return output.failure();
  Outcome<profile::Profile> profile = ReadProfileFile(context, files[0]);
  if (!profile) return profile.failure();
  Outcome<uint32_t> value_index = PickSampleType(context, *profile);
  if (!value_index) return value_index.failure();
  return WriteProfile(*output, *profile,
                      {.value_index = *value_index, .annotate = context.args.Has("annotate")});
}

}  // namespace firetower::cli
