// SPDX-License-Identifier: Apache-2.0
#include "service/options/values.h"

#include <fmt/core.h>

#include <charconv>

#include "base/units.h"
#include "query/diagnose/signature_file.h"

namespace firetower::service {
namespace {

Status InBounds(int64_t value, int64_t least, int64_t most) {
  if (value < least) return Refused("it is below the least value");
  if (value > most) return Refused("it is above the largest value");
  return OkStatus();
}

bool IsPowerOfTwo(int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

bool FitsAKey(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

}  // namespace

Error Refused(std::string why) { return {ErrorCode::kInvalid, std::move(why)}; }

std::optional<int64_t> WholeNumber(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

ValueType SwitchValue(bool& field) {
  return {"true or false",
          [&field](std::string_view text) -> Status {
            if (text != "true" && text != "false") return Refused("it is neither");
            field = text == "true";
            return OkStatus();
          },
          [&field] { return field ? "true" : "false"; }};
}

ValueType IntegerValue(int& field, int least, int most) {
  return {fmt::format("{} to {}", least, most),
          [&field, least, most](std::string_view text) -> Status {
            const std::optional<int64_t> value = WholeNumber(text);
            if (!value) return Refused("it is not a whole number");
            RETURN_IF_ERROR(InBounds(*value, least, most));
            field = static_cast<int>(*value);
            return OkStatus();
          },
          [&field] { return fmt::format("{}", field); }};
}

ValueType BytesValue(int64_t& field, int64_t least, int64_t most, ByteShape shape) {
  const bool power = shape == ByteShape::kPowerOfTwo;
  return {fmt::format("{}{} to {}", power ? "a power of two, " : "", FormatBytes(least),
                      FormatBytes(most)),
          [=, &field](std::string_view text) -> Status {
            ASSIGN_OR_RETURN(const int64_t value, ParseBytes(text));
            RETURN_IF_ERROR(InBounds(value, least, most));
            if (power && !IsPowerOfTwo(value)) return Refused("it is not a power of two");
            field = value;
            return OkStatus();
          },
          [&field] { return FormatBytes(field); }};
}

ValueType DurationValue(int64_t& field, int64_t least_ns, int64_t most_ns) {
  return {fmt::format("{} to {}", FormatDuration(least_ns), FormatDuration(most_ns)),
          [=, &field](std::string_view text) -> Status {
            ASSIGN_OR_RETURN(const int64_t value, ParseDurationNs(text));
            RETURN_IF_ERROR(InBounds(value, least_ns, most_ns));
            field = value;
            return OkStatus();
          },
          [&field] { return FormatDuration(field); }};
}

ValueType TextValue(std::string& field, std::string allowed, TextCheck check) {
  return {std::move(allowed),
          [&field, check = std::move(check)](std::string_view text) -> Status {
            if (check) RETURN_IF_ERROR(check(text));
            field = text;
            return OkStatus();
          },
          [&field] { return field; }};
}

ValueType AbsolutePathValue(std::string& field) {
  return TextValue(field, "an absolute path", [](std::string_view text) -> Status {
    return text.starts_with('/') ? OkStatus() : Refused("it does not start with '/'");
  });
}

ValueType SignatureFileValue(std::string& field) {
  return TextValue(field, "a JSON file of signatures; empty for none",
                   [](std::string_view text) -> Status {
                     const auto read = query::ReadSignatureFile(std::string(text));
                     return read ? OkStatus() : Refused(read.error().message());
                   });
}

ValueType TraceUrlValue(std::string& field) {
  return TextValue(field, "an http or https address with {trace_id} in it; empty for none",
                   [](std::string_view text) -> Status {
                     if (text.empty()) return OkStatus();
                     if (!text.starts_with("https://") && !text.starts_with("http://"))
                       return Refused("it begins with neither https:// nor http://");
                     if (text.find("{trace_id}") == std::string_view::npos)
                       return Refused("it does not say where the id goes: {trace_id} is missing");
                     const auto is_odd = [](unsigned char c) {
                       return c <= ' ' || c >= 0x7f ||
                              std::string_view("\"'<>`\\").find(static_cast<char>(c)) !=
                                  std::string_view::npos;
                     };
                     if (std::ranges::any_of(text, is_odd))
                       return Refused("it holds a character that no address has");
                     return OkStatus();
                   });
}

ValueType NameValue(std::string& field) {
  return TextValue(field, "letters, digits, '.', '_' and '-', at most 253 characters",
                   [](std::string_view text) -> Status {
                     if (text.empty()) return Refused("it is empty");
                     if (text.size() > 253) return Refused("it is longer than 253 characters");
                     if (!std::ranges::all_of(text, FitsAKey))
                       return Refused("it holds another character");
                     // A folder of this name would lead out of the store.
                     if (text == "." || text == "..") return Refused("it names a folder");
                     return OkStatus();
                   });
}

ValueType LogLevelValue(LogLevel& field) {
  return ChoiceValue(field, std::array<std::string_view, 4>{"debug", "info", "warn", "error"},
                     "debug, info, warn or error", "there is no such level");
}

ValueType LogFormatValue(LogFormat& field) {
  return ChoiceValue(field, std::array<std::string_view, 2>{"text", "json"}, "text or json",
                     "there is no such format");
}

}  // namespace firetower::service
