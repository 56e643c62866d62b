// SPDX-License-Identifier: Apache-2.0
#include "query/pyroscope/json.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/json.h"
#include "profile/codec/pprof/wire.h"
#include "profile/codec/pprof/wire_writer.h"

namespace firetower::query::pyroscope {
namespace {

using Json = nlohmann::json;
using profile::WireField;
using profile::WireReader;
using profile::WireWriter;

Error NotA(const FieldSchema& field, std::string_view what) {
  return {ErrorCode::kInvalid, fmt::format("member \"{}\" is not {}", field.json, what)};
}

template <typename Number>
std::optional<Number> NumberOf(std::string_view text) {
  Number number{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return number;
}

// 12, 12.0, 1.2e1 and "12" are the same.
std::optional<int64_t> IntegerOf(const Json& json) {
  if (json.is_string()) return NumberOf<int64_t>(json.get_ref<const std::string&>());
  if (const std::optional<int64_t> integer = JsonInteger(json)) return integer;
  if (!json.is_number_float()) return std::nullopt;
  const auto number = json.get<double>();
  constexpr double kExact = 9007199254740992;  // 2^53: beyond it a double may be another integer
  if (!(std::abs(number) <= kExact) || std::trunc(number) != number) return std::nullopt;
  return static_cast<int64_t>(number);
}

std::optional<double> DoubleOf(const Json& json) {
  std::optional<double> number;
  if (json.is_number()) number = json.get<double>();
  if (json.is_string()) number = NumberOf<double>(json.get_ref<const std::string&>());
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<uint64_t> EnumOf(const Json& json, EnumNames names) {
  if (!json.is_string()) {
    const std::optional<int64_t> number = IntegerOf(json);
    return number ? std::optional(static_cast<uint64_t>(*number)) : std::nullopt;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (json.get_ref<const std::string&>() == names[i]) return i;
  }
  return kUnknownEnum;
}

Status AppendMessage(const Json& json, const MessageSchema& schema, std::string& out);

// One value that is not null. Repeated numbers come one by one, which protobuf allows.
Status AppendValue(const Json& json, const FieldSchema& field, std::string& out) {
  WireWriter writer;
  switch (field.kind) {
    case FieldKind::kInt64:
    case FieldKind::kUint64: {
      const std::optional<int64_t> number = IntegerOf(json);
      if (!number) return NotA(field, "a 64-bit integer");
      writer.Choice(field.number, static_cast<uint64_t>(*number));
      break;
    }
    case FieldKind::kEnum: {
      const std::optional<uint64_t> number = EnumOf(json, field.names);
      if (!number) return NotA(field, "an enum's name or number");
      writer.Choice(field.number, *number);
      break;
    }
    case FieldKind::kDouble: {
      const std::optional<double> number = DoubleOf(json);
      if (!number) return NotA(field, "a finite number");
      writer.Fixed64(field.number, std::bit_cast<uint64_t>(*number));
      break;
    }
    case FieldKind::kBool:
      if (!json.is_boolean()) return NotA(field, "true or false");
      writer.Choice(field.number, json.get<bool>() ? 1 : 0);
      break;
    case FieldKind::kString:
      if (!json.is_string()) return NotA(field, "a text");
      writer.Bytes(field.number, json.get_ref<const std::string&>());
      break;
    case FieldKind::kMessage: {
      std::string message;
      if (!json.is_object()) return NotA(field, "an object");
      RETURN_IF_ERROR(AppendMessage(json, *field.message, message).Context(field.json));
      writer.Bytes(field.number, message);
      break;
    }
  }
  out.append(writer.bytes());
  return OkStatus();
}

// As deep as the schema is.
Status AppendMessage(const Json& json, const MessageSchema& schema, std::string& out) {
  for (const FieldSchema& field : schema.fields) {
    auto found = json.find(field.json);
    if (found == json.end()) found = json.find(field.name);
    if (found == json.end() || found->is_null()) continue;
    if (!field.is_repeated) {
      RETURN_IF_ERROR(AppendValue(*found, field, out));
      continue;
    }
    if (!found->is_array()) return NotA(field, "a list");
    for (const Json& one : *found) RETURN_IF_ERROR(AppendValue(one, field, out));
  }
  return OkStatus();
}

class JsonWriter {
 public:
  explicit JsonWriter(size_t max_bytes) : max_bytes_(max_bytes) {}

  Status AddMessage(std::string_view message, const MessageSchema& schema) {
    out_ += '{';
    bool is_first = true;
    for (const FieldSchema& field : schema.fields) {
      RETURN_IF_ERROR(AddField(message, field, &is_first));
    }
    out_ += '}';
    return OkStatus();
  }
  std::string Take() { return std::move(out_); }

 private:
  // Every occurrence of one field; of one that is not repeated the last counts.
  Status AddField(std::string_view message, const FieldSchema& field, bool* is_first) {
    const size_t before = out_.size();
    const auto begin = [&] {
      out_.resize(before);
      if (!*is_first) out_ += ',';
      AddText(field.json);
      out_ += ':';
    };
    size_t count = 0;
    WireReader in(message);
    WireField at;
    while (!in.empty()) {
      if (!in.ReadField(&at)) return Error(ErrorCode::kCorrupt, "the answer is no message");
      const bool is_double = field.kind == FieldKind::kDouble;
      if ((is_double ? at.fixed64_number : at.number) != field.number) continue;
      if (!field.is_repeated) begin();
      if (field.is_repeated && count == 0) {
        begin();
        out_ += '[';
      }
      RETURN_IF_ERROR(AddOccurrence(at, field, &count));
      if (out_.size() > max_bytes_) {
        return Error(ErrorCode::kExhausted,
                     fmt::format("the answer is larger as JSON than {} bytes: ask for "
                                 "application/proto, or narrow the selector or the time range",
                                 max_bytes_));
      }
    }
    if (out_.size() == before) return OkStatus();
    if (field.is_repeated) out_ += ']';
    *is_first = false;
    return OkStatus();
  }

  Status AddOccurrence(const WireField& at, const FieldSchema& field, size_t* count) {
    const bool is_number = field.kind != FieldKind::kString && field.kind != FieldKind::kMessage;
    if (!field.is_repeated || !is_number || !at.is_bytes) {
      if (field.is_repeated && (*count)++ > 0) out_ += ',';
      return AddValue(at, field);
    }
    WireReader packed(at.bytes);
    WireField one;
    while (!packed.empty()) {
      if (!packed.ReadVarint(&one.value)) return Error(ErrorCode::kCorrupt, "a packed list is cut");
      if ((*count)++ > 0) out_ += ',';
      RETURN_IF_ERROR(AddValue(one, field));
    }
    return OkStatus();
  }

  Status AddValue(const WireField& at, const FieldSchema& field) {
    switch (field.kind) {
      case FieldKind::kInt64:
        AddQuoted(static_cast<int64_t>(at.value));
        return OkStatus();
      case FieldKind::kUint64:
        AddQuoted(at.value);
        return OkStatus();
      case FieldKind::kEnum:
        out_ += fmt::format_int(static_cast<int64_t>(at.value)).c_str();
        return OkStatus();
      case FieldKind::kDouble:
        AddDouble(std::bit_cast<double>(at.value));
        return OkStatus();
      case FieldKind::kBool:
        out_ += at.value != 0 ? "true" : "false";
        return OkStatus();
      case FieldKind::kString:
        AddText(at.bytes);
        return OkStatus();
      case FieldKind::kMessage:
        return AddMessage(at.bytes, *field.message);
    }
    return OkStatus();
  }

  void AddDouble(double number) {
    if (std::isfinite(number)) {
      out_ += fmt::format("{}", number);
    } else {
      AddText(std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity");
    }
  }
  template <typename Number>
  void AddQuoted(Number number) {
    const fmt::format_int text(number);
    out_ += '"';
    out_.append(text.data(), text.size());
    out_ += '"';
  }
  void AddText(std::string_view text) {
    out_ += '"';
    out_ += JsonEscape(text);
    out_ += '"';
  }

  const size_t max_bytes_;
  std::string out_;
};

}  // namespace

Result<std::string> MessageFromJson(std::string_view text, const MessageSchema& schema) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Error(ErrorCode::kInvalid, "the body is not a JSON object");
  std::string message;
  RETURN_IF_ERROR(AppendMessage(json, schema, message));
  return message;
}

Result<std::string> MessageToJson(std::string_view message, const MessageSchema& schema,
                                  size_t max_bytes) {
  JsonWriter writer(max_bytes);
  RETURN_IF_ERROR(writer.AddMessage(message, schema));
  return writer.Take();
}

}  // namespace firetower::query::pyroscope
