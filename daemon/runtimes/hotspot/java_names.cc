// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/hotspot/java_names.h"

#include <algorithm>
#include <cstring>

#include "base/json.h"
#include "daemon/runtimes/hotspot/number_stream.h"

namespace firetower::daemon {
namespace {

// Bounds of what is read of another process: longer ones are damaged, or no such thing.
constexpr size_t kMaxSymbol = 512;
constexpr size_t kMaxConstMethod = 512u << 10;
constexpr size_t kMaxLines = 4096;
constexpr size_t kMaxInlined = 128;
constexpr uint32_t kMaxPcs = 1u << 16;
constexpr uint32_t kHasLines = 1;  // ConstMethodFlags: has_linenumber_table, in every version

template <typename T>
T FromBytes(std::span<const std::byte> bytes, size_t at) {
  T value{};
  if (at <= bytes.size() && bytes.size() - at >= sizeof(T))
    std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

uint32_t LineAt(const std::vector<std::pair<uint32_t, uint32_t>>& lines, int64_t bytecode) {
  if (lines.empty() || bytecode < 0) return lines.empty() ? 0 : lines.front().second;
  const auto after = std::ranges::upper_bound(lines, static_cast<uint32_t>(bytecode), {},
                                              &std::pair<uint32_t, uint32_t>::first);
  return after == lines.begin() ? lines.front().second : std::prev(after)->second;
}

// The table of lines behind a method's bytecodes: a byte with both differences, or 0xff and two
// signed numbers; 0 ends it (CompressedLineNumberReadStream of method.cpp).
std::vector<std::pair<uint32_t, uint32_t>> LinesOf(std::span<const std::byte> bytes, uint8_t base) {
  std::vector<std::pair<uint32_t, uint32_t>> lines;
  NumberStream stream(bytes, base);
  int64_t bytecode = 0, line = 0;
  while (!stream.ended() && lines.size() < kMaxLines) {
    const uint8_t byte = stream.Byte();
    if (byte == 0) break;
    if (byte == 0xff) {
      bytecode += stream.Signed();
      line += stream.Signed();
    } else {
      bytecode += byte >> 3;
      line += byte & 7;
    }
    if (bytecode < 0 || line <= 0 || line > INT32_MAX) break;
    lines.emplace_back(static_cast<uint32_t>(bytecode), static_cast<uint32_t>(line));
  }
  std::ranges::stable_sort(lines, {}, &std::pair<uint32_t, uint32_t>::first);
  return lines;
}

std::string FileOf(std::string_view klass, const std::string& source) {
  const size_t package = klass.rfind('/');
  if (source.empty() || package == std::string_view::npos) return source;
  return std::string(klass.substr(0, package + 1)) + source;
}

}  // namespace

std::string JavaName(std::string_view klass, std::string_view method) {
  std::string name(klass.substr(0, std::min(klass.find("+0x"), klass.find("/0x"))));
  std::ranges::replace(name, '/', '.');
  name += '.';
  name += method;
  return name;
}

std::optional<std::string> JavaNames::SymbolAt(const RemoteMemory& memory, uint64_t address) const {
  const auto length = memory.Get<uint16_t>(address + layout_.symbol_length);
  if (!length || *length == 0) return std::nullopt;
  std::string text(std::min<size_t>(*length, kMaxSymbol), '\0');
  if (!memory.Read(address + layout_.symbol_text, std::as_writable_bytes(std::span(text))))
    return std::nullopt;
  // Modified UTF-8, which differs from UTF-8 in NUL and in characters beyond the first plane.
  text = ToValidUtf8(text);
  if (*length > kMaxSymbol) text += "…";
  return text;
}

std::optional<std::string> JavaNames::PoolText(const RemoteMemory& memory, uint64_t pool,
                                               uint16_t index) const {
  const auto length = memory.Get<int32_t>(pool + layout_.pool_length);
  if (index == 0 || !length || index >= *length) return std::nullopt;
  const auto symbol = memory.Get<uint64_t>(pool + layout_.pool_bytes + uint64_t{index} * 8);
  return symbol ? SymbolAt(memory, *symbol) : std::nullopt;
}

std::optional<JavaNames::Method> JavaNames::ReadMethod(const RemoteMemory& memory,
                                                       uint64_t const_method,
                                                       std::vector<std::byte> head) const {
  const auto pool = FromBytes<uint64_t>(head, layout_.const_constants);
  const auto name = PoolText(memory, pool, FromBytes<uint16_t>(head, layout_.const_name));
  const auto holder = memory.Get<uint64_t>(pool + layout_.pool_holder);
  const auto klass_symbol =
      holder ? memory.Get<uint64_t>(*holder + layout_.klass_name) : std::nullopt;
  const auto klass = klass_symbol ? SymbolAt(memory, *klass_symbol) : std::nullopt;
  if (!name || !klass) return std::nullopt;
  const auto source_at = layout_.pool_source     ? pool + *layout_.pool_source
                         : layout_.holder_source ? *holder + *layout_.holder_source
                                                 : 0;
  const uint16_t source =
      source_at != 0 ? memory.Get<uint16_t>(source_at).value_or(0) : uint16_t{0};
  Method method;
  const size_t bytes = size_t{FromBytes<uint32_t>(head, layout_.const_words)} * 8;
  const size_t code =
      layout_.walk.const_bytes + size_t{FromBytes<uint16_t>(head, layout_.const_code_bytes)};
  if ((FromBytes<uint16_t>(head, layout_.const_flags) & kHasLines) != 0 && bytes > code &&
      bytes <= kMaxConstMethod) {
    std::vector<std::byte> table(bytes - code);
    if (memory.Read(const_method + code, table)) method.lines = LinesOf(table, layout_.number_base);
  }
  method.head = std::move(head);
  method.function = std::make_shared<const RuntimeFunction>(RuntimeFunction{
      JavaName(*klass, *name), FileOf(*klass, PoolText(memory, pool, source).value_or("")),
      method.lines.empty() ? 0 : method.lines.front().second});
  return method;
}

const JavaNames::Method* JavaNames::MethodOf(const RemoteMemory& memory, uint64_t const_method) {
  std::vector<std::byte> head(layout_.walk.const_bytes);
  const auto known = methods_.find(const_method);
  if (!memory.Read(const_method, head)) return known != methods_.end() ? &known->second : nullptr;
  if (known != methods_.end() && known->second.head == head) return &known->second;
  std::optional<Method> method = ReadMethod(memory, const_method, std::move(head));
  if (!method) return nullptr;
  if (methods_.size() >= kMaxMethods) methods_.clear();
  return &(methods_[const_method] = *std::move(method));
}

std::optional<RuntimePlace> JavaNames::PlaceOf(const RemoteMemory& memory, uint64_t method,
                                               int64_t bytecode) {
  const auto const_method = memory.Get<uint64_t>(method + layout_.walk.method_const);
  const Method* read = const_method ? MethodOf(memory, *const_method) : nullptr;
  if (read == nullptr) return std::nullopt;
  return RuntimePlace{read->function, LineAt(read->lines, bytecode)};
}

std::optional<JavaNames::Scopes> JavaNames::ScopesOf(const RemoteMemory& memory,
                                                     uint64_t nmethod) const {
  const auto at = [&](const VmLayout::Part& part) -> std::optional<uint64_t> {
    std::optional<uint64_t> base = nmethod;
    if (part.pointer) base = memory.Get<uint64_t>(nmethod + *part.pointer);
    if (!base || !part.offset) return base;
    const auto offset = memory.Get<uint32_t>(nmethod + *part.offset);
    return offset ? std::optional(*base + *offset) : std::nullopt;
  };
  if (!layout_.has_scopes) return std::nullopt;
  const auto begin = at(layout_.pcs), end = at(layout_.pcs_end), scopes = at(layout_.scopes),
             metadata = at(layout_.metadata);
  if (!begin || !end || !scopes || !metadata || *end <= *begin ||
      (*end - *begin) / sizeof(PcDesc) > kMaxPcs)
    return std::nullopt;
  uint64_t code = 0;  // as the walk tells it (ft_field_of)
  const uint64_t field = nmethod - walk_.blob + walk_.code.offset;
  if (walk_.code.form == FT_HOTSPOT_POINTER) {
    code = memory.Get<uint64_t>(field).value_or(0);
  } else {
    code = nmethod + memory.Get<uint32_t>(field).value_or(0);
  }
  Scopes read{std::vector<PcDesc>((*end - *begin) / sizeof(PcDesc)), *scopes, *metadata, code};
  if (read.pcs.empty() || !memory.Read(*begin, std::as_writable_bytes(std::span(read.pcs))))
    return std::nullopt;
  return read;
}

// test [register], eax or test [rip + x], eax.
bool JavaNames::IsPoll(const RemoteMemory& memory, uint64_t pc) const {
  const auto code = memory.Get<std::array<uint8_t, 3>>(pc);
  if (!code) return false;
  const size_t at = ((*code)[0] & 0xf0) == 0x40 ? 1 : 0;  // a REX prefix
  return (*code)[at] == 0x85 && ((*code)[at + 1] & 0xc0) == 0;
}

bool JavaNames::ReadChain(const RemoteMemory& memory, const Scopes& scopes, uint32_t decode,
                          std::vector<RuntimePlace>& to) {
  while (decode != 0 && to.size() < kMaxInlined) {
    // Three numbers of up to five bytes. The stream may end less than that before its page does.
    std::array<std::byte, 16> bytes{};
    const uint64_t from = scopes.stream + decode;
    const size_t in_page = 4096 - (from & 4095);
    if (!memory.Read(from, bytes) &&
        (in_page >= bytes.size() || !memory.Read(from, std::span(bytes).first(in_page))))
      return false;
    NumberStream stream(bytes, layout_.number_base);
    const uint32_t sender = stream.Number();
    const uint32_t method = stream.Number();
    const int64_t bytecode = int64_t{stream.Number()} - 1;  // InvocationEntryBci is -1
    const auto of = method != 0 ? memory.Get<uint64_t>(scopes.metadata + (uint64_t{method} - 1) * 8)
                                : std::nullopt;
    const auto place = of ? PlaceOf(memory, *of, bytecode) : std::nullopt;
    if (!place) return false;
    to.push_back(*place);
    if (sender >= decode) return false;  // callers are written first
    decode = sender;
  }
  return !to.empty();
}

bool JavaNames::ReadScopes(const RemoteMemory& memory, uint64_t nmethod, uint32_t position,
                           std::vector<RuntimePlace>& to) {
  const auto scopes = ScopesOf(memory, nmethod);
  if (!scopes) return false;
  const auto next =
      std::ranges::lower_bound(scopes->pcs, static_cast<int32_t>(position), {}, &PcDesc::pc_offset);
  if (next == scopes->pcs.end() ||
      !ReadChain(memory, *scopes, static_cast<uint32_t>(next->scope_offset), to))
    return false;
  // The JVM describes calls and polls only. What runs before a loop's poll is mostly the loop.
  if (next->pc_offset == static_cast<int32_t>(position) ||
      IsPoll(memory, scopes->code + static_cast<uint32_t>(next->pc_offset)))
    return true;
  std::vector<RuntimePlace> before;
  if (next != scopes->pcs.begin() && std::prev(next)->pc_offset >= 0)
    ReadChain(memory, *scopes, static_cast<uint32_t>(std::prev(next)->scope_offset), before);
  KeepCommon(to, before);
  return true;
}

std::vector<RuntimePlace> JavaNames::ReadCompiled(const RemoteMemory& memory, uint64_t nmethod,
                                                  uint64_t where) {
  const auto id = static_cast<uint32_t>(where >> 32);
  const auto is_same = [&] { return memory.Get<uint32_t>(nmethod + layout_.nmethod_id) == id; };
  std::vector<RuntimePlace> places;
  if (!is_same()) return places;
  if (!ReadScopes(memory, nmethod, static_cast<uint32_t>(where), places)) {
    places.clear();
    const auto method = memory.Get<uint64_t>(nmethod + layout_.nmethod_method);
    if (const auto place = method ? PlaceOf(memory, *method, -1) : std::nullopt)
      places.push_back(*place);
  }
  if (!is_same()) places.clear();
  return places;
}

std::vector<RuntimePlace> JavaNames::Read(const RemoteMemory& memory, uint64_t word,
                                          uint64_t where) {
  const uint64_t address = word & ~FT_WORD_KIND;
  std::vector<RuntimePlace> places;
  if ((word & FT_WORD_KIND) == FT_WORD_INTERPRETED) {
    std::optional<uint64_t> const_method =
        memory.Get<uint64_t>(address + layout_.walk.method_const);
    // A process that has ended cannot be asked any more.
    if (const auto last = interpreted_.find(address); !const_method && last != interpreted_.end())
      const_method = last->second;
    if (!const_method) return places;
    const bool placed = (where & FT_WORD_MARK) == 0;
    if (!placed && where != FT_HOTSPOT_COOKIE(*const_method)) return places;
    const Method* method = MethodOf(memory, *const_method);
    if (method == nullptr) return places;
    const uint64_t offset = where - *const_method - layout_.walk.const_bytes;
    if (placed && offset >= FromBytes<uint16_t>(method->head, layout_.const_code_bytes))
      return places;
    if (interpreted_.size() >= kMaxMethods) interpreted_.clear();
    interpreted_[address] = *const_method;
    places.push_back(
        {method->function, LineAt(method->lines, placed ? static_cast<int64_t>(offset) : -1)});
    return places;
  }
  if ((word & FT_WORD_KIND) == FT_WORD_COMPILED) return ReadCompiled(memory, address, where);
  if (address == 0) return places;
  std::string name = "call_stub";
  if (static_cast<uint32_t>(where) != static_cast<uint32_t>(walk_.call_return)) {
    const auto text = memory.Get<uint64_t>(address + layout_.blob_name);
    std::array<char, 64> bytes{};
    if (!text || !memory.Read(*text, std::as_writable_bytes(std::span(bytes)))) return places;
    name.assign(bytes.data(), strnlen(bytes.data(), bytes.size()));
  }
  if (!name.empty())
    places.push_back({std::make_shared<const RuntimeFunction>(RuntimeFunction{name, "", 0}), 0});
  return places;
}

const std::vector<RuntimePlace>& JavaNames::Find(const RemoteMemory& memory, uint64_t word,
                                                 uint64_t where) {
  if ((word & FT_WORD_KIND) != FT_WORD_COMPILED) return found_ = Read(memory, word, where);
  if (const auto code = compiled_.find(word); code != compiled_.end()) {
    if (const auto known = code->second.find(where); known != code->second.end())
      return known->second;
  }
  found_ = Read(memory, word, where);
  if (found_.empty()) return found_;
  if (places_ >= kMaxPlaces) {
    compiled_.clear();
    places_ = 0;
  }
  ++places_;
  return compiled_[word][where] = found_;
}

}  // namespace firetower::daemon
