// SPDX-License-Identifier: Apache-2.0
#include "daemon/unwind/load_table.h"

#include <fmt/core.h>

#include "daemon/runtimes/perl/perl_build.h"
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
namespace {

// Notes the interpreter that a file is. Returns false if it is none of that kind.
template <typename Build>
bool NoteInterpreter(const Result<FoundRuntime<Build>>& found, std::string_view name,
                     Build ft_interpreter::*member, PackedTable& table) {
  if (!found || found->version.empty()) return false;
  if (found->build) table.interpreter.emplace().*member = *found->build;
  table.runtime = fmt::format("{} {}", name, found->version);
  table.nameless = found->why;
  return true;
}

// Notes the runtime that a file has, if it has one that is known here.
void NoteRuntime(const symbolizer::ElfFile& file, PackedTable& table) {
  if (NoteInterpreter(FindPython(file), "CPython", &ft_interpreter::python, table) ||
      NoteInterpreter(FindPhp(file), "PHP", &ft_interpreter::php, table) ||
      NoteInterpreter(FindRuby(file), "Ruby", &ft_interpreter::ruby, table) ||
      NoteInterpreter(FindPerl(file), "Perl", &ft_interpreter::perl, table))
    return;
  if (const auto hotspot = FindHotSpot(file); hotspot && *hotspot) {
    table.hotspot = *hotspot;
    table.runtime = "HotSpot";
  } else if (auto v8 = FindV8(file); v8 && !v8->version.empty()) {
    if (v8->build) FindBuiltins(file, table, *v8->build);
    table.v8 = v8->build;
    table.runtime = "V8 " + v8->version;
    table.nameless = v8->why;
  }
}

}  // namespace

Result<PackedTable> LoadUnwindTable(const symbolizer::RandomAccess& source) {
  ASSIGN_OR_RETURN(symbolizer::ElfFile file, symbolizer::ElfFile::Open(source));
  TablePacker packer(file.program_headers());
  symbolizer::BareCodeRows rows(file, packer);
  RETURN_IF_ERROR(symbolizer::LoadUnwindRows(file, rows));
  rows.Finish();
  PackedTable table = packer.Finish();
  NoteRuntime(file, table);
  if (auto trace = FindTraceSymbol(file)) table.trace = *trace;
  return table;
}

Result<PackedTable> LoadVdsoTable() {
  ASSIGN_OR_RETURN(std::span<const std::byte> image, symbolizer::OwnVdsoImage());
  symbolizer::MemorySource source(image);
  return LoadUnwindTable(source);
}

}  // namespace firetower::daemon
