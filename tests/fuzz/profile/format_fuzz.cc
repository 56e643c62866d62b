// SPDX-License-Identifier: Apache-2.0
// Files of any format, told apart by their content, into one sum and into a difference.
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "profile/diff.h"
#include "profile/format.h"
#include "profile/merge.h"

namespace firetower::profile {
namespace {

void TryFile(std::string_view bytes) {
  const DecodeOptions options{.limits = {.max_bytes = 1 << 20, .max_entries = 10'000}};
  auto profile = DecodeProfile(bytes, "", options);
  Merger merger;
  const bool is_added = static_cast<bool>(AddToMerge(bytes, "", options, &merger));
  // A sum takes all files of a ZIP, where a profile is of one.
  const bool is_zip = !profile && profile.error().code() == ErrorCode::kNotFound;
  CHECK(is_zip || is_added == static_cast<bool>(profile));
  if (!profile) return;
  CHECK(merger.count() == 1);
  for (bool normalize : {false, true}) {
    auto diff = Diff(*profile, *profile, {.normalize = normalize});
    if (!diff) continue;  // a difference itself, or values that do not fit
    for (uint32_t value = 0; value < diff->sample_types().size(); ++value) {
      CHECK(diff->Total(value) == 0);
      const DiffTable table = TabulateDiff(*diff, value);
      CHECK(table.before == table.after);
      for (const DiffRow& row : table.rows) CHECK(row.self_delta() == 0);
    }
  }
  for (Format format : {Format::kPprof, Format::kFolded, Format::kSpeedscope, Format::kJson}) {
    (void)EncodeProfile(*profile, format, {.annotate = true});
  }
}

}  // namespace
}  // namespace firetower::profile

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  firetower::profile::TryFile({reinterpret_cast<const char*>(data), size});
  return 0;
}
