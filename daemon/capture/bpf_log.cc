// SPDX-License-Identifier: Apache-2.0
#include "daemon/capture/bpf_log.h"

#include <bpf/libbpf.h>

#include <cstdarg>
#include <cstdio>

namespace firetower::daemon {
namespace {

constexpr size_t kKeptBytes = 2000;  // The verifier's verdict stands at the end of its log.

// libbpf's print function has no context argument, so the text must be reachable from here.
std::string& Text() {
  static std::string text;
  return text;
}

int Print(libbpf_print_level level, const char* format, va_list arguments) {
  if (level == LIBBPF_DEBUG) return 0;
  char line[8192];
  int length = std::vsnprintf(line, sizeof(line), format, arguments);
  if (length > 0) Text() += line;
  if (Text().size() > 64 * 1024) Text().erase(0, Text().size() - kKeptBytes);
  return length;
}

}  // namespace

BpfLog::BpfLog() {
  Text().clear();
  libbpf_set_print(Print);
}

BpfLog::~BpfLog() { libbpf_set_print(nullptr); }

Error BpfLog::Failure(std::string_view what, int sys_errno) const {
  Error error = ErrnoError(what, sys_errno);
  std::string_view text = Text();
  if (text.size() > kKeptBytes) text.remove_prefix(text.size() - kKeptBytes);
  if (text.empty()) return error;
  return {error.code(), error.message() + ": " + std::string(text), sys_errno};
}

}  // namespace firetower::daemon
