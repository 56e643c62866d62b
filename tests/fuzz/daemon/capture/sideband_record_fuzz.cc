// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "base/check.h"
#include "daemon/capture/sideband_record.h"

// One perf record of any bytes: refused with nothing appended, or at most one event whose text
// lies inside the round's.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using firetower::daemon::Round;
  Round round;
  const firetower::Status status = firetower::daemon::AppendSidebandRecord(
      {reinterpret_cast<const std::byte*>(data), size}, round);
  CHECK(round.sideband.size() <= 1);
  if (!status) {
    CHECK(status.error().code() == firetower::ErrorCode::kCorrupt);
    CHECK(round.sideband.empty() && round.text.empty() && round.lost_sideband == 0);
  }
  for (const auto& event : round.sideband) {
    CHECK(event.build_id_size <= event.build_id.size());
    CHECK(event.text_begin + event.text_size == round.text.size());
    CHECK(round.Text(event.text_begin, event.text_size).size() == event.text_size);
    CHECK(event.text_size <= size);
  }
  return 0;
}
