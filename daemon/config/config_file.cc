// SPDX-License-Identifier: Apache-2.0
// The one place that sees yaml-cpp here; it throws, so everything is caught and converted.
#include "daemon/config/config_file.h"

#include <fmt/core.h>
#include <yaml-cpp/yaml.h>

#include <set>

namespace firetower::daemon {
namespace {

int LineOf(const YAML::Node& node) { return node.Mark().line + 1; }

Error At(const std::string& name, int line, std::string_view what) {
  return Error(ErrorCode::kInvalid, fmt::format("{}:{}: {}", name, line, what));
}

Result<FileSetting> ReadSetting(const YAML::Node& key, const YAML::Node& value,
                                const std::string& name) {
  if (!key.IsScalar()) return At(name, LineOf(key), "a key is not a plain name");
  FileSetting setting{key.Scalar(), "", value.IsSequence(), LineOf(key)};
  if (value.IsScalar()) {
    setting.value = value.Scalar();
    return setting;
  }
  if (value.IsNull()) {
    return At(name, setting.line,
              fmt::format("{}: the value is missing; give one, or remove the line", setting.key));
  }
  if (!value.IsSequence()) {
    return At(name, setting.line,
              fmt::format("{}: a mapping stands where a value is wanted", setting.key));
  }
  for (const YAML::Node& item : value) {
    if (!item.IsScalar()) {
      return At(name, LineOf(item), fmt::format("{}: a list holds plain values", setting.key));
    }
    if (!setting.value.empty()) setting.value += ',';
    setting.value += item.Scalar();
  }
  return setting;
}

Result<std::vector<FileSetting>> Parse(const std::string& yaml, const std::string& name) {
  std::vector<YAML::Node> documents = YAML::LoadAll(yaml);
  std::vector<FileSetting> settings;
  if (documents.empty() || documents[0].IsNull()) return settings;
  if (documents.size() > 1) {
    return At(name, LineOf(documents[1]), "a second document begins; one is read");
  }
  if (!documents[0].IsMap()) {
    return At(name, LineOf(documents[0]), "not a mapping; write one 'option: value' a line");
  }
  std::set<std::string> seen;
  for (const auto& entry : documents[0]) {
    ASSIGN_OR_RETURN(FileSetting setting, ReadSetting(entry.first, entry.second, name));
    if (!seen.insert(setting.key).second) {
      return At(name, setting.line, fmt::format("{}: given twice; keep one", setting.key));
    }
    settings.push_back(std::move(setting));
  }
  return settings;
}

}  // namespace

Result<std::vector<FileSetting>> ParseConfigFile(std::string_view yaml, const std::string& name) {
  try {
    return Parse(std::string(yaml), name);
  } catch (const YAML::Exception& error) {
    return At(name, error.mark.line + 1, fmt::format("not YAML: {}", error.msg));
  } catch (const std::exception& error) {
    return Error(ErrorCode::kInvalid, fmt::format("{}: not YAML: {}", name, error.what()));
  }
}

}  // namespace firetower::daemon
