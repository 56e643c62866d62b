// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/kernel/kallsyms.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/file.h"
#include "symbolizer/kernel/kallsyms_builder.h"

namespace firetower::symbolizer {

namespace {

constexpr size_t kReadBytes = 64 * 1024;
// A longer line is not a symbol (KSYM_NAME_LEN is 512).
constexpr size_t kMaxLineBytes = 4096;

// Passes every whole line to the builder, and returns the rest.
Result<std::string_view> AddLines(KallsymsBuilder& builder, std::string_view text) {
  for (size_t end; (end = text.find('\n')) != std::string_view::npos;) {
    RETURN_IF_ERROR(builder.AddLine(text.substr(0, end)));
    text.remove_prefix(end + 1);
  }
  if (text.size() > kMaxLineBytes) {
    return Error(ErrorCode::kCorrupt, "kallsyms: a line without an end");
  }
  return text;
}

}  // namespace

Result<Kallsyms> Kallsyms::Parse(std::string_view text) {
  KallsymsBuilder builder(text.size());
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    RETURN_IF_ERROR(builder.AddLine(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::move(builder).Finish();
}

Result<Kallsyms> Kallsyms::Load(const std::string& proc_root) {
  const std::string path = proc_root + "/kallsyms";
  ASSIGN_OR_RETURN(UniqueFd fd, OpenReadOnly(path));
  KallsymsBuilder builder;
  std::vector<char> buffer(kReadBytes + kMaxLineBytes);
  size_t pending = 0;  // bytes of a line that goes on
  for (;;) {
    ssize_t got = ::read(fd.get(), buffer.data() + pending, kReadBytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoError("read " + path);
    if (got == 0) break;
    ASSIGN_OR_RETURN(const std::string_view rest,
                     AddLines(builder, {buffer.data(), pending + static_cast<size_t>(got)}));
    std::copy(rest.begin(), rest.end(), buffer.begin());
    pending = rest.size();
  }
  RETURN_IF_ERROR(builder.AddLine({buffer.data(), pending}));
  return std::move(builder).Finish();
}

std::optional<KernelSymbol> Kallsyms::Find(uint64_t abs_addr) const {
  auto span = std::upper_bound(spans_.begin(), spans_.end(), abs_addr,
                               [](uint64_t value, const Span& s) { return value < s.base; });
  if (span == spans_.begin()) return std::nullopt;
  const size_t last = span == spans_.end() ? starts_.size() : span->first;
  --span;
  if (abs_addr - span->base > UINT32_MAX) return std::nullopt;
  auto relative = static_cast<uint32_t>(abs_addr - span->base);
  auto above = std::upper_bound(starts_.begin() + span->first,
                                starts_.begin() + static_cast<ptrdiff_t>(last), relative);
  // A span begins with a function, so there is one at or below.
  auto index = static_cast<uint32_t>(above - starts_.begin()) - 1;
  const Body& body = bodies_[index];
  uint32_t offset = relative - starts_[index];
  if (offset >= body.size_bytes) return std::nullopt;
  auto owner = std::upper_bound(owners_.begin(), owners_.end(), index,
                                [](uint32_t value, const Owner& o) { return value < o.first; });
  return KernelSymbol{names_.c_str() + body.name_offset,
                      names_.c_str() + std::prev(owner)->module_offset, offset};
}

size_t Kallsyms::bytes() const {
  return sizeof(*this) + spans_.capacity() * sizeof(Span) + owners_.capacity() * sizeof(Owner) +
         starts_.capacity() * sizeof(uint32_t) + bodies_.capacity() * sizeof(Body) +
         names_.capacity() + 1;
}

}  // namespace firetower::symbolizer
