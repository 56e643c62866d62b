// SPDX-License-Identifier: Apache-2.0
// The one place here that sees yaml-cpp, which throws: everything is caught and converted. Its
// event interface is used, not its node tree: that one resolves aliases and forgets doubled keys.
#include "k8s/document/yaml.h"

#include <fmt/core.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>

#include "base/json.h"

namespace firetower::k8s {
namespace {

// Thrown out of the event handler to end the parse; caught below, in this file.
struct Stop {
  YamlError error;
};

class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(int first_line) : first_line_(first_line) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { Leaf(mark, NodeKind::kNull, ""); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Fail(mark, "aliases (*name) are not accepted: write the value out");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    // yaml-cpp's tags of untagged scalars: "?" plain, "!" quoted or a block.
    RefuseTag(mark, tag);
    Leaf(mark, tag == "!" ? NodeKind::kString : KindOfPlainScalar(value), value);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    RefuseTag(mark, tag);
    Open(mark, NodeKind::kList);
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    RefuseTag(mark, tag);
    Open(mark, NodeKind::kMap);
  }
  void OnMapEnd() override { open_.pop_back(); }

  Node TakeRoot() { return std::move(root_); }

 private:
  // A container that is not closed yet. Nodes of one vector may move while it grows, but only the
  // last of each is open, and its parents grow no more before it is closed.
  struct Level {
    Node* node;
    bool awaits_value = false;  // a map whose last entry has its key only
  };

  int LineOf(const YAML::Mark& mark) const { return mark.line + first_line_; }

  [[noreturn]] void Fail(const YAML::Mark& mark, std::string message) const {
    throw Stop{{LineOf(mark), std::move(message)}};
  }

  void RefuseTag(const YAML::Mark& mark, const std::string& tag) const {
    if (!tag.empty() && tag != "?" && tag != "!")
      Fail(mark, fmt::format("tags ({}) are not accepted: quote a value to make it text", tag));
  }

  // The place for the next node, or nullptr after taking it as a map's key.
  Node* Place(const YAML::Mark& mark, NodeKind kind, const std::string& text) {
    if (++nodes_ > kMaxYamlNodes)
      Fail(mark, fmt::format("the document has more than {} values", kMaxYamlNodes));
    if (open_.empty()) return &root_;
    Level& level = open_.back();
    if (level.node->kind == NodeKind::kList) return &level.node->items.emplace_back();
    if (level.awaits_value) {
      level.awaits_value = false;
      return &level.node->entries.back().value;
    }
    AddKey(mark, kind, text, level);
    return nullptr;
  }

  void AddKey(const YAML::Mark& mark, NodeKind kind, const std::string& text, Level& level) {
    if (kind == NodeKind::kMap || kind == NodeKind::kList || text.empty())
      Fail(mark, "a key must be plain text");
    if (text == "<<") Fail(mark, "merge keys (<<) are not accepted: write the fields out");
    if (level.node->Find(text) != nullptr)
      Fail(mark, fmt::format("the key \"{}\" is given twice: keep one", text));
    if (level.node->entries.size() == kMaxYamlKeys)
      Fail(mark, fmt::format("a map has more than {} keys", kMaxYamlKeys));
    level.node->entries.push_back({text, LineOf(mark), {}});
    level.node->entries.back().value.line = LineOf(mark);
    level.awaits_value = true;
  }

  void Leaf(const YAML::Mark& mark, NodeKind kind, const std::string& text) {
    Node* node = Place(mark, kind, text);
    if (node == nullptr) return;
    node->kind = kind;
    node->text = text;
    node->line = LineOf(mark);
  }

  void Open(const YAML::Mark& mark, NodeKind kind) {
    if (open_.size() >= kMaxYamlDepth)
      Fail(mark, fmt::format("nested more than {} deep", kMaxYamlDepth));
    Node* node = Place(mark, kind, "");
    if (node == nullptr) return;  // Place has thrown: a container cannot be a key.
    node->kind = kind;
    node->line = LineOf(mark);
    open_.push_back({node});
  }

  int first_line_;
  size_t nodes_ = 0;
  Node root_;
  std::vector<Level> open_;
};

struct Chunk {
  std::string text;
  int first_line = 1;
  bool content = false;    // more than blank lines and comments
  int directive_line = 0;  // of the first content, when that is a directive
};

bool IsMarker(std::string_view line, std::string_view marker) {
  return line.starts_with(marker) &&
         (line.size() == marker.size() || line[3] == ' ' || line[3] == '\t' || line[3] == '\r');
}

bool HasContent(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t\r");
  return first != std::string_view::npos && line[first] != '#';
}

// Split at the document markers, so that an error in one document leaves the others readable. A
// marker in column 0 is one in any context (YAML 1.2 §9.1.2), quoted text and blocks too.
std::vector<Chunk> SplitDocuments(std::string_view text) {
  std::vector<Chunk> chunks(1);
  int line_number = 0;
  while (!text.empty()) {
    ++line_number;
    const size_t end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool start = IsMarker(line, "---");
    if (start || IsMarker(line, "...")) {
      chunks.emplace_back();
      chunks.back().first_line = line_number;
      line.replace(0, 3, start ? "   " : "#  ");
    }
    Chunk& chunk = chunks.back();
    if (!chunk.content && line.starts_with('%')) chunk.directive_line = line_number;
    chunk.content |= HasContent(line);
    chunk.text += line + '\n';
  }
  std::erase_if(chunks, [](const Chunk& chunk) { return !chunk.content; });
  return chunks;
}

// yaml-cpp accepts some tabs as indentation. YAML forbids them all, and they mislead. A tab is
// allowed if it only pads an empty line, separates tokens, or is inside brackets: JSON is often
// indented with tabs.
int LineIndentedByTab(const Chunk& chunk) {
  int line_number = chunk.first_line;
  std::string_view text = chunk.text;
  for (; !text.empty(); ++line_number) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    const size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos || line[first] == '#') continue;
    if (line[first] == '{' || line[first] == '[') return 0;
    if (line.substr(0, first).find('\t') != std::string_view::npos) return line_number;
  }
  return 0;
}

YamlDocument ParseChunk(const Chunk& chunk) {
  YamlDocument document;
  const auto fail = [&](int line, std::string_view message) {
    document.errors.push_back({line, ToValidUtf8(message)});
    return std::move(document);
  };
  if (const int line = LineIndentedByTab(chunk); line != 0)
    return fail(line, "indented by a tab: YAML takes spaces only");
  if (chunk.directive_line != 0)
    return fail(chunk.directive_line, "directives (%YAML, %TAG) are not accepted: remove the line");
  try {
    std::istringstream stream(chunk.text);
    YAML::Parser parser(stream);
    TreeBuilder builder(chunk.first_line);
    if (!parser.HandleNextDocument(builder))
      return fail(chunk.first_line, "not valid YAML: no value stands here");
    document.root = builder.TakeRoot();
    TreeBuilder rest(chunk.first_line);
    if (parser.HandleNextDocument(rest))
      return fail(chunk.first_line, "text follows the end of the document");
  } catch (const Stop& stop) {
    return fail(stop.error.line, stop.error.message);
  } catch (const YAML::Exception& error) {
    // The parser reports an unclosed bracket or quote one line below the document's last.
    const auto lines = static_cast<int>(std::count(chunk.text.begin(), chunk.text.end(), '\n'));
    return fail(std::clamp(error.mark.line, 0, lines - 1) + chunk.first_line,
                "not valid YAML: " + error.msg);
  } catch (const std::exception& error) {
    return fail(chunk.first_line, std::string("not readable as YAML: ") + error.what());
  }
  return document;
}

// The line of the first byte that no YAML text has, or 0.
int LineOfBadByte(std::string_view text) {
  int line = 1;
  for (const char c : text) {
    if (c == '\n') ++line;
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t') return line;
  }
  return 0;
}

std::vector<YamlDocument> Refuse(int line, std::string message) {
  std::vector<YamlDocument> documents(1);
  documents[0].errors.push_back({line, std::move(message)});
  return documents;
}

}  // namespace

std::vector<YamlDocument> ParseYaml(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.size() > kMaxYamlBytes)
    return Refuse(1, fmt::format("larger than {} bytes: split the file", kMaxYamlBytes));
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (ToValidUtf8(text) != text) return Refuse(1, "not UTF-8: save the file as UTF-8");
  if (const int line = LineOfBadByte(text); line != 0)
    return Refuse(line, "a control character stands here: save the file as plain UTF-8 text");

  std::vector<YamlDocument> documents;
  for (const Chunk& chunk : SplitDocuments(text)) {
    if (documents.size() == kMaxYamlDocuments) {
      documents.push_back({});
      documents.back().errors.push_back(
          {chunk.first_line,
           fmt::format("more than {} documents: split the file", kMaxYamlDocuments)});
      break;
    }
    documents.push_back(ParseChunk(chunk));
  }
  return documents;
}

}  // namespace firetower::k8s
