// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/message.h"

namespace firetower::query {

// The query parameters of one request, checked: an unknown one is an error and not ignored, since a
// misspelt `form=` would silently answer another question.
class Params {
 public:
  // kInvalid names the parameter and those that are allowed. `request` outlives this.
  static Result<Params> Read(const net::HttpRequest& request,
                             std::span<const std::string_view> allowed);

  // "" when absent.
  std::string_view Get(std::string_view name) const;
  // That it has a value: an empty one is none.
  bool Has(std::string_view name) const { return !Get(name).empty(); }
  // That it stands there, with a value or without.
  bool IsGiven(std::string_view name) const;
  // `fallback` when absent; kInvalid when neither "true" nor "false".
  Result<bool> GetBool(std::string_view name, bool fallback) const;
  // `fallback` when absent; kInvalid outside [min, max].
  Result<int64_t> GetInt(std::string_view name, int64_t fallback, int64_t min, int64_t max) const;

 private:
  explicit Params(const net::NamedValues& values) : values_(&values) {}
  const net::NamedValues* values_;
};

}  // namespace firetower::query
