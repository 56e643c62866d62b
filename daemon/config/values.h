// SPDX-License-Identifier: Apache-2.0
// Readers and writers of option values: each makes the typed part of a row of the table.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "daemon/config/config.h"

namespace firetower::daemon {

// The typed part of an Option.
struct ValueType {
  std::string allowed;
  std::function<Status(Config&, std::string_view)> set;
  std::function<std::string(const Config&)> get;
};

ValueType SwitchValue(bool Config::*field);
ValueType IntegerValue(int Config::*field, int least, int most);
// Between `least` and `most` bytes; a ring must also be a power of two.
enum class ByteShape { kAny, kPowerOfTwo };
ValueType BytesValue(int64_t Config::*field, int64_t least, int64_t most, ByteShape shape);
ValueType DurationValue(int64_t Config::*field, int64_t least_ns, int64_t most_ns);
ValueType PathValue(std::string Config::*field, std::string allowed);  // may be empty
ValueType AbsolutePathValue(std::string Config::*field);
// Value that may stand in an object key: at most 253 letters, digits, '.', '_' and '-'.
ValueType NameValue(std::string Config::*field, std::string allowed);
ValueType StoreValue();
ValueType ListenValue();
ValueType HostNamesValue();
ValueType SampleLabelsValue();
ValueType CgroupHierarchyValue();
ValueType SymbolsValue();
ValueType DebuginfodValue();
ValueType PushValue();
ValueType LogLevelValue();
ValueType LogFormatValue();

}  // namespace firetower::daemon
