// SPDX-License-Identifier: Apache-2.0
// Records of interpreters' functions, as the kernel side sends them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "bpf/abi/runtime.h"

namespace firetower::testing {

inline void SetText(ft_text& to, std::string_view bytes, uint64_t length, uint32_t state) {
  to.length = length;
  to.state = state;
  to.bytes = static_cast<uint32_t>(std::min(bytes.size(), sizeof(to.text)));
  std::memcpy(to.text, bytes.data(), to.bytes);
}

// `f` of /app.py, as CPython 3.11 has it unless another version is asked for.
inline ft_function FunctionOf(uint32_t first_line, uint16_t minor = 11) {
  const uint32_t ascii = (1u | 1u << 3 | 1u << 4) << 2;
  ft_function function{};
  function.kind = FT_KIND_FUNCTION;
  function.runtime = FT_RUNTIME_PYTHON;
  function.minor = minor;
  function.first_line = first_line;
  function.epoch = 1;
  SetText(function.name, "f", 1, ascii);
  SetText(function.file, "/app.py", 7, ascii);
  return function;
}

inline std::vector<std::byte> RecordOf(ft_function function, std::string_view lines) {
  function.lines_size = function.lines_bytes = static_cast<uint32_t>(lines.size());
  const size_t head = offsetof(ft_function, lines);
  std::vector<std::byte> record(head + lines.size());
  std::memcpy(record.data(), &function, head);
  std::memcpy(record.data() + head, lines.data(), lines.size());
  return record;
}

}  // namespace firetower::testing
