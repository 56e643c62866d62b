// SPDX-License-Identifier: Apache-2.0
// The only file here that uses nlohmann's parser. It uses the event interface: fields that are not
// needed never become values.
#include "k8s/watch/object_fields.h"

#include <fmt/core.h>

#include <exception>
#include <nlohmann/json.hpp>

namespace firetower::k8s {
namespace {

class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TreeBuilder(const FieldSet& fields) : fields_(fields) {}

  bool null() override { return Leaf(NodeKind::kNull, ""); }
  bool boolean(bool value) override { return Leaf(NodeKind::kBool, value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override {
    return Leaf(NodeKind::kInteger, std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return Leaf(NodeKind::kInteger, std::to_string(value));
  }
  bool number_float(number_float_t, const string_t& text) override {
    return Leaf(NodeKind::kFloat, text);
  }
  bool string(string_t& value) override { return Leaf(NodeKind::kString, std::move(value)); }
  bool binary(binary_t&) override { return false; }  // JSON has none
  bool start_object(std::size_t) override { return Open(NodeKind::kMap); }
  bool start_array(std::size_t) override { return Open(NodeKind::kList); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(string_t& name) override {
    if (ignored_depth_ > 0) return true;
    Level& level = open_.back();
    level.keeps_value = fields_.Descend(level.cursor, name, level.value_cursor);
    if (!level.keeps_value) return true;
    if (level.node->entries.size() == kMaxObjectKeys)
      return Fail(ErrorCode::kExhausted,
                  fmt::format("a map has more than {} keys", kMaxObjectKeys));
    if (level.node->Find(name) != nullptr)
      return Fail(ErrorCode::kCorrupt, fmt::format("the key \"{}\" is given twice", name));
    level.node->entries.push_back({std::move(name), 0, {}});
    return true;
  }

  bool parse_error(std::size_t at, const std::string&,
                   const nlohmann::detail::exception&) override {
    return Fail(ErrorCode::kCorrupt, fmt::format("no JSON at byte {}", at));
  }

  Node TakeRoot() { return std::move(root_); }
  Error TakeError() { return std::move(error_); }

 private:
  struct Level {
    Node* node;  // stays where it is: only the last container of each level grows
    FieldSet::Cursor cursor;
    bool keeps_value = false;  // of a map: whether the value after the last key is kept
    FieldSet::Cursor value_cursor{};
  };

  // Returns the destination of the next value, nullptr when it is not wanted.
  Node* Place(FieldSet::Cursor& cursor) {
    if (open_.empty()) {
      cursor = fields_.root();
      return &root_;
    }
    Level& level = open_.back();
    if (level.node->kind == NodeKind::kList) {
      cursor = level.cursor;
      return &level.node->items.emplace_back();
    }
    if (!level.keeps_value) return nullptr;
    cursor = level.value_cursor;
    return &level.node->entries.back().value;
  }

  bool Count() {
    if (++nodes_ <= kMaxObjectNodes) return true;
    return Fail(ErrorCode::kExhausted, fmt::format("more than {} values", kMaxObjectNodes));
  }

  bool Leaf(NodeKind kind, std::string text) {
    if (ignored_depth_ > 0) return true;
    FieldSet::Cursor cursor;
    Node* node = Place(cursor);
    if (node == nullptr) return true;
    node->kind = kind;
    node->text = std::move(text);
    return Count();
  }

  bool Open(NodeKind kind) {
    if (ignored_depth_ > 0) {
      ++ignored_depth_;
      return true;
    }
    FieldSet::Cursor cursor;
    Node* node = Place(cursor);
    if (node == nullptr) {
      ignored_depth_ = 1;
      return true;
    }
    node->kind = kind;
    if (open_.size() == kMaxObjectDepth)
      return Fail(ErrorCode::kExhausted, fmt::format("deeper than {} levels", kMaxObjectDepth));
    open_.push_back({node, cursor});
    return Count();
  }

  bool Close() {
    if (ignored_depth_ > 0) {
      --ignored_depth_;
    } else {
      open_.pop_back();
    }
    return true;
  }

  bool Fail(ErrorCode code, std::string why) {
    error_ = Error(code, std::move(why));
    return false;
  }

  const FieldSet& fields_;
  Node root_;
  std::vector<Level> open_;
  size_t ignored_depth_ = 0;  // open containers that are not kept
  size_t nodes_ = 0;
  Error error_{ErrorCode::kCorrupt, "no JSON"};
};

}  // namespace

FieldSet::FieldSet(std::initializer_list<std::string_view> paths) : nodes_(1) {
  for (std::string_view path : paths) {
    std::vector<std::string_view> keys;
    while (!path.empty()) {
      keys.push_back(path.substr(0, path.find('.')));
      path.remove_prefix(std::min(keys.back().size() + 1, path.size()));
    }
    Keep(keys);
  }
}

void FieldSet::Keep(const std::vector<std::string_view>& keys) {
  size_t at = 0;
  for (const std::string_view key : keys) at = ChildOf(at, key);
  nodes_[at].whole = true;
}

void FieldSet::KeepBelow(std::string_view key, const FieldSet& fields) {
  Copy(fields, 0, ChildOf(0, key));
}

size_t FieldSet::ChildOf(size_t node, std::string_view key) {
  for (const Child& child : nodes_[node].children) {
    if (child.key == key) return child.node;
  }
  nodes_[node].children.push_back({std::string(key), nodes_.size()});
  nodes_.emplace_back();
  return nodes_.size() - 1;
}

void FieldSet::Copy(const FieldSet& from, size_t from_node, size_t to_node) {
  nodes_[to_node].whole |= from.nodes_[from_node].whole;
  for (const Child& child : from.nodes_[from_node].children)
    Copy(from, child.node, ChildOf(to_node, child.key));
}

bool FieldSet::Descend(Cursor from, std::string_view key, Cursor& to) const {
  if (from.whole) {
    to = from;
    return true;
  }
  for (const Child& child : nodes_[from.node].children) {
    if (child.key != key) continue;
    to = {child.node, nodes_[child.node].whole};
    return true;
  }
  return false;
}

Result<Node> ParseObject(std::string_view json, const FieldSet& fields) {
  TreeBuilder builder(fields);
  try {
    if (!nlohmann::json::sax_parse(json, &builder)) return builder.TakeError();
  } catch (const std::exception& error) {
    return Error(ErrorCode::kCorrupt, fmt::format("no JSON: {}", error.what()));
  }
  Node root = builder.TakeRoot();
  if (root.kind != NodeKind::kMap) return Error(ErrorCode::kCorrupt, "no JSON object");
  return root;
}

}  // namespace firetower::k8s
