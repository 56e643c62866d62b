// SPDX-License-Identifier: Apache-2.0
#include "query/diagnose/signature_file.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/file.h"

namespace firetower::query {

Result<std::vector<diagnosis::Signature>> ReadSignatureFile(const std::string& path) {
  constexpr size_t kMaxBytes = 1 << 20;
  if (path.empty()) return std::vector<diagnosis::Signature>();
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxBytes));
  ASSIGN_OR_RETURN(std::vector<diagnosis::Signature> table,
                   diagnosis::ParseSignatures(text).Context(path));
  for (const diagnosis::Signature& one : table) {
    const auto& built_in = diagnosis::BuiltInSignatures();
    if (std::ranges::find(built_in, one.name, &diagnosis::Signature::name) != built_in.end())
      return Error(
          ErrorCode::kInvalid,
          fmt::format("{}: signature {}: one of that name comes with the program", path, one.name));
  }
  return table;
}

}  // namespace firetower::query
