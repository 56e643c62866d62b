// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <span>

#include "base/check.h"
#include "base/json.h"
#include "daemon/runtimes/perl/perl_function.h"
#include "daemon/runtimes/php/php_function.h"
#include "daemon/runtimes/python_function.h"
#include "daemon/runtimes/ruby/ruby_function.h"

// Any bytes as the record of a function: it has a name or is refused, and every instruction a line.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace daemon = firetower::daemon;
  const std::span record(reinterpret_cast<const std::byte*>(data), size);
  if (const auto php = daemon::ReadPhpRecord(record); php) {
    CHECK(!php->function.name.empty());
    CHECK(firetower::IsValidUtf8(php->function.name) && firetower::IsValidUtf8(php->function.file));
  }
  if (const auto perl = daemon::ReadPerlRecord(record); perl) {
    CHECK(!perl->function.name.empty());
    CHECK(firetower::IsValidUtf8(perl->function.name));
  }
  if (const auto ruby = daemon::ReadRubyRecord(record); ruby) {
    CHECK(!ruby->function.name.empty());
    for (const uint32_t position : {0u, 53u, 54u, 600u, 4000u, ~0u})
      (void)daemon::LineOfRuby(ruby->minor, ruby->lines, 1, position);
  }
  const auto read = daemon::ReadFunctionRecord(record);
  if (!read) return 0;
  CHECK(!read->function.name.empty());
  CHECK(read->lines.size() <= FT_FUNCTION_LINES);
  for (const uint32_t position : {0u, 2u, 100u, 4000u, ~0u})
    (void)daemon::LineOf(read->minor, read->lines, 1, position);
  return 0;
}
