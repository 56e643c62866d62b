// SPDX-License-Identifier: Apache-2.0
#include "k8s/policy/load.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/suggest.h"
#include "k8s/document/yaml.h"
#include "k8s/policy/fields.h"
#include "k8s/policy/reader.h"

namespace firetower::k8s {
namespace {

constexpr std::string_view kApiVersion = "firetower.dev/v1alpha1";
constexpr std::array<std::string_view, 2> kKinds = {"ProfilingPolicy", "ClusterProfilingPolicy"};
constexpr std::string_view kListSuffix = "List";
constexpr size_t kMaxMetadataLabels = 1000;  // upstream bounds the object's size only
constexpr TextBounds kObjectName{
    1, 253, "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"};

// Metadata that the API server writes, or a policy does not use: `kubectl get -o yaml` output loads
// as it is.
constexpr std::array<std::string_view, 12> kOtherMetadata = {
    "annotations",       "creationTimestamp", "deletionGracePeriodSeconds",
    "deletionTimestamp", "finalizers",        "generateName",
    "generation",        "managedFields",     "ownerReferences",
    "resourceVersion",   "selfLink",          "uid"};

void ReadMetadata(const Node& node, ProfilingPolicy& policy, ErrorList& errors) {
  if (node.kind != NodeKind::kMap)
    return errors.Add(node.line, "metadata", "must be a map, not " + Describe(node));
  constexpr size_t kMaxName = 63;  // it becomes the value of a label
  Reader reader(node, "metadata", policy.cluster, errors);
  std::optional<std::string> namespace_name;
  std::optional<Labels> labels;
  reader.Text("name", policy.name, kObjectName, Presence::kRequired);
  reader.Text("namespace", namespace_name, kName);
  reader.StringMap("labels", labels, kMaxMetadataLabels, kLabelValue);
  for (std::string_view name : kOtherMetadata) reader.Take(name);
  reader.Rule([&] { return policy.name.size() <= kMaxName; },
              "metadata.name must be at most 63 characters: it becomes the value of a label",
              ".name");
  reader.Rule([&] { return !policy.cluster || !namespace_name; },
              "a ClusterProfilingPolicy has no namespace: remove it", ".namespace");
  reader.Finish();
  if (!policy.cluster) policy.namespace_name = namespace_name.value_or("default");
  policy.labels = std::move(labels).value_or(Labels{});
}

// The kind decides which fields there are; without a known one the rest cannot be judged.
bool ReadKind(Reader& reader, ProfilingPolicy& policy) {
  if (const Node* version = reader.Take("apiVersion", Presence::kRequired);
      version != nullptr && version->text != kApiVersion)
    reader.Fail(*version, "apiVersion",
                fmt::format("must be {}, not {}", kApiVersion, Describe(*version)));
  const Node* kind = reader.Take("kind", Presence::kRequired);
  if (kind == nullptr) return false;
  for (const std::string_view name : kKinds) {
    if (kind->text == name) {
      policy.cluster = name == kKinds[1];
      return true;
    }
  }
  reader.Fail(*kind, "kind",
              fmt::format("must be {} or {}, not {}{}", kKinds[0], kKinds[1], Describe(*kind),
                          DidYouMean(kind->text, kKinds)));
  return false;
}

void ReadObject(const Node& document, ProfilingPolicy& policy, ErrorList& errors) {
  if (document.kind != NodeKind::kMap)
    return errors.Add(document.line, "", "a policy is a map of fields, not " + Describe(document));
  Reader reader(document, "", false, errors);
  if (ReadKind(reader, policy)) ReadPolicyBody(reader, policy, errors);
}

void Append(PolicyFileResult& result, PolicyFileResult other) {
  for (ProfilingPolicy& policy : other.policies) result.policies.push_back(std::move(policy));
  for (PolicyError& error : other.errors) result.errors.push_back(std::move(error));
  result.refused += other.refused;
}

// Later policies of a name that is taken become errors.
void RefuseDoubles(PolicyFileResult& result) {
  std::set<std::string> seen;
  std::vector<ProfilingPolicy> kept;
  for (ProfilingPolicy& policy : result.policies) {
    if (seen.insert(DisplayName(policy)).second) {
      kept.push_back(std::move(policy));
      continue;
    }
    ++result.refused;
    const size_t colon = policy.source.rfind(':');
    result.errors.push_back({policy.source.substr(0, colon),
                             std::stoi(policy.source.substr(colon + 1)), "metadata.name",
                             DisplayName(policy) + " is given twice: the first one counts"});
  }
  result.policies = std::move(kept);
}

bool IsPolicyFile(std::string_view name) {
  return !name.starts_with('.') &&
         (name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json"));
}

PolicyFileResult FileError(const std::string& file, const Error& error) {
  PolicyFileResult result;
  result.errors.push_back({file, 0, "", error.message()});
  result.refused = 1;
  return result;
}

PolicyFileResult LoadOne(const std::string& path) {
  Result<std::string> text = ReadFile(path, kMaxYamlBytes);
  if (!text) return FileError(path, text.error());
  return ParsePolicies(*text, path);
}

PolicyFileResult LoadFolder(const std::string& folder) {
  Result<std::vector<std::string>> names = ListDirectory(folder);
  if (!names) return FileError(folder, names.error());
  PolicyFileResult result;
  size_t files = 0;
  for (const std::string& name : *names) {
    if (!IsPolicyFile(name)) continue;
    if (++files > kMaxPolicyFiles) {
      ++result.refused;
      if (files > kMaxPolicyFiles + 1) continue;
      result.errors.push_back(
          {folder, 0, "",
           fmt::format("more than {} policy files: the rest, from {} on, is not read",
                       kMaxPolicyFiles, name)});
      continue;
    }
    Append(result, LoadOne(folder + "/" + name));
  }
  return result;
}

}  // namespace

std::string PolicyError::ToString() const {
  std::string text = file;
  if (line > 0) text += fmt::format(":{}", line);
  if (!field.empty()) text += ": " + field;
  return text + ": " + message;
}

void ReadPolicyBody(Reader& reader, ProfilingPolicy& policy, ErrorList& errors) {
  if (const Node* metadata = reader.Take("metadata", Presence::kRequired))
    ReadMetadata(*metadata, policy, errors);
  const Node* spec = reader.Take("spec", Presence::kRequired);
  reader.Take("status");  // the hub writes it
  reader.Finish();
  if (spec == nullptr) return;
  if (spec->kind != NodeKind::kMap)
    return errors.Add(spec->line, "spec", "must be a map of fields, not " + Describe(*spec));
  Reader fields(*spec, "spec", policy.cluster, errors);
  Visit(fields, policy.spec);
  fields.Finish();
}

PolicyFileResult ParsePolicy(const Node& document, const std::string& file) {
  PolicyFileResult result;
  ErrorList errors(file);
  ProfilingPolicy policy;
  policy.source = fmt::format("{}:{}", file, document.line);
  ReadObject(document, policy, errors);
  if (errors.count() == 0) {
    result.policies.push_back(std::move(policy));
  } else {
    result.refused = 1;
  }
  result.errors = errors.Take();
  return result;
}

namespace {

// Kinds of a list: the one that `kubectl get -o yaml` writes, and those of the two kinds of
// policies, as the API server answers them.
bool IsList(const Node& document) {
  const Node* kind = document.Find("kind");
  if (kind == nullptr || kind->kind != NodeKind::kString) return false;
  std::string_view of = kind->text;
  if (!of.ends_with(kListSuffix)) return false;
  of.remove_suffix(kListSuffix.size());
  return of.empty() || std::ranges::find(kKinds, of) != kKinds.end();
}

// Returns the item with the kind and version of its list where it has neither: the API server
// leaves them out, and kubectl fills them in.
Node WithKindOfList(const Node& item, const Node& kind, const Node& version) {
  Node filled = item;
  if (item.kind != NodeKind::kMap || item.Find("kind") != nullptr ||
      item.Find("apiVersion") != nullptr)
    return filled;
  filled.entries.push_back({"apiVersion", item.line, version});
  filled.entries.push_back({"kind", item.line, kind});
  filled.entries.back().value.text.resize(kind.text.size() - kListSuffix.size());
  return filled;
}

// Parses the items of a list. Errors of an item begin with its place.
PolicyFileResult ParseList(const Node& document, const std::string& file) {
  PolicyFileResult result;
  ErrorList errors(file);
  Reader reader(document, "", false, errors);
  const Node& kind = *reader.Take("kind");
  reader.Take("metadata");
  const bool is_typed = kind.text != kListSuffix;
  const std::string_view wanted = is_typed ? kApiVersion : "v1";
  const Node* version = reader.Take("apiVersion", Presence::kRequired);
  if (version != nullptr && version->text != wanted)
    reader.Fail(*version, "apiVersion",
                fmt::format("must be {} for a {}, not {}", wanted, kind.text, Describe(*version)));
  const Node* items = reader.Take("items", Presence::kRequired);
  if (items != nullptr && items->kind != NodeKind::kList)
    reader.Fail(*items, "items", "must be a list of policies, not " + Describe(*items));
  reader.Finish();
  if (errors.count() > 0) {
    result.refused = 1;
    result.errors = errors.Take();
    return result;
  }
  for (size_t i = 0; i < items->items.size(); ++i) {
    const Node& listed = items->items[i];
    PolicyFileResult item =
        ParsePolicy(is_typed ? WithKindOfList(listed, kind, *version) : listed, file);
    for (PolicyError& error : item.errors) {
      error.field = fmt::format("items[{}]{}{}", i, error.field.empty() ? "" : ".", error.field);
    }
    Append(result, std::move(item));
  }
  return result;
}

}  // namespace

PolicyFileResult ParsePolicies(std::string_view text, const std::string& file) {
  PolicyFileResult result;
  for (YamlDocument& document : ParseYaml(text)) {
    for (YamlError& error : document.errors)
      result.errors.push_back({file, error.line, "", std::move(error.message)});
    if (document.errors.empty()) {
      Append(result, IsList(document.root) ? ParseList(document.root, file)
                                           : ParsePolicy(document.root, file));
    } else {
      ++result.refused;
    }
  }
  RefuseDoubles(result);
  return result;
}

PolicyFileResult LoadPolicyFile(const std::string& path) { return LoadOne(path); }

PolicyFileResult LoadPolicies(const std::string& file_or_dir) {
  struct stat info {};
  if (::stat(file_or_dir.c_str(), &info) != 0)
    return FileError(file_or_dir, ErrnoError(file_or_dir));
  PolicyFileResult result = S_ISDIR(info.st_mode) ? LoadFolder(file_or_dir) : LoadOne(file_or_dir);
  RefuseDoubles(result);
  return result;
}

}  // namespace firetower::k8s
