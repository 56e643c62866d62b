// SPDX-License-Identifier: Apache-2.0
#include "k8s/policy/describe.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "k8s/policy/fields.h"

namespace firetower::k8s {
namespace {

class Describer {
 public:
  Describer(std::string path, bool cluster, FieldTable& table)
      : path_(std::move(path)), cluster_(cluster), table_(table) {}

  bool cluster() const { return cluster_; }

  // A member that is not a std::optional has the field's default.
  void Integer(std::string_view name, int64_t& value, int64_t min, int64_t max) {
    AddInteger(name, min, max)["default"] = std::to_string(value);
  }
  void Integer(std::string_view name, std::optional<int64_t>&, int64_t min, int64_t max) {
    AddInteger(name, min, max);
  }
  void Boolean(std::string_view name, bool& value) {
    Add(name, "boolean")["default"] = value ? "true" : "false";
  }
  void Text(std::string_view name, std::string&, TextBounds bounds, Presence need) {
    AddText(path_ + "." + std::string(name), bounds);
    if (need == Presence::kRequired) Add(name, "string")["required"] = "true";
  }
  void Text(std::string_view name, std::optional<std::string>&, TextBounds bounds) {
    AddText(path_ + "." + std::string(name), bounds);
  }
  void Amount(std::string_view name, Quantity&, std::string_view default_text) {
    AddQuantity(name)["default"] = default_text;
  }
  void Amount(std::string_view name, std::optional<Quantity>&) { AddQuantity(name); }

  template <typename E>
  void Choice(std::string_view name, E& value, Presence need = Presence::kOptional,
              size_t count = kAllChoices) {
    auto& field = AddChoice(name, std::span(kEnumNames<E>), count);
    if (need == Presence::kRequired) {
      field["required"] = "true";
    } else {
      field["default"] = EnumName(value);
    }
  }
  template <typename E>
  void Choice(std::string_view name, std::optional<E>&) {
    AddChoice(name, std::span(kEnumNames<E>), kAllChoices);
  }

  template <typename T>
  void Object(std::string_view name, T&, Presence need = Presence::kOptional) {
    // Always there: required, or made by the default {}.
    Add(name, "object")[need == Presence::kRequired ? "required" : "default"] =
        need == Presence::kRequired ? "true" : "{}";
    Descend<T>(name);
  }
  template <typename T>
  void Object(std::string_view name, std::optional<T>&) {
    Add(name, "object");
    Descend<T>(name);
  }
  template <typename T>
  void Objects(std::string_view name, std::vector<T>&, ListBounds bounds,
               Presence need = Presence::kOptional) {
    if (need == Presence::kRequired) Add(name, "array")["required"] = "true";
    AddList(name, bounds);
    table_[path_ + "." + std::string(name) + "[]"]["type"] = "object";
    Descend<T>(std::string(name) + "[]");
  }
  template <typename T>
  void Objects(std::string_view name, std::optional<std::vector<T>>&, ListBounds bounds) {
    std::vector<T> none;
    Objects(name, none, bounds);
  }
  void Strings(std::string_view name, std::vector<std::string>&, ListBounds bounds,
               TextBounds each) {
    AddList(name, bounds);
    AddText(path_ + "." + std::string(name) + "[]", each);
  }
  void StringMap(std::string_view name, std::optional<Labels>&, size_t max_entries,
                 TextBounds each) {
    Add(name, "map")["maxEntries"] = std::to_string(max_entries);
    AddText(path_ + "." + std::string(name) + "{}", each);
  }
  template <typename F>
  void Rule(F, std::string_view message, std::string_view field) {
    table_[path_]["rule " + std::string(message)] = field;
  }

 private:
  using Attributes = std::map<std::string, std::string>;

  Attributes& Add(std::string_view name, std::string_view type) {
    Attributes& field = table_[path_ + "." + std::string(name)];
    field["type"] = type;
    return field;
  }
  Attributes& AddInteger(std::string_view name, int64_t min, int64_t max) {
    Attributes& field = Add(name, "integer");
    field["minimum"] = std::to_string(min);
    field["maximum"] = std::to_string(max);
    return field;
  }
  Attributes& AddQuantity(std::string_view name) {
    Attributes& field = Add(name, "quantity");
    field["maxLength"] = std::to_string(kMaxQuantityBytes);
    field["pattern"] = kQuantityPattern;
    return field;
  }
  Attributes& AddChoice(std::string_view name, std::span<const std::string_view> names,
                        size_t count) {
    std::string joined;
    for (const std::string_view choice : names.first(std::min(count, names.size()))) {
      if (!joined.empty()) joined += ",";
      joined += choice;
    }
    Attributes& field = Add(name, "string");
    field["enum"] = joined;
    return field;
  }
  void AddText(const std::string& path, TextBounds bounds) {
    Attributes& field = table_[path];
    field["type"] = "string";
    if (bounds.min_length > 0) field["minLength"] = std::to_string(bounds.min_length);
    field["maxLength"] = std::to_string(bounds.max_length);
    if (!bounds.pattern.empty()) field["pattern"] = bounds.pattern;
  }
  void AddList(std::string_view name, ListBounds bounds) {
    Attributes& field = Add(name, "array");
    field["maxItems"] = std::to_string(bounds.max_items);
    if (bounds.min_items > 0) field["minItems"] = std::to_string(bounds.min_items);
    field["listType"] = bounds.type == ListType::kAtomic ? "atomic"
                        : bounds.type == ListType::kSet  ? "set"
                                                         : "map";
    if (!bounds.keys.empty()) field["listKeys"] = bounds.keys;
  }
  template <typename T>
  void Descend(std::string_view name) {
    T value;
    Describer inner(path_ + "." + std::string(name), cluster_, table_);
    Visit(inner, value);
  }

  std::string path_;
  bool cluster_;
  FieldTable& table_;
};

}  // namespace

FieldTable DescribePolicy(bool cluster) {
  FieldTable table;
  table["spec"]["type"] = "object";
  Describer describer("spec", cluster, table);
  PolicySpec spec;
  Visit(describer, spec);
  return table;
}

}  // namespace firetower::k8s
