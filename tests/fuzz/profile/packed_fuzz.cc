// SPDX-License-Identifier: Apache-2.0
// gzip, zstd, xz and ZIP, one in the other.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "profile/codec/packed/unpack.h"

namespace firetower::profile {
namespace {

void TryFile(std::string_view bytes) {
  for (const std::string_view entry : {"", "a*"}) {
    for (const bool all : {false, true}) {
      const UnpackOptions options{.max_bytes = 1 << 20, .entry = entry, .all_entries = all};
      size_t parts = 0;
      const Status status = Unpack(bytes, "", options, [&](const Unpacked& part) -> Status {
        CHECK(part.way.empty() ? part.bytes == bytes : part.bytes.size() <= options.max_bytes);
        CHECK(!IsPacked(part.bytes));
        ++parts;
        return OkStatus();
      });
      CHECK(!status || (all ? parts > 0 : parts == 1));
    }
  }
}

}  // namespace
}  // namespace firetower::profile

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  firetower::profile::TryFile({reinterpret_cast<const char*>(data), size});
  return 0;
}
