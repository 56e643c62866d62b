// SPDX-License-Identifier: Apache-2.0
// Lines of the Prometheus text format 0.0.4.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace firetower::hub {

inline void AddHead(std::string& out, std::string_view family, std::string_view type,
                    std::string_view help) {
  out += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", family, type, help);
}

// A family of one series, without labels.
template <typename Number>
void AddNumber(std::string& out, std::string_view family, std::string_view type,
               std::string_view help, Number value) {
  AddHead(out, family, type, help);
  out += fmt::format("{} {}\n", family, value);
}

// `label`: "name=\"value\"".
template <typename Number>
void AddSeries(std::string& out, std::string_view family, std::string_view label, Number value) {
  out += fmt::format("{}{{{}}} {}\n", family, label, value);
}

}  // namespace firetower::hub
