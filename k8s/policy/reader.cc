// SPDX-License-Identifier: Apache-2.0
#include "k8s/policy/reader.h"

#include <fmt/core.h>
#include <strings.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/suggest.h"
#include "k8s/document/pattern.h"

namespace firetower::k8s {
namespace {

// "a, b or c".
std::string Join(std::span<const std::string_view> names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

size_t CountCharacters(std::string_view utf8) {
  return static_cast<size_t>(std::count_if(utf8.begin(), utf8.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string_view IntegerHint(const Node& node) {
  switch (node.kind) {
    case NodeKind::kString:
      return KindOfPlainScalar(node.text) == NodeKind::kInteger ? "; remove the quotes" : "";
    case NodeKind::kLooseNumber:
    case NodeKind::kFloat:
      return "; write it in plain decimal digits";
    default:
      return "";
  }
}

// "; did you mean 'CPU'?" for "Cpu", which the edit distance alone would not find.
std::string ChoiceHint(const Node& node, std::span<const std::string_view> names) {
  if (node.kind != NodeKind::kString) return "";
  for (const std::string_view name : names) {
    if (strcasecmp(node.text.c_str(), std::string(name).c_str()) == 0)
      return fmt::format("; did you mean '{}'?", name);
  }
  return DidYouMean(node.text, names);
}

// The values of the fields that identify an entry of a list, or "" when some are missing.
std::string EntryKey(const Node& item, ListBounds bounds) {
  if (bounds.type == ListType::kSet) return fmt::format("\"{}\"", item.text);
  std::string key;
  for (std::string_view rest = bounds.keys; !rest.empty();) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const Node* field = item.Find(rest.substr(0, comma));
    if (field == nullptr) return "";
    if (!key.empty()) key += ", ";
    key += fmt::format("{} \"{}\"", rest.substr(0, comma), field->text);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return key;
}

}  // namespace

void ErrorList::Add(int line, std::string field, std::string message) {
  ++count_;
  if (count_ > kMaxErrorsPerDocument + 1) return;
  if (count_ == kMaxErrorsPerDocument + 1) {
    field.clear();
    message = "there are more errors: correct these first";
  }
  errors_.push_back({file_, line, std::move(field), std::move(message)});
}

void ErrorList::AddUnknown(int line, std::string field, std::string message) {
  if (unknown_ == UnknownFields::kRefuse) return Add(line, std::move(field), std::move(message));
  if (ignored_.size() < kMaxErrorsPerDocument) ignored_.push_back(std::move(field));
}

Reader::Reader(const Node& object, std::string path, bool cluster, ErrorList& errors)
    : object_(object),
      path_(std::move(path)),
      cluster_(cluster),
      errors_(errors),
      errors_before_(errors.count()) {}

std::string Reader::Path(std::string_view name) const {
  return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

std::string Reader::ItemPath(std::string_view name, size_t index) const {
  return fmt::format("{}[{}]", Path(name), index);
}

const Node* Reader::Take(std::string_view name, Presence need) {
  known_.push_back(name);
  const Node* node = object_.Find(name);
  if (node != nullptr && node->kind != NodeKind::kNull) return node;
  if (need == Presence::kRequired)
    Fail(node != nullptr ? *node : object_, Path(name), "is required, and missing");
  return nullptr;
}

std::optional<int64_t> Reader::ReadInteger(const Node& node, std::string path, int64_t min,
                                           int64_t max) {
  int64_t value = 0;
  if (node.kind != NodeKind::kInteger) {
    Fail(node, std::move(path),
         fmt::format("must be an integer from {} to {}, not {}{}", min, max, k8s::Describe(node),
                     IntegerHint(node)));
    return std::nullopt;
  }
  const char* end = node.text.data() + node.text.size();
  const auto parsed = std::from_chars(node.text.data(), end, value);
  if (parsed.ec == std::errc() && parsed.ptr == end && value >= min && value <= max) return value;
  Fail(node, std::move(path), fmt::format("must be from {} to {}, not {}", min, max, node.text));
  return std::nullopt;
}

void Reader::Integer(std::string_view name, int64_t& value, int64_t min, int64_t max) {
  if (const Node* node = Take(name))
    value = ReadInteger(*node, Path(name), min, max).value_or(value);
}

void Reader::Integer(std::string_view name, std::optional<int64_t>& value, int64_t min,
                     int64_t max) {
  if (const Node* node = Take(name)) value = ReadInteger(*node, Path(name), min, max);
}

void Reader::Boolean(std::string_view name, bool& value) {
  const Node* node = Take(name);
  if (node == nullptr) return;
  if (node->kind == NodeKind::kBool) {
    value = node->text == "true";
  } else {
    Fail(*node, Path(name), fmt::format("must be true or false, not {}", k8s::Describe(*node)));
  }
}

std::optional<std::string> Reader::ReadText(const Node& node, std::string path, TextBounds bounds) {
  std::string wrong;
  const size_t length = CountCharacters(node.text);
  if (node.kind != NodeKind::kString) {
    const bool scalar =
        node.kind != NodeKind::kMap && node.kind != NodeKind::kList && node.kind != NodeKind::kNull;
    wrong = fmt::format("must be a string, not {}{}", k8s::Describe(node),
                        scalar ? "; put it in quotes" : "");
  } else if (length < bounds.min_length || length > bounds.max_length) {
    wrong = fmt::format("must have {} to {} characters, not {}", bounds.min_length,
                        bounds.max_length, length);
  } else if (!bounds.pattern.empty() && !MatchesPattern(bounds.pattern, node.text)) {
    wrong = fmt::format("must match {}, which {} does not", bounds.pattern, k8s::Describe(node));
  } else {
    return node.text;
  }
  Fail(node, std::move(path), std::move(wrong));
  return std::nullopt;
}

void Reader::Text(std::string_view name, std::string& value, TextBounds bounds, Presence need) {
  if (const Node* node = Take(name, need))
    value = ReadText(*node, Path(name), bounds).value_or(std::string());
}

void Reader::Text(std::string_view name, std::optional<std::string>& value, TextBounds bounds) {
  if (const Node* node = Take(name)) value = ReadText(*node, Path(name), bounds);
}

void Reader::Amount(std::string_view name, Quantity& value, std::string_view) {
  std::optional<Quantity> given;
  Amount(name, given);
  if (given) value = *given;
}

void Reader::Amount(std::string_view name, std::optional<Quantity>& value) {
  const Node* node = Take(name);
  if (node == nullptr) return;
  if (node->kind != NodeKind::kInteger && node->kind != NodeKind::kString) {
    Fail(*node, Path(name),
         fmt::format("must be a quantity (an integer, or a string such as 50m or \"0.5\"), not {}",
                     k8s::Describe(*node)));
    return;
  }
  Result<Quantity> parsed = ParseQuantity(node->text);
  if (parsed) {
    value = *parsed;
  } else {
    Fail(*node, Path(name),
         fmt::format("{} is not a quantity: {}", k8s::Describe(*node), parsed.error().message()));
  }
}

bool Reader::CheckList(const Node& node, const std::string& path, ListBounds bounds) {
  const size_t before = errors_.count();
  if (node.kind != NodeKind::kList) {
    Fail(node, path, fmt::format("must be a list, not {}", k8s::Describe(node)));
    return false;
  }
  if (node.items.size() < bounds.min_items || node.items.size() > bounds.max_items) {
    Fail(node, path,
         fmt::format("must have {} to {} entries, not {}", bounds.min_items, bounds.max_items,
                     node.items.size()));
    return false;
  }
  std::set<std::string> seen;
  if (bounds.type == ListType::kAtomic) return true;
  for (const Node& item : node.items) {
    const std::string key = EntryKey(item, bounds);
    if (!key.empty() && !seen.insert(key).second)
      Fail(item, path, fmt::format("the entry {} is given twice: keep one", key));
  }
  return errors_.count() == before;
}

void Reader::Strings(std::string_view name, std::vector<std::string>& values, ListBounds bounds,
                     TextBounds each) {
  const Node* node = Take(name);
  if (node == nullptr || !CheckList(*node, Path(name), bounds)) return;
  for (size_t i = 0; i < node->items.size(); ++i) {
    if (auto text = ReadText(node->items[i], ItemPath(name, i), each))
      values.push_back(*std::move(text));
  }
}

void Reader::StringMap(std::string_view name, std::optional<Labels>& values, size_t max_entries,
                       TextBounds each) {
  const Node* node = Take(name);
  if (node == nullptr) return;
  values.emplace();
  if (node->kind != NodeKind::kMap)
    return Fail(*node, Path(name),
                fmt::format("must be a map of labels, not {}", k8s::Describe(*node)));
  if (node->entries.size() > max_entries)
    return Fail(
        *node, Path(name),
        fmt::format("must have at most {} entries, not {}", max_entries, node->entries.size()));
  for (const NodeEntry& entry : node->entries) {
    const std::string path = fmt::format("{}[{}]", Path(name), entry.key);
    std::string wrong = LabelKeyError(entry.key);
    auto text = ReadText(entry.value, path, each);
    if (wrong.empty() && text) wrong = LabelValueError(*text);
    if (!wrong.empty()) errors_.Add(entry.line, path, std::move(wrong));
    if (text) values->emplace(entry.key, *std::move(text));
  }
}

std::optional<size_t> Reader::TakeChoice(std::string_view name,
                                         std::span<const std::string_view> names, Presence need) {
  const Node* node = Take(name, need);
  if (node == nullptr) return std::nullopt;
  const auto found = std::find(names.begin(), names.end(), node->text);
  if (node->kind == NodeKind::kString && found != names.end())
    return static_cast<size_t>(found - names.begin());
  Fail(*node, Path(name),
       fmt::format("must be {}, not {}{}", Join(names), k8s::Describe(*node),
                   ChoiceHint(*node, names)));
  return std::nullopt;
}

void Reader::CheckRequirement(const SelectorRequirement& requirement) {
  if (errors_.count() != errors_before_) return;
  if (std::string wrong = LabelKeyError(requirement.key); !wrong.empty())
    Fail(object_, Path("key"), std::move(wrong));
  for (const std::string& value : requirement.values) {
    if (std::string wrong = LabelValueError(value); !wrong.empty())
      Fail(object_, Path("values"), std::move(wrong));
  }
}

void Reader::RefuseUnknownFields() {
  if (std::exchange(unknown_refused_, true)) return;
  for (const NodeEntry& entry : object_.entries) {
    if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
    const std::string hint = DidYouMean(entry.key, known_);
    errors_.AddUnknown(entry.line, Path(entry.key),
                       fmt::format("unknown field{}; allowed here: {}", hint, Join(known_)));
  }
}

void Reader::FailRule(std::string_view message, std::string_view field) {
  const Node* node = field.empty() ? nullptr : object_.Find(field.substr(1));
  Fail(node != nullptr ? *node : object_, path_ + std::string(field), std::string(message));
}

}  // namespace firetower::k8s
