// SPDX-License-Identifier: Apache-2.0
#include "query/http/params.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/suggest.h"

namespace firetower::query {

Result<Params> Params::Read(const net::HttpRequest& request,
                            std::span<const std::string_view> allowed) {
  for (size_t i = 0; i < request.params.size(); ++i) {
    const std::string& name = request.params[i].first;
    if (std::find(allowed.begin(), allowed.end(), name) == allowed.end()) {
      std::string takes =
          allowed.empty() ? "no parameters" : fmt::format("{}", fmt::join(allowed, ", "));
      return Error(ErrorCode::kInvalid,
                   fmt::format("unknown parameter '{}': {} accepts {}{}", name, request.path, takes,
                               DidYouMean(name, allowed)));
    }
    auto same = [&](const auto& other) { return other.first == name; };
    auto begin = request.params.begin();
    if (std::any_of(begin, begin + static_cast<ptrdiff_t>(i), same)) {
      return Error(ErrorCode::kInvalid, fmt::format("parameter '{}' is given twice", name));
    }
  }
  return Params(request.params);
}

std::string_view Params::Get(std::string_view name) const {
  for (const auto& [key, value] : *values_) {
    if (key == name) return value;
  }
  return "";
}

bool Params::IsGiven(std::string_view name) const {
  return std::any_of(values_->begin(), values_->end(),
                     [&](const auto& value) { return value.first == name; });
}

Result<bool> Params::GetBool(std::string_view name, bool fallback) const {
  const std::string_view text = Get(name);
  if (text.empty()) return fallback;
  if (text == "true" || text == "false") return text == "true";
  return Error(ErrorCode::kInvalid, fmt::format("parameter '{}' must be true or false", name));
}

Result<int64_t> Params::GetInt(std::string_view name, int64_t fallback, int64_t min,
                               int64_t max) const {
  std::string_view text = Get(name);
  if (text.empty()) return fallback;
  int64_t value = 0;
  auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size() || value < min || value > max) {
    return Error(ErrorCode::kInvalid, fmt::format("parameter '{}' is '{}': it must be a whole "
                                                  "number from {} to {}",
                                                  name, text, min, max));
  }
  return value;
}

}  // namespace firetower::query
