// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/kernel/kallsyms_builder.h"

#include <algorithm>
#include <array>

namespace firetower::symbolizer {

namespace {

constexpr size_t kMaxNamesBytes = 64u << 20;
// The size of a distribution's kernel with its modules, roughly. Memory is reserved for this many,
// or for the number of lines of a shorter text.
constexpr size_t kUsualNames = 65'000;
constexpr size_t kUsualSymbols = 128 * 1024;
constexpr size_t kShortestLineBytes = 21;  // "ffffffff81000000 T x\n"

// nm(1): text, and weak symbols that are not objects. Upper case is global.
bool IsFunctionType(char type) { return type == 't' || type == 'T' || type == 'w' || type == 'W'; }

// The linker's marks at the ends of the kernel's code (include/asm-generic/sections.h): they bound
// the last function and name nothing.
bool EndsText(std::string_view name) {
  return name == "_etext" || name == "_einittext" || name == "_end" || name == "__end_rodata";
}

// By character: a hexadecimal digit's value, or kNoDigit.
constexpr uint8_t kNoDigit = 0xff;
constexpr std::array<uint8_t, 256> kDigits = [] {
  std::array<uint8_t, 256> digits{};
  digits.fill(kNoDigit);
  for (uint8_t i = 0; i < 10; ++i) digits[static_cast<size_t>('0' + i)] = i;
  for (uint8_t i = 0; i < 6; ++i) {
    digits[static_cast<size_t>('a' + i)] = digits[static_cast<size_t>('A' + i)] =
        static_cast<uint8_t>(10 + i);
  }
  return digits;
}();
constexpr size_t kMaxDigits = 16;

std::optional<uint64_t> ParseHex(std::string_view text) {
  if (text.empty() || text.size() > kMaxDigits) return std::nullopt;
  uint64_t value = 0;
  uint8_t seen = 0;
  for (const char c : text) {
    const uint8_t digit = kDigits[static_cast<uint8_t>(c)];
    seen |= digit;
    value = value << 4 | (digit & 0xf);
  }
  if (seen > 0xf) return std::nullopt;
  return value;
}

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// Parts a line at blanks; the fields are a few bytes each, and searching for a set of characters
// looks at every byte with a call.
std::string_view NextField(std::string_view& line) {
  size_t begin = 0;
  while (begin < line.size() && IsBlank(line[begin])) ++begin;
  size_t end = begin;
  while (end < line.size() && !IsBlank(line[end])) ++end;
  std::string_view field = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return field;
}

struct Line {
  std::string_view address;
  std::string_view type;
  std::string_view name;
  std::string_view module;
};

// Splits a line. Fast path for the format of 64-bit kernels, "ffffffff81000000 T name" with a tab
// before the module; other lines are split at blanks.
Line Part(std::string_view line) {
  constexpr size_t kName = kMaxDigits + 3;
  const bool is_usual = line.size() > kName && line[kMaxDigits] == ' ' &&
                        line[kMaxDigits + 2] == ' ' && !IsBlank(line[kMaxDigits + 1]) &&
                        !IsBlank(line[kName]) && line.find(' ', kName) == line.npos;
  if (is_usual) {
    const size_t tab = std::min(line.find('\t', kName), line.size());
    std::string_view module = line.substr(tab);
    return {line.substr(0, kMaxDigits), line.substr(kMaxDigits + 1, 1),
            line.substr(kName, tab - kName), NextField(module)};
  }
  Line parts;
  for (std::string_view* part : {&parts.address, &parts.type, &parts.name, &parts.module}) {
    *part = NextField(line);
  }
  return parts;
}

}  // namespace

KallsymsBuilder::KallsymsBuilder(size_t bytes)
    : names_(kMaxNamesBytes, std::min(kUsualNames, bytes / kShortestLineBytes)),
      no_module_(*names_.Add("")) {
  symbols_.reserve(std::min(kUsualSymbols, bytes / kShortestLineBytes));
}

Status KallsymsBuilder::AddLine(std::string_view line) {
  auto [address, type, name, module] = Part(line);
  const std::optional<uint64_t> parsed = ParseHex(address);
  if (!parsed || type.size() != 1 || name.empty() || name[0] == '\0') return OkStatus();
  ++lines_;
  // 0 is a hidden address, or the offset of a per-CPU variable.
  const uint64_t abs_addr = *parsed;
  if (abs_addr == 0) return OkStatus();
  any_address_ = true;
  if (symbols_.size() >= Kallsyms::kMaxSymbols) {
    return Error(ErrorCode::kExhausted, "kallsyms: more symbols than a kernel has");
  }
  Raw raw{abs_addr, no_module_, no_module_, IsFunctionType(type[0]) && !EndsText(name)};
  if (module.size() > 2 && module.front() == '[' && module.back() == ']') {
    module = module.substr(1, module.size() - 2);
    auto offset = names_.Add(module);
    if (!offset) return Error(ErrorCode::kExhausted, "kallsyms: too many bytes of names");
    raw.module_offset = *offset;
  }
  if (raw.function) {
    auto offset = AddName(name);
    if (!offset) return Error(ErrorCode::kExhausted, "kallsyms: too many bytes of names");
    raw.name_offset = *offset;
  }
  symbols_.push_back(raw);
  return OkStatus();
}

// Kernels with padding before functions list "__pfx_read" right before "read": the second is the
// tail of the first and needs no bytes of its own.
std::optional<uint32_t> KallsymsBuilder::AddName(std::string_view name) {
  static constexpr std::string_view kPadding = "__pfx_";
  if (padded_bytes_ == name.size() && names_.Get(padded_) == name) return padded_;
  auto offset = names_.Add(name);
  padded_bytes_ = 0;
  if (offset && name.starts_with(kPadding)) {
    padded_ = *offset + static_cast<uint32_t>(kPadding.size());
    padded_bytes_ = name.size() - kPadding.size();
  }
  return offset;
}

uint64_t KallsymsBuilder::EndOf(size_t index, size_t next) const {
  const Raw& symbol = symbols_[index];
  uint64_t next_start = next < symbols_.size() ? symbols_[next].abs_addr : UINT64_MAX;
  bool neighbour = next < symbols_.size() && symbols_[next].module_offset == symbol.module_offset;
  if (neighbour && symbol.module_offset == no_module_) return next_start;
  // Modules and BPF programs: the data of the same module, or another owner, may lie pages away.
  uint64_t reach = symbol.abs_addr | (Kallsyms::kPageBytes - 1);
  if (neighbour && symbols_[next].function) {
    reach = symbol.abs_addr +
            std::min(Kallsyms::kMaxModuleFunctionBytes - 1, UINT64_MAX - symbol.abs_addr);
  }
  return std::min(next_start, reach == UINT64_MAX ? reach : reach + 1);
}

Result<Kallsyms> KallsymsBuilder::Finish() && {
  if (lines_ > 0 && !any_address_) {
    return Error(ErrorCode::kPermission,
                 "kallsyms: the kernel hides its addresses; give CAP_SYSLOG, or set the sysctl "
                 "kernel.kptr_restrict to 0 or 1 and kernel.perf_event_paranoid to 1 or less");
  }
  // Stable: of several names at one address the kernel lists the one it prefers first.
  // All but the last few come sorted.
  const auto below = [](const Raw& a, const Raw& b) { return a.abs_addr < b.abs_addr; };
  const auto rest = std::is_sorted_until(symbols_.begin(), symbols_.end(), below);
  std::stable_sort(rest, symbols_.end(), below);
  std::inplace_merge(symbols_.begin(), rest, symbols_.end(), below);
  auto functions = static_cast<size_t>(std::count_if(
      symbols_.begin(), symbols_.end(), [](const Raw& symbol) { return symbol.function; }));
  Kallsyms table;
  table.starts_.reserve(functions);
  table.bodies_.reserve(functions);
  std::optional<uint64_t> last;
  for (size_t i = 0; i < symbols_.size(); ++i) {
    if (!symbols_[i].function || symbols_[i].abs_addr == last) continue;
    last = symbols_[i].abs_addr;
    size_t next = i + 1;
    while (next < symbols_.size() && symbols_[next].abs_addr == *last) ++next;
    Append(table, symbols_[i], EndOf(i, next));
  }
  table.starts_.shrink_to_fit();
  table.bodies_.shrink_to_fit();
  table.spans_.shrink_to_fit();
  table.owners_.shrink_to_fit();
  table.names_ = names_.Take();
  return table;
}

void KallsymsBuilder::Append(Kallsyms& table, const Raw& symbol, uint64_t end) const {
  auto index = static_cast<uint32_t>(table.starts_.size());
  if (table.spans_.empty() || symbol.abs_addr - table.spans_.back().base > UINT32_MAX) {
    table.spans_.push_back({symbol.abs_addr, index});
  }
  if (table.owners_.empty() || table.owners_.back().module_offset != symbol.module_offset) {
    table.owners_.push_back({index, symbol.module_offset});
  }
  table.starts_.push_back(static_cast<uint32_t>(symbol.abs_addr - table.spans_.back().base));
  uint64_t size = std::min<uint64_t>(end - symbol.abs_addr, UINT32_MAX);
  table.bodies_.push_back({static_cast<uint32_t>(size), symbol.name_offset});
}

}  // namespace firetower::symbolizer
