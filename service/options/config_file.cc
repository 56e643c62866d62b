// SPDX-License-Identifier: Apache-2.0
#include "service/options/config_file.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/file.h"
#include "base/suggest.h"
#include "k8s/document/yaml.h"

namespace firetower::service {
namespace {

using k8s::Node;
using k8s::NodeKind;

constexpr size_t kMaxConfigFileBytes = 1 << 20;

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

Status ApplyFile(std::span<const Option> options, const std::string& path) {
  auto yaml = ReadFileOrPipe(path, kMaxConfigFileBytes).Context("--config");
  if (!yaml) return std::move(yaml).error();
  ASSIGN_OR_RETURN(std::vector<FileSetting> settings, ParseConfigFile(*yaml, path));
  std::vector<std::string_view> names;
  for (const Option& option : options) names.push_back(option.name);
  for (const FileSetting& setting : settings) {
    const std::string where = fmt::format("{}:{}: {}", path, setting.line, setting.key);
    const Option* option = FindOption(options, setting.key);
    if (option == nullptr) {
      return Error(ErrorCode::kInvalid,
                   fmt::format("{}: no such option{}", where, DidYouMean(setting.key, names)));
    }
    if (option->name == "config") {
      return Error(ErrorCode::kInvalid,
                   where + ": a configuration file cannot name another; remove the line");
    }
    if (setting.is_list && !option->is_list) {
      return Error(ErrorCode::kInvalid,
                   fmt::format("{}: a list stands where one value is wanted; allowed: {}", where,
                               option->value.allowed));
    }
    RETURN_IF_ERROR(SetOption(*option, setting.value, where));
  }
  return OkStatus();
}

}  // namespace firetower::service
