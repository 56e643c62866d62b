// SPDX-License-Identifier: Apache-2.0
#include "profile/otlp/dictionary.h"

#include "proto/otlp/profiles.pb.h"

namespace firetower::profile {
namespace {

using proto::otlp::AnyValue;
using Tables = proto::otlp::ProfilesDictionary;

// https://opentelemetry.io/docs/specs/semconv/: registry of profile and process attributes.
constexpr std::string_view kFrameType = "profile.frame.type";
constexpr std::string_view kGnuBuildId = "process.executable.build_id.gnu";

// Codecs that know only whole ids take a link of none in this form.
constexpr size_t kTraceIdBytes = 16;
constexpr size_t kSpanIdBytes = 8;

void SetText(AnyValue* value, std::string_view text) {
  value->set_string_value(text.data(), text.size());
}

}  // namespace

OtlpDictionary::OtlpDictionary() : entry_(std::make_unique<Tables>()) { Clear(); }

OtlpDictionary::~OtlpDictionary() = default;

void OtlpDictionary::Clear() {
  tables_ = {};
  bytes_ = 0;
  entry_->add_mapping_table();
  AddEntry(Tables::kMappingTableFieldNumber);
  entry_->add_location_table();
  AddEntry(Tables::kLocationTableFieldNumber);
  entry_->add_function_table();
  AddEntry(Tables::kFunctionTableFieldNumber);
  proto::otlp::Link* link = entry_->add_link_table();
  link->set_trace_id(std::string(kTraceIdBytes, '\0'));
  link->set_span_id(std::string(kSpanIdBytes, '\0'));
  AddEntry(Tables::kLinkTableFieldNumber);
  entry_->add_string_table();
  AddEntry(Tables::kStringTableFieldNumber);
  entry_->add_attribute_table();
  AddEntry(Tables::kAttributeTableFieldNumber);
  entry_->add_stack_table();
  AddEntry(Tables::kStackTableFieldNumber);
}

int32_t OtlpDictionary::AddEntry(int table) {
  entry_->SerializeToString(&encoded_);
  entry_->Clear();
  Interner<char>& entries = tables_[static_cast<size_t>(table)];
  const uint32_t before = entries.size();
  const uint32_t index = entries.Intern(encoded_);
  if (entries.size() != before) bytes_ += encoded_.size();
  return static_cast<int32_t>(index);
}

int32_t OtlpDictionary::AddText(std::string_view text) {
  entry_->add_string_table(text.data(), text.size());
  return AddEntry(Tables::kStringTableFieldNumber);
}

int32_t OtlpDictionary::AddValue(std::string_view key, const AnyValue& value,
                                 std::string_view unit) {
  const int32_t key_index = AddText(key);
  const int32_t unit_index = AddText(unit);
  proto::otlp::KeyValueAndUnit* attribute = entry_->add_attribute_table();
  attribute->set_key_strindex(key_index);
  *attribute->mutable_value() = value;
  attribute->set_unit_strindex(unit_index);
  return AddEntry(Tables::kAttributeTableFieldNumber);
}

int32_t OtlpDictionary::AddAttribute(std::string_view key, std::string_view value) {
  AnyValue any;
  SetText(&any, value);
  return AddValue(key, any, "");
}

int32_t OtlpDictionary::AddAttribute(std::string_view key, int64_t value, std::string_view unit) {
  AnyValue any;
  any.set_int_value(value);
  return AddValue(key, any, unit);
}

int32_t OtlpDictionary::AddAttribute(std::string_view key, std::span<const std::string> values) {
  AnyValue any;
  for (const std::string& value : values) SetText(any.mutable_array_value()->add_values(), value);
  return AddValue(key, any, "");
}

int32_t OtlpDictionary::AddAttribute(std::string_view key, std::span<const int64_t> values,
                                     std::string_view unit) {
  AnyValue any;
  for (const int64_t value : values) any.mutable_array_value()->add_values()->set_int_value(value);
  return AddValue(key, any, unit);
}

int32_t OtlpDictionary::AddLink(std::string_view trace_id, std::string_view span_id) {
  proto::otlp::Link* link = entry_->add_link_table();
  link->set_trace_id(trace_id.data(), trace_id.size());
  link->set_span_id(span_id.data(), span_id.size());
  return AddEntry(Tables::kLinkTableFieldNumber);
}

int32_t OtlpDictionary::AddFunction(const Profile& profile, const Function& function) {
  const int32_t name = AddText(profile.string(function.name));
  const int32_t system_name = AddText(profile.string(function.system_name));
  const int32_t filename = AddText(profile.string(function.filename));
  proto::otlp::Function* entry = entry_->add_function_table();
  entry->set_name_strindex(name);
  entry->set_system_name_strindex(system_name);
  entry->set_filename_strindex(filename);
  entry->set_start_line(function.start_line);
  return AddEntry(Tables::kFunctionTableFieldNumber);
}

int32_t OtlpDictionary::AddMapping(const Profile& profile, const Mapping& mapping) {
  const std::string_view build_id = profile.string(mapping.build_id);
  const int32_t attribute = build_id.empty() ? 0 : AddAttribute(kGnuBuildId, build_id);
  const int32_t filename = AddText(profile.string(mapping.filename));
  proto::otlp::Mapping* entry = entry_->add_mapping_table();
  entry->set_memory_start(mapping.memory_start);
  entry->set_memory_limit(mapping.memory_limit);
  entry->set_file_offset(mapping.file_offset);
  entry->set_filename_strindex(filename);
  if (attribute != 0) entry->add_attribute_indices(attribute);
  return AddEntry(Tables::kMappingTableFieldNumber);
}

int32_t OtlpDictionary::AddLocation(const Profile& profile, const Location& location,
                                    int32_t mapping_index, const std::vector<int32_t>& functions) {
  int32_t frame_type = 0;
  if (profile.IsKernel(location)) {
    frame_type = AddAttribute(kFrameType, "kernel");
  } else if (location.mapping != kNoMapping &&
             profile.string(profile.mapping(location.mapping).filename).starts_with('/')) {
    // Code of a file. What a runtime compiled, or interprets, is in none.
    frame_type = AddAttribute(kFrameType, "native");
  }
  proto::otlp::Location* entry = entry_->add_location_table();
  entry->set_mapping_index(mapping_index);
  entry->set_address(location.address);
  for (const Line& line : location.lines) {
    proto::otlp::Line* to = entry->add_lines();
    to->set_function_index(functions[line.function]);
    to->set_line(line.line);
    to->set_column(line.column);
  }
  if (frame_type != 0) entry->add_attribute_indices(frame_type);
  return AddEntry(Tables::kLocationTableFieldNumber);
}

int32_t OtlpDictionary::AddStack(const StackView& stack, const std::vector<int32_t>& locations) {
  proto::otlp::Stack* entry = entry_->add_stack_table();
  for (size_t i = 0; i < stack.size(); ++i) entry->add_location_indices(locations[stack[i]]);
  return AddEntry(Tables::kStackTableFieldNumber);
}

std::string OtlpDictionary::Encode() const {
  std::string message;
  message.reserve(bytes_);
  for (const Interner<char>& table : tables_) {
    for (uint32_t i = 0; i < table.size(); ++i) {
      const std::span<const char> entry = table.pool().Get(i);
      message.append(entry.data(), entry.size());
    }
  }
  return message;
}

}  // namespace firetower::profile
