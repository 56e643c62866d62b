// SPDX-License-Identifier: Apache-2.0
// Readers and writers of option values, each bound to the field that it sets. A refused text
// changes nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "service/options/option.h"

namespace firetower::service {

// Why a value is refused, as a Status.
Error Refused(std::string why);

ValueType SwitchValue(bool& field);
ValueType IntegerValue(int& field, int least, int most);
// Between `least` and `most` bytes; a ring must also be a power of two.
enum class ByteShape { kAny, kPowerOfTwo };
ValueType BytesValue(int64_t& field, int64_t least, int64_t most, ByteShape shape);
ValueType DurationValue(int64_t& field, int64_t least_ns, int64_t most_ns);
// Any text that `check` takes; unset: any.
using TextCheck = std::function<Status(std::string_view text)>;
ValueType TextValue(std::string& field, std::string allowed, TextCheck check = nullptr);
ValueType AbsolutePathValue(std::string& field);
// A file of signatures (query/diagnose/signature_file.h), which is read to be checked.
ValueType SignatureFileValue(std::string& field);
// An address of a page of traces, with {trace_id} where the id goes.
ValueType TraceUrlValue(std::string& field);
// Value that may stand in an object key: at most 253 letters, digits, '.', '_' and '-'.
ValueType NameValue(std::string& field);
ValueType LogLevelValue(LogLevel& field);
ValueType LogFormatValue(LogFormat& field);

// One of `names`, which are those of an enum's values in their order; `why` says what others are.
template <typename T, size_t kCount>
ValueType ChoiceValue(T& field, const std::array<std::string_view, kCount>& names,
                      std::string allowed, std::string why) {
  return {std::move(allowed),
          [&field, names, why = std::move(why)](std::string_view text) -> Status {
            const auto found = std::find(names.begin(), names.end(), text);
            if (found == names.end()) return Refused(why);
            field = static_cast<T>(found - names.begin());
            return OkStatus();
          },
          [&field, names] { return std::string(names[static_cast<size_t>(field)]); }};
}

// A whole number in decimal digits.
std::optional<int64_t> WholeNumber(std::string_view text);

}  // namespace firetower::service
