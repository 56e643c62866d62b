// SPDX-License-Identifier: Apache-2.0
#include "service/metrics/negotiation.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace firetower::service {
namespace {

std::string_view Trimmed(std::string_view text) {
  size_t start = text.find_first_not_of(" \t");
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(" \t") - start + 1);
}

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

// Takes the text before the next `separator`, trimmed.
std::string_view TakeUntil(std::string_view& text, char separator) {
  std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return Trimmed(part);
}

// One element of an Accept header.
struct Choice {
  std::string_view name;
  std::string_view version;
  double weight = 1;
};

Choice ParseChoice(std::string_view element) {
  Choice choice;
  choice.name = TakeUntil(element, ';');
  while (!element.empty()) {
    std::string_view parameter = TakeUntil(element, ';');
    std::string_view key = TakeUntil(parameter, '=');
    std::string_view value = Trimmed(parameter);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    if (EqualsIgnoringCase(key, "q")) {
      double weight = 0;
      auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), weight);
      // A weight that is none admits nothing.
      choice.weight = error == std::errc() ? std::clamp(weight, 0.0, 1.0) : 0;
    } else if (EqualsIgnoringCase(key, "version")) {
      choice.version = value;
    }
  }
  return choice;
}

}  // namespace

ExpositionFormat NegotiateFormat(std::string_view accept) {
  double open_metrics = 0;
  double text = 0;
  while (!accept.empty()) {
    Choice choice = ParseChoice(TakeUntil(accept, ','));
    if (EqualsIgnoringCase(choice.name, "application/openmetrics-text")) {
      if (choice.version.empty() || choice.version == "1.0.0" || choice.version == "0.0.1") {
        open_metrics = std::max(open_metrics, choice.weight);
      }
    } else if (EqualsIgnoringCase(choice.name, "text/plain") || choice.name == "text/*" ||
               choice.name == "*/*") {
      text = std::max(text, choice.weight);
    }
  }
  return open_metrics > 0 && open_metrics >= text ? ExpositionFormat::kOpenMetrics
                                                  : ExpositionFormat::kText;
}

std::string_view ContentTypeOf(ExpositionFormat format) {
  return format == ExpositionFormat::kOpenMetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

}  // namespace firetower::service
