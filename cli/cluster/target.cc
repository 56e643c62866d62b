// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/target.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/json.h"
#include "k8s/selector.h"
#include "query/select/kinds.h"

namespace firetower::cli {
namespace {

// generateName adds five characters; a policy's name has at most 63.
constexpr size_t kMaxStemBytes = 40;

Error Wrong(std::string_view text, std::string_view why) {
  return {ErrorCode::kInvalid, fmt::format("'{}': {}; give a workload, such as deployment/checkout "
                                           "or pod/web-0, or labels, such as app=checkout,tier=web",
                                           text, why)};
}

std::string StemOf(std::string_view name) {
  std::string stem(name.substr(0, kMaxStemBytes));
  for (char& c : stem) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (!kept) c = '-';
  }
  while (!stem.empty() && stem.back() == '-') stem.pop_back();
  return stem;
}

Result<RecordTarget> Workload(std::string_view text) {
  const Result<query::NamedObject> object = query::ParseNamedObject(text);
  if (!object) return Wrong(text, object.error().message());
  const query::ObjectKind& kind = *object->kind;
  if (!kind.is_target)
    return Wrong(text, fmt::format("a policy cannot target pods by their {}", kind.kind));
  return RecordTarget{
      std::string(text), StemOf(object->name),
      fmt::format(R"({{"workloadRefs":[{{"kind":"{}","name":"{}"}}]}})", kind.kind, object->name)};
}

Result<RecordTarget> Labels(std::string_view text) {
  std::string members;
  std::string stem;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view one = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const size_t equals = one.find('=');
    if (equals == std::string_view::npos || (equals > 0 && one[equals - 1] == '!'))
      return Wrong(text, fmt::format("'{}' is not KEY=VALUE", one));
    const std::string_view key = one.substr(0, equals);
    std::string_view value = one.substr(equals + 1);
    if (value.starts_with('=')) value.remove_prefix(1);  // kubectl takes both
    for (const std::string& error : {k8s::LabelKeyError(key), k8s::LabelValueError(value)}) {
      if (!error.empty()) return Wrong(text, error);
    }
    if (stem.empty()) stem = StemOf(value);
    members += fmt::format(R"({}"{}":"{}")", members.empty() ? "" : ",", JsonEscape(key),
                           JsonEscape(value));
  }
  return RecordTarget{std::string(text), stem.empty() ? "pods" : stem,
                      fmt::format(R"({{"podSelector":{{"matchLabels":{{{}}}}}}})", members)};
}

}  // namespace

Result<RecordTarget> ParseTarget(std::string_view text) {
  if (text.find('=') != std::string_view::npos) return Labels(text);
  return Workload(text);
}

}  // namespace firetower::cli
