// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "daemon/process/proc_fs.h"

// Any text as /proc/<pid>/stat: the command, if there is one, stands between its parentheses.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto stat = firetower::daemon::ParseStat(text);
  if (!stat) return 0;
  const size_t begin = text.find('(') + 1;
  CHECK(text.substr(begin, stat->comm.size()) == stat->comm);
  CHECK(text.substr(begin + stat->comm.size(), 2) == ") ");
  return 0;
}
