// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"
#include "profile/table/interner.h"

namespace firetower::proto::otlp {
class AnyValue;
class ProfilesDictionary;
}  // namespace firetower::proto::otlp

namespace firetower::profile {

// OTLP's ProfilesDictionary: the tables that the profiles of a request share. An entry is kept
// encoded, so that equal ones become one by their bytes; the first of each table is the empty
// message, which an index of 0 stands for. One thread.
class OtlpDictionary {
 public:
  OtlpDictionary();
  ~OtlpDictionary();
  OtlpDictionary(const OtlpDictionary&) = delete;
  OtlpDictionary& operator=(const OtlpDictionary&) = delete;
  void Clear();

  // Each gives the index in its table.
  int32_t AddText(std::string_view text);
  int32_t AddAttribute(std::string_view key, std::string_view value);
  int32_t AddAttribute(std::string_view key, int64_t value, std::string_view unit);
  // Adds an attribute of several values, as an ArrayValue.
  int32_t AddAttribute(std::string_view key, std::span<const std::string> values);
  int32_t AddAttribute(std::string_view key, std::span<const int64_t> values,
                       std::string_view unit);
  // Adds the span that a sample belongs to, by the bytes of its ids: 16 and 8.
  int32_t AddLink(std::string_view trace_id, std::string_view span_id);
  int32_t AddFunction(const Profile& profile, const Function& function);
  int32_t AddMapping(const Profile& profile, const Mapping& mapping);
  // `functions` and `mapping_index`: where its functions and its mapping are here.
  int32_t AddLocation(const Profile& profile, const Location& location, int32_t mapping_index,
                      const std::vector<int32_t>& functions);
  // `locations`: where the profile's are here.
  int32_t AddStack(const StackView& stack, const std::vector<int32_t>& locations);

  // Of all entries.
  size_t bytes() const { return bytes_; }
  // Returns the encoded ProfilesDictionary.
  std::string Encode() const;

 private:
  static constexpr size_t kTables = 8;  // by field number; there is no 0

  int32_t AddValue(std::string_view key, const proto::otlp::AnyValue& value, std::string_view unit);
  // Adds the only entry of entry_, which is empty afterwards, to the table of that field number.
  int32_t AddEntry(int table);

  // A dictionary of one entry each: the bytes of all of them are the whole one's.
  std::array<Interner<char>, kTables> tables_;
  size_t bytes_ = 0;
  std::unique_ptr<proto::otlp::ProfilesDictionary> entry_;
  std::string encoded_;  // entry_
};

}  // namespace firetower::profile
