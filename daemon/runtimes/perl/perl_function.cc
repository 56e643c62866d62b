// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/perl/perl_function.h"

#include <fmt/core.h>

#include <string>
#include <string_view>

#include "daemon/runtimes/byte_text.h"

namespace firetower::daemon {
namespace {

std::string_view BaseName(std::string_view file) { return file.substr(file.rfind('/') + 1); }

std::string NameOf(const ft_function& record, std::string_view package, std::string_view file) {
  switch (record.name.state) {
    case FT_PERL_EVAL:
      return "eval";
    case FT_PERL_REQUIRE:
      return file.empty() ? "require" : fmt::format("require {}", BaseName(file));
    case FT_PERL_MAIN:
      return "{main}";
    default:
      break;
  }
  std::string name = TextOfBytes(record.name);
  if (name.empty()) return name;
  if (name == "__ANON__" && record.first_line != 0)
    name += fmt::format("[{}:{}]", BaseName(file), record.first_line);
  return package.empty() ? name : fmt::format("{}::{}", package, name);
}

}  // namespace

Result<ReadFunction> ReadPerlRecord(std::span<const std::byte> record) {
  return ReadNamedRecord(record, NameOf);
}

}  // namespace firetower::daemon
