// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/config_file.h"

#include <fmt/core.h>

#include <algorithm>

#include "k8s/document/yaml.h"

namespace firetower::daemon {
namespace {

using k8s::Node;
using k8s::NodeKind;

Error At(const std::string& name, int line, std::string_view what) {
  return Error(ErrorCode::kInvalid, fmt::format("{}:{}: {}", name, std::max(1, line), what));
}

bool IsScalar(const Node& node) {
  return node.kind != NodeKind::kMap && node.kind != NodeKind::kList &&
         node.kind != NodeKind::kNull;
}

Result<FileSetting> ReadSetting(const k8s::NodeEntry& entry, const std::string& name) {
  FileSetting setting{entry.key, "", entry.value.kind == NodeKind::kList, entry.line};
  if (IsScalar(entry.value)) {
    setting.value = entry.value.text;
    return setting;
  }
  if (entry.value.kind == NodeKind::kNull) {
    return At(name, entry.line,
              fmt::format("{}: the value is missing; give one, or remove the line", entry.key));
  }
  if (entry.value.kind == NodeKind::kMap) {
    return At(name, entry.line,
              fmt::format("{}: a mapping stands where a value is wanted", entry.key));
  }
  for (const Node& item : entry.value.items) {
    if (!IsScalar(item)) {
      return At(name, item.line, fmt::format("{}: a list holds plain values", entry.key));
    }
    if (!setting.value.empty()) setting.value += ',';
    setting.value += item.text;
  }
  return setting;
}

}  // namespace

Result<std::vector<FileSetting>> ParseConfigFile(std::string_view yaml, const std::string& name) {
  std::vector<k8s::YamlDocument> documents = k8s::ParseYaml(yaml);
  for (const k8s::YamlDocument& document : documents) {
    if (document.errors.empty()) continue;
    return At(name, document.errors[0].line, document.errors[0].message);
  }
  std::vector<FileSetting> settings;
  if (documents.empty() || documents[0].root.kind == NodeKind::kNull) return settings;
  if (documents.size() > 1) {
    return At(name, documents[1].root.line, "a second document begins; one is read");
  }
  const Node& root = documents[0].root;
  if (root.kind != NodeKind::kMap) {
    return At(name, root.line, "not a mapping; write one 'option: value' a line");
  }
  for (const k8s::NodeEntry& entry : root.entries) {
    ASSIGN_OR_RETURN(FileSetting setting, ReadSetting(entry, name));
    settings.push_back(std::move(setting));
  }
  return settings;
}

}  // namespace firetower::daemon
