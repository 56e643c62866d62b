// SPDX-License-Identifier: Apache-2.0
#include "profile/otlp/dictionary.h"

#include "profile/otlp/fields.h"

namespace firetower::profile {
namespace {

// https://opentelemetry.io/docs/specs/semconv/: registry of profile and process attributes.
constexpr std::string_view kFrameType = "profile.frame.type";
constexpr std::string_view kGnuBuildId = "process.executable.build_id.gnu";

// Codecs that know only whole ids take a link of none in this form.
constexpr size_t kTraceIdBytes = 16;
constexpr size_t kSpanIdBytes = 8;

// A list of one index, or of none.
void WriteIndex(WireWriter& to, uint32_t field, uint32_t index) {
  if (index == 0) return;
  to.Packed(field, 1, [&](size_t) { return uint64_t{index}; });
}

}  // namespace

void OtlpDictionary::Clear() {
  tables_ = {};
  bytes_ = 0;
  for (uint32_t table = 1; table < kTables; ++table) {
    if (table == otlp_field::kLinkTable) {
      entry_.Bytes(otlp_field::kTraceId, std::string(kTraceIdBytes, '\0'));
      entry_.Bytes(otlp_field::kSpanId, std::string(kSpanIdBytes, '\0'));
    }
    AddMessage(table);
  }
}

uint32_t OtlpDictionary::Intern(uint32_t table, std::string_view bytes) {
  Interner<char>& entries = tables_[table];
  const uint32_t before = entries.size();
  const uint32_t index = entries.Intern(std::span<const char>(bytes.data(), bytes.size()));
  // With its tag and length.
  if (entries.size() != before) bytes_ += bytes.size() + 3;
  return index;
}

uint32_t OtlpDictionary::AddMessage(uint32_t table) {
  const uint32_t index = Intern(table, entry_.bytes());
  entry_.Clear();
  return index;
}

uint32_t OtlpDictionary::AddText(std::string_view text) {
  return Intern(otlp_field::kStringTable, text);
}

uint32_t OtlpDictionary::AddAttribute(std::string_view key, std::string_view value) {
  entry_.Number(otlp_field::kKey, AddText(key));
  part_.Clear();
  part_.Bytes(otlp_field::kStringValue, value);
  entry_.Bytes(otlp_field::kAnyValue, part_.bytes());
  return AddMessage(otlp_field::kAttributeTable);
}

uint32_t OtlpDictionary::AddAttribute(std::string_view key, int64_t value, std::string_view unit) {
  entry_.Number(otlp_field::kKey, AddText(key));
  part_.Clear();
  part_.Choice(otlp_field::kIntValue, static_cast<uint64_t>(value));
  entry_.Bytes(otlp_field::kAnyValue, part_.bytes());
  entry_.Number(otlp_field::kValueUnit, AddText(unit));
  return AddMessage(otlp_field::kAttributeTable);
}

void OtlpDictionary::AppendElement(std::string_view text) {
  part_.Clear();
  part_.Bytes(otlp_field::kStringValue, text);
  array_.Bytes(otlp_field::kElement, part_.bytes());
}

void OtlpDictionary::AppendElement(int64_t number) {
  part_.Clear();
  part_.Choice(otlp_field::kIntValue, static_cast<uint64_t>(number));
  array_.Bytes(otlp_field::kElement, part_.bytes());
}

uint32_t OtlpDictionary::AddArray(std::string_view key, std::string_view unit) {
  entry_.Number(otlp_field::kKey, AddText(key));
  part_.Clear();
  part_.Bytes(otlp_field::kArrayValue, array_.bytes());
  array_.Clear();
  entry_.Bytes(otlp_field::kAnyValue, part_.bytes());
  entry_.Number(otlp_field::kValueUnit, AddText(unit));
  return AddMessage(otlp_field::kAttributeTable);
}

uint32_t OtlpDictionary::AddAttribute(std::string_view key, std::span<const std::string> values) {
  for (const std::string& value : values) AppendElement(value);
  return AddArray(key, "");
}

uint32_t OtlpDictionary::AddAttribute(std::string_view key, std::span<const int64_t> values,
                                      std::string_view unit) {
  for (const int64_t value : values) AppendElement(value);
  return AddArray(key, unit);
}

uint32_t OtlpDictionary::AddFunction(const Profile& profile, const Function& function) {
  entry_.Number(otlp_field::kName, AddText(profile.string(function.name)));
  entry_.Number(otlp_field::kSystemName, AddText(profile.string(function.system_name)));
  entry_.Number(otlp_field::kFilename, AddText(profile.string(function.filename)));
  entry_.Number(otlp_field::kStartLine, function.start_line);
  return AddMessage(otlp_field::kFunctionTable);
}

uint32_t OtlpDictionary::AddMapping(const Profile& profile, const Mapping& mapping) {
  const std::string_view build_id = profile.string(mapping.build_id);
  const uint32_t attribute = build_id.empty() ? 0 : AddAttribute(kGnuBuildId, build_id);
  entry_.Number(otlp_field::kMemoryStart, mapping.memory_start);
  entry_.Number(otlp_field::kMemoryLimit, mapping.memory_limit);
  entry_.Number(otlp_field::kFileOffset, mapping.file_offset);
  entry_.Number(otlp_field::kMappingFilename, AddText(profile.string(mapping.filename)));
  WriteIndex(entry_, otlp_field::kMappingAttribute, attribute);
  return AddMessage(otlp_field::kMappingTable);
}

uint32_t OtlpDictionary::AddLocation(const Profile& profile, const Location& location,
                                     uint32_t mapping_index,
                                     const std::vector<uint32_t>& functions) {
  uint32_t frame_type = 0;
  if (profile.IsKernel(location)) {
    frame_type = AddAttribute(kFrameType, "kernel");
  } else if (location.mapping != kNoMapping &&
             profile.string(profile.mapping(location.mapping).filename).starts_with('/')) {
    // Code of a file. What a runtime compiled, or interprets, is in none.
    frame_type = AddAttribute(kFrameType, "native");
  }
  entry_.Number(otlp_field::kMappingIndex, mapping_index);
  entry_.Number(otlp_field::kLocationAddress, location.address);
  for (const Line& line : location.lines) {
    part_.Clear();
    part_.Number(otlp_field::kFunctionIndex, functions[line.function]);
    part_.Number(otlp_field::kLineNumber, line.line);
    part_.Number(otlp_field::kColumn, line.column);
    entry_.Bytes(otlp_field::kLine, part_.bytes());
  }
  WriteIndex(entry_, otlp_field::kLocationAttribute, frame_type);
  return AddMessage(otlp_field::kLocationTable);
}

uint32_t OtlpDictionary::AddStack(const StackView& stack, const std::vector<uint32_t>& locations) {
  entry_.Packed(otlp_field::kLocationIndex, stack.size(),
                [&](size_t i) { return locations[stack[i]]; });
  return AddMessage(otlp_field::kStackTable);
}

void OtlpDictionary::AppendTo(std::string* message) const {
  WireWriter tables;
  for (uint32_t table = 1; table < kTables; ++table) {
    const Pool<char>& entries = tables_[table].pool();
    for (uint32_t i = 0; i < entries.size(); ++i) {
      const std::span<const char> entry = entries.Get(i);
      tables.Bytes(table, {entry.data(), entry.size()});
    }
  }
  tables.MoveTo(message, otlp_field::kDictionary);
}

}  // namespace firetower::profile
