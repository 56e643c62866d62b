// SPDX-License-Identifier: Apache-2.0
#include "profile/type.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/suggest.h"

namespace firetower::profile {
namespace {

constexpr size_t kMaxEventBytes = 128;
constexpr std::string_view kEventPrefix = "event:";
constexpr std::string_view kAllowed = "cpu, offcpu, lock, memory or event:<name>";

struct SimpleType {
  TypeKind kind;
  std::string_view name;
};
constexpr SimpleType kSimpleTypes[] = {{TypeKind::kCpu, "cpu"},
                                       {TypeKind::kOffCpu, "offcpu"},
                                       {TypeKind::kLock, "lock"},
                                       {TypeKind::kMemory, "memory"}};

// Pyroscope's ids; per kind the first one is that of the main value.
struct KnownId {
  std::string_view id;
  TypeKind kind;
  std::string_view sample_type;  // empty: the main value
};
constexpr KnownId kKnownIds[] = {
    {"process_cpu:cpu:nanoseconds:cpu:nanoseconds", TypeKind::kCpu, ""},
    {"process_cpu:samples:count:cpu:nanoseconds", TypeKind::kCpu, "samples"},
    {"off_cpu:off_cpu:nanoseconds::", TypeKind::kOffCpu, ""},
    {"off_cpu:runqueue:nanoseconds::", TypeKind::kOffCpu, "runqueue"},
    {"off_cpu:samples:count::", TypeKind::kOffCpu, "samples"},
    {"mutex:delay:nanoseconds:contentions:count", TypeKind::kLock, ""},
    {"mutex:contentions:count:contentions:count", TypeKind::kLock, "contentions"},
    {"block:delay:nanoseconds:contentions:count", TypeKind::kLock, ""},
    {"block:contentions:count:contentions:count", TypeKind::kLock, "contentions"},
    {"memory:alloc_space:bytes:space:bytes", TypeKind::kMemory, ""},
    {"memory:alloc_objects:count:space:bytes", TypeKind::kMemory, "alloc_objects"},
    {"memory:inuse_space:bytes:space:bytes", TypeKind::kMemory, "inuse_space"},
    {"memory:inuse_objects:count:space:bytes", TypeKind::kMemory, "inuse_objects"},
};
// An event's id: its name may hold ':' itself, so it is taken from between these two.
constexpr std::string_view kEventIdSuffix = ":events:count:event:count";

bool IsEventByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == ':';
}

Error UnknownType(std::string_view text) {
  constexpr std::string_view kSpellings[] = {"cpu", "offcpu", "lock", "memory", "event:<name>"};
  text = text.substr(0, 100);
  return {ErrorCode::kInvalid, fmt::format("unknown profile type '{}'{}; allowed are {}", text,
                                           DidYouMean(text, kSpellings), kAllowed)};
}

Result<ProfileType> EventType(std::string_view name) {
  if (name.empty() || name.size() > kMaxEventBytes || !std::ranges::all_of(name, IsEventByte)) {
    return Error(ErrorCode::kInvalid,
                 fmt::format("profile type event:{}: the name of an event is 1 to {} letters, "
                             "digits and any of _ - . :",
                             name.substr(0, 100), kMaxEventBytes));
  }
  return ProfileType{.kind = TypeKind::kEvent, .event = std::string(name)};
}

}  // namespace

std::string ProfileType::Name() const {
  if (kind == TypeKind::kEvent) return std::string(kEventPrefix) + event;
  for (const SimpleType& simple : kSimpleTypes) {
    if (simple.kind == kind) return std::string(simple.name);
  }
  return {};
}

std::string ProfileType::FileToken() const {
  std::string token = Name();
  for (char& c : token) {
    if (c == ':') c = '.';
    if (c == '-') c = '_';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return token;
}

std::string ProfileType::PyroscopeId() const {
  if (kind == TypeKind::kEvent) return Name() + std::string(kEventIdSuffix);
  for (const KnownId& known : kKnownIds) {
    if (known.kind == kind) return std::string(known.id);
  }
  return {};
}

std::vector<std::string> ProfileType::PyroscopeIds() const {
  std::vector<std::string> ids{PyroscopeId()};
  const std::string count = SampleTypes().front().type;
  for (const KnownId& known : kKnownIds) {
    if (known.kind != kind || known.sample_type != count) continue;
    ids.emplace_back(known.id);
    break;
  }
  return ids;
}

bool IsLevel(std::string_view sample_type) { return sample_type.starts_with("inuse_"); }

std::vector<std::string_view> KnownPyroscopeIds() {
  std::vector<std::string_view> ids;
  for (const KnownId& known : kKnownIds) ids.push_back(known.id);
  return ids;
}

PyroscopeIdParts SplitPyroscopeId(std::string_view id) {
  // From behind: an event's name may hold ':'.
  const auto take = [&id] {
    const size_t colon = id.rfind(':');
    std::string part(id.substr(colon == std::string_view::npos ? 0 : colon + 1));
    id = id.substr(0, colon == std::string_view::npos ? 0 : colon);
    return part;
  };
  PyroscopeIdParts parts;
  parts.period_type.unit = take();
  parts.period_type.type = take();
  parts.sample_type.unit = take();
  parts.sample_type.type = take();
  parts.name = id;
  return parts;
}

std::vector<ValueType> ProfileType::SampleTypes() const {
  switch (kind) {
    case TypeKind::kCpu:
      return {{"samples", "count"}, {"cpu", "nanoseconds"}};
    case TypeKind::kOffCpu:
      return {{"samples", "count"}, {"runqueue", "nanoseconds"}, {"off_cpu", "nanoseconds"}};
    case TypeKind::kLock:
      return {{"contentions", "count"}, {"delay", "nanoseconds"}};
    case TypeKind::kMemory:
      return {{"alloc_objects", "count"},
              {"alloc_space", "bytes"},
              {"inuse_objects", "count"},
              {"inuse_space", "bytes"}};
    case TypeKind::kEvent:
      return {{"samples", "count"}, {"events", "count"}};
  }
  return {};
}

ValueType ProfileType::MainValue() const {
  const std::vector<ValueType> values = SampleTypes();
  return kind == TypeKind::kMemory ? values[1] : values.back();
}

ValueType ProfileType::PeriodType() const {
  switch (kind) {
    case TypeKind::kCpu:
      return {"cpu", "nanoseconds"};
    case TypeKind::kOffCpu:
      return {"off_cpu", "nanoseconds"};
    case TypeKind::kLock:
      return {"contentions", "count"};
    case TypeKind::kMemory:
      return {"space", "bytes"};
    case TypeKind::kEvent:
      return {"event", "count"};
  }
  return {};
}

Result<ProfileType> ParseProfileType(std::string_view text) {
  for (const SimpleType& simple : kSimpleTypes) {
    if (text == simple.name) return ProfileType{.kind = simple.kind};
  }
  if (text.starts_with(kEventPrefix)) return EventType(text.substr(kEventPrefix.size()));
  return UnknownType(text);
}

Result<TypeSelection> ParseTypeSelection(std::string_view text) {
  for (const KnownId& known : kKnownIds) {
    if (text == known.id) {
      return TypeSelection{.type = {.kind = known.kind},
                           .sample_type = std::string(known.sample_type)};
    }
  }
  if (text.starts_with(kEventPrefix) && text.ends_with(kEventIdSuffix)) {
    text.remove_suffix(kEventIdSuffix.size());
  }
  const size_t colon = text.find(':');
  for (const SimpleType& simple : kSimpleTypes) {
    if (colon == std::string_view::npos || text.substr(0, colon) != simple.name) continue;
    const ProfileType type{.kind = simple.kind};
    for (const ValueType& value : type.SampleTypes()) {
      if (value.type == text.substr(colon + 1)) return TypeSelection{type, value.type};
    }
  }
  ASSIGN_OR_RETURN(ProfileType type, ParseProfileType(text));
  return TypeSelection{.type = std::move(type)};
}

}  // namespace firetower::profile
