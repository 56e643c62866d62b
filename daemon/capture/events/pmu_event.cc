// SPDX-License-Identifier: Apache-2.0
#include "daemon/capture/events/pmu_event.h"

#include <fmt/core.h>
#include <unistd.h>

#include <charconv>
#include <vector>

#include "base/file.h"

namespace firetower::daemon {
namespace {

// Drivers: one for all cores, or one for each kind of cores of a hybrid CPU.
constexpr std::string_view kDrivers[] = {"cpu", "cpu_core", "cpu_atom"};

std::string FolderOf(const std::string& sys_root, std::string_view driver) {
  return fmt::format("{}/bus/event_source/devices/{}", sys_root, driver);
}

std::string_view Trim(std::string_view text) {
  const size_t end = text.find_last_not_of(" \n");
  return text.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

// Takes the text up to the separator, and the separator.
std::string_view TakeUpTo(char separator, std::string_view& text) {
  const size_t end = text.find(separator);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return taken;
}

// Decimal, or hexadecimal with 0x.
std::optional<uint64_t> Number(std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

uint64_t* FieldOf(std::string_view name, EventSource& source) {
  if (name == "config") return &source.config;
  if (name == "config1") return &source.config1;
  if (name == "config2") return &source.config2;
  return nullptr;
}

// Puts the value's bits, the lowest first, to the places that `format` lists.
Status Place(std::string_view format, uint64_t value, EventSource& source) {
  const std::string_view whole = format;
  const auto bad = [&] {
    return Error(ErrorCode::kCorrupt, fmt::format("'{}' is no format of a term", whole));
  };
  uint64_t* field = FieldOf(TakeUpTo(':', format), source);
  if (field == nullptr || format.empty()) return bad();
  while (!format.empty()) {
    std::string_view range = TakeUpTo(',', format);
    const std::optional<uint64_t> first = Number(TakeUpTo('-', range));
    const std::optional<uint64_t> last = range.empty() ? first : Number(range);
    if (!first || !last || *first > *last || *last > 63) return bad();
    for (uint64_t bit = *first; bit <= *last; ++bit, value >>= 1) {
      *field = (*field & ~(uint64_t{1} << bit)) | (value & 1) << bit;
    }
  }
  if (value == 0) return OkStatus();
  return Error(ErrorCode::kCorrupt, fmt::format("a value has more bits than '{}'", whole));
}

}  // namespace

Status ApplyTerms(std::string_view terms,
                  const std::function<std::optional<std::string>(const std::string&)>& format,
                  EventSource& source) {
  while (!terms.empty()) {
    std::string_view term = TakeUpTo(',', terms);
    const std::string name(TakeUpTo('=', term));
    const std::optional<uint64_t> value = term.empty() ? 1 : Number(term);
    if (name.empty() || !value)
      return Error(ErrorCode::kCorrupt, fmt::format("'{}={}' is no term of an event", name, term));
    if (uint64_t* field = FieldOf(name, source)) {
      *field = *value;
      continue;
    }
    const std::optional<std::string> bits = format(name);
    if (!bits)
      return Error(ErrorCode::kCorrupt, fmt::format("the driver has no format of '{}'", name));
    RETURN_IF_ERROR(Place(Trim(*bits), *value, source));
  }
  return OkStatus();
}

Result<EventSource> FindCpuEvent(const std::string& name, const std::string& sys_root) {
  for (const std::string_view driver : kDrivers) {
    const std::string folder = FolderOf(sys_root, driver);
    const Result<std::string> terms = ReadFile(folder + "/events/" + name);
    if (!terms) continue;
    ASSIGN_OR_RETURN(const std::string type_text, ReadFile(folder + "/type"));
    const std::optional<uint64_t> type = Number(Trim(type_text));
    if (!type || *type > UINT32_MAX)
      return Error(ErrorCode::kCorrupt, folder + "/type is no number");
    EventSource source;
    source.type = static_cast<uint32_t>(*type);
    const auto format = [&](const std::string& term) -> std::optional<std::string> {
      const Result<std::string> bits = ReadFile(folder + "/format/" + term);
      return bits ? std::optional(*bits) : std::nullopt;
    };
    RETURN_IF_ERROR(ApplyTerms(Trim(*terms), format, source).Context(folder + "/events/" + name));
    return source;
  }
  return Error(ErrorCode::kNotFound, fmt::format("the CPU's driver has no event '{}'", name));
}

bool HasCpuDriver(const std::string& sys_root) {
  for (const std::string_view driver : kDrivers) {
    if (::access(FolderOf(sys_root, driver).c_str(), F_OK) == 0) return true;
  }
  return false;
}

}  // namespace firetower::daemon
