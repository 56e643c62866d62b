// SPDX-License-Identifier: Apache-2.0
#include "base/text/url_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text/percent.h"

namespace firetower {
namespace {

constexpr size_t kMaxNameShown = 40;

}  // namespace

Result<std::vector<UrlOption>> ParseUrlOptions(std::string_view query) {
  std::vector<UrlOption> options;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return Error(ErrorCode::kInvalid, "an option is NAME=VALUE, and '&' stands between two");
    }
    const std::string_view name = pair.substr(0, equals);
    const auto invalid = [&](std::string_view why) {
      return Error(ErrorCode::kInvalid, fmt::format("{}: {}", name.substr(0, kMaxNameShown), why));
    };
    std::optional<std::string> value = DecodePercent(pair.substr(equals + 1));
    if (!value) return invalid("has a bad % in its value: %XX is a byte, %25 a percent sign");
    if (value->empty()) return invalid("is empty");
    if (!std::ranges::all_of(*value, [](char c) { return c >= ' ' && c <= '~'; })) {
      return invalid("holds a byte that is not printable ASCII");
    }
    if (std::ranges::find(options, name, &UrlOption::name) != options.end()) {
      return invalid("is given twice, but only one counts; omit one");
    }
    options.push_back({name, *std::move(value)});
  }
  return options;
}

}  // namespace firetower
