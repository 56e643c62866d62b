// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind/load_table.h"

#include "daemon/runtimes/php/php_build.h"
#include "daemon/runtimes/python_build.h"
#include "daemon/runtimes/ruby/ruby_build.h"
#include "daemon/unwind/table_packer.h"
#include "daemon/unwind/v8_places.h"
#include "symbolizer/cfi/bare_code.h"
#include "symbolizer/cfi/load_unwind_rows.h"
#include "symbolizer/elf/elf_file.h"
#include "symbolizer/kernel/vdso.h"

namespace firetower::daemon {
Result<PackedTable> LoadUnwindTable(const symbolizer::RandomAccess& source) {
  ASSIGN_OR_RETURN(symbolizer::ElfFile file, symbolizer::ElfFile::Open(source));
  TablePacker packer(file.program_headers());
  symbolizer::BareCodeRows rows(file, packer);
  RETURN_IF_ERROR(symbolizer::LoadUnwindRows(file, rows));
  rows.Finish();
  PackedTable table = packer.Finish();
  if (const auto python = FindPython(file); python && !python->version.empty()) {
    if (python->build) table.interpreter.emplace().python = *python->build;
    table.runtime = "CPython " + python->version;
    table.nameless = python->why;
  } else if (const auto php = FindPhp(file); php && !php->version.empty()) {
    if (php->build) table.interpreter.emplace().php = *php->build;
    table.runtime = "PHP " + php->version;
    table.nameless = php->why;
  } else if (const auto ruby = FindRuby(file); ruby && !ruby->version.empty()) {
    if (ruby->build) table.interpreter.emplace().ruby = *ruby->build;
    table.runtime = "Ruby " + ruby->version;
    table.nameless = ruby->why;
  } else if (const auto hotspot = FindHotSpot(file); hotspot && *hotspot) {
    table.hotspot = *hotspot;
    table.runtime = "HotSpot";
  } else if (auto v8 = FindV8(file); v8 && !v8->version.empty()) {
    if (v8->build) FindBuiltins(file, table, *v8->build);
    table.v8 = v8->build;
    table.runtime = "V8 " + v8->version;
    table.nameless = v8->why;
  }
  return table;
}

Result<PackedTable> LoadVdsoTable() {
  ASSIGN_OR_RETURN(std::span<const std::byte> image, symbolizer::OwnVdsoImage());
  symbolizer::MemorySource source(image);
  return LoadUnwindTable(source);
}

}  // namespace firetower::daemon
