// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/message.h"

namespace firetower::query {

// The query parameters of one request, checked. An unknown one is an error, because ignoring a
// misspelt `form=` would silently answer another question.
class Params {
 public:
  // Reads the parameters. kInvalid names the unknown parameter and the allowed ones. `request` must
  // outlive this.
  static Result<Params> Read(const net::HttpRequest& request,
                             std::span<const std::string_view> allowed);

  // Returns "" when absent.
  std::string_view Get(std::string_view name) const;
  // Tells whether the parameter has a value that is not empty.
  bool Has(std::string_view name) const { return !Get(name).empty(); }
  // Tells whether the parameter is present, with a value or without.
  bool IsGiven(std::string_view name) const;
  // Returns `fallback` when absent. kInvalid: neither "true" nor "false".
  Result<bool> GetBool(std::string_view name, bool fallback) const;
  // Returns `fallback` when absent. kInvalid: outside [min, max].
  Result<int64_t> GetInt(std::string_view name, int64_t fallback, int64_t min, int64_t max) const;

 private:
  explicit Params(const net::NamedValues& values) : values_(&values) {}
  const net::NamedValues* values_;
};

}  // namespace firetower::query
