// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profile/codec/pprof/wire_writer.h"
#include "profile/profile.h"
#include "profile/table/interner.h"

namespace firetower::profile {

// OTLP's ProfilesDictionary: the tables that the profiles of a request share. An entry is its
// encoded message, so that equal ones become one by their bytes; the first of each table is the
// empty message, which an index of 0 stands for. One thread.
class OtlpDictionary {
 public:
  OtlpDictionary() { Clear(); }
  void Clear();

  // Each gives the index in its table.
  uint32_t AddText(std::string_view text);
  uint32_t AddAttribute(std::string_view key, std::string_view value);
  uint32_t AddAttribute(std::string_view key, int64_t value, std::string_view unit);
  // Adds an attribute of several values, as an ArrayValue.
  uint32_t AddAttribute(std::string_view key, std::span<const std::string> values);
  uint32_t AddAttribute(std::string_view key, std::span<const int64_t> values,
                        std::string_view unit);
  uint32_t AddFunction(const Profile& profile, const Function& function);
  uint32_t AddMapping(const Profile& profile, const Mapping& mapping);
  // `functions` and `mapping_index`: where its functions and its mapping are here.
  uint32_t AddLocation(const Profile& profile, const Location& location, uint32_t mapping_index,
                       const std::vector<uint32_t>& functions);
  // `locations`: where the profile's are here.
  uint32_t AddStack(const StackView& stack, const std::vector<uint32_t>& locations);

  // Of all entries.
  size_t bytes() const { return bytes_; }
  void AppendTo(std::string* message) const;

 private:
  static constexpr size_t kTables = 8;  // by field number; there is no 0

  uint32_t AddMessage(uint32_t table);  // what is in entry_, which is empty afterwards
  // Appends an AnyValue to the array in array_.
  void AppendElement(std::string_view text);
  void AppendElement(int64_t number);
  // Adds the attribute whose values are in array_, which is empty afterwards.
  uint32_t AddArray(std::string_view key, std::string_view unit);
  uint32_t Intern(uint32_t table, std::string_view bytes);

  std::array<Interner<char>, kTables> tables_;
  size_t bytes_ = 0;
  WireWriter entry_;  // the message that is being made
  WireWriter part_;   // one inside it
  WireWriter array_;  // an ArrayValue
};

}  // namespace firetower::profile
