// SPDX-License-Identifier: Apache-2.0
// The visitor that fills a policy from a document. One Reader reads one object; it collects every
// error instead of stopping at the first, and leaves a member that was wrong at its default.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "k8s/document/node.h"
#include "k8s/policy/bounds.h"
#include "k8s/policy/enums.h"
#include "k8s/policy/load.h"

namespace firetower::k8s {

// Fields that are not known here: in a file they are slips of the pen, in an API server's object
// those of a newer definition.
enum class UnknownFields { kRefuse, kIgnore };

// The errors of one document, at most kMaxErrorsPerDocument of them kept.
class ErrorList {
 public:
  explicit ErrorList(std::string file, UnknownFields unknown = UnknownFields::kRefuse)
      : file_(std::move(file)), unknown_(unknown) {}

  void Add(int line, std::string field, std::string message);
  void AddUnknown(int line, std::string field, std::string message);
  size_t count() const { return count_; }  // of all errors that were added
  std::vector<PolicyError> Take() { return std::move(errors_); }
  // The paths of unknown fields that were ignored, at most kMaxErrorsPerDocument.
  std::vector<std::string> TakeIgnored() { return std::move(ignored_); }

 private:
  std::string file_;
  UnknownFields unknown_;
  size_t count_ = 0;
  std::vector<PolicyError> errors_;
  std::vector<std::string> ignored_;
};

class Reader {
 public:
  // `object` is a map and outlives the Reader, as do the errors. `path` is the object's field path.
  Reader(const Node& object, std::string path, bool cluster, ErrorList& errors);

  bool cluster() const { return cluster_; }

  // Returns the field's value, or nullptr when it is absent or null (which the API server prunes).
  // Marks the name as known; a missing required field is an error.
  const Node* Take(std::string_view name, Presence need = Presence::kOptional);

  void Integer(std::string_view name, int64_t& value, int64_t min, int64_t max);
  void Integer(std::string_view name, std::optional<int64_t>& value, int64_t min, int64_t max);
  void Boolean(std::string_view name, bool& value);
  void Text(std::string_view name, std::string& value, TextBounds bounds, Presence need);
  void Text(std::string_view name, std::optional<std::string>& value, TextBounds bounds);
  void Amount(std::string_view name, Quantity& value, std::string_view default_text);
  void Amount(std::string_view name, std::optional<Quantity>& value);
  void Strings(std::string_view name, std::vector<std::string>& values, ListBounds bounds,
               TextBounds each);
  // Reads labels. Their keys and values must have valid syntax.
  void StringMap(std::string_view name, std::optional<Labels>& values, size_t max_entries,
                 TextBounds each);

  template <typename E>
  void Choice(std::string_view name, E& value, Presence need = Presence::kOptional,
              size_t count = kAllChoices) {
    if (const auto index = TakeChoice(name, Names<E>(count), need)) value = static_cast<E>(*index);
  }
  template <typename E>
  void Choice(std::string_view name, std::optional<E>& value) {
    if (const auto index = TakeChoice(name, Names<E>(kAllChoices), Presence::kOptional))
      value = static_cast<E>(*index);
  }

  template <typename T>
  void Object(std::string_view name, T& value, Presence need = Presence::kOptional) {
    if (const Node* node = Take(name, need)) ReadObject(*node, Path(name), value);
  }
  template <typename T>
  void Object(std::string_view name, std::optional<T>& value) {
    if (const Node* node = Take(name)) ReadObject(*node, Path(name), value.emplace());
  }

  template <typename T>
  void Objects(std::string_view name, std::vector<T>& values, ListBounds bounds,
               Presence need = Presence::kOptional) {
    if (const Node* node = Take(name, need)) ReadList(*node, name, values, bounds);
  }
  template <typename T>
  void Objects(std::string_view name, std::optional<std::vector<T>>& values, ListBounds bounds) {
    if (const Node* node = Take(name)) ReadList(*node, name, values.emplace(), bounds);
  }

  // Checks a rule only if the fields that it uses are valid, as the API server does.
  template <typename F>
  void Rule(F holds, std::string_view message, std::string_view field) {
    RefuseUnknownFields();
    if (errors_.count() == errors_before_ && !std::invoke(holds)) FailRule(message, field);
  }

  // Refuses fields that were not read. Must be called last.
  void Finish() { RefuseUnknownFields(); }

  void Fail(const Node& node, std::string field, std::string message) {
    errors_.Add(node.line, std::move(field), std::move(message));
  }
  std::string Path(std::string_view name) const;

 private:
  template <typename E>
  static std::span<const std::string_view> Names(size_t count) {
    return std::span(kEnumNames<E>).first(std::min(count, kEnumNames<E>.size()));
  }

  template <typename T>
  void ReadObject(const Node& node, std::string path, T& value) {
    if (node.kind != NodeKind::kMap)
      return Fail(node, std::move(path), "must be a map of fields, not " + k8s::Describe(node));
    Reader reader(node, std::move(path), cluster_, errors_);
    Visit(reader, value);
    reader.Finish();
    if constexpr (std::is_same_v<T, SelectorRequirement>) reader.CheckRequirement(value);
  }

  template <typename T>
  void ReadList(const Node& node, std::string_view name, std::vector<T>& values,
                ListBounds bounds) {
    if (!CheckList(node, Path(name), bounds)) return;
    for (size_t i = 0; i < node.items.size(); ++i)
      ReadObject(node.items[i], ItemPath(name, i), values.emplace_back());
  }

  std::string ItemPath(std::string_view name, size_t index) const;
  std::optional<size_t> TakeChoice(std::string_view name, std::span<const std::string_view> names,
                                   Presence need);
  std::optional<int64_t> ReadInteger(const Node& node, std::string path, int64_t min, int64_t max);
  std::optional<std::string> ReadText(const Node& node, std::string path, TextBounds bounds);
  bool CheckList(const Node& node, const std::string& path, ListBounds bounds);
  void CheckRequirement(const SelectorRequirement& requirement);
  void RefuseUnknownFields();
  void FailRule(std::string_view message, std::string_view field);

  const Node& object_;
  std::string path_;
  bool cluster_;
  ErrorList& errors_;
  size_t errors_before_;
  std::vector<std::string_view> known_;
  bool unknown_refused_ = false;
};

// Reads metadata and spec of the object of `reader`, whose kind is known (policy.cluster).
void ReadPolicyBody(Reader& reader, ProfilingPolicy& policy, ErrorList& errors);

}  // namespace firetower::k8s
