// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/v8/v8_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace firetower::daemon {
namespace {

// Bounds of what is read: more is damaged, or no such thing.
constexpr int32_t kMaxVariables = 1 << 20;
// A ScopeInfo with more variables has their names in a table of its own (scope-info.h).
constexpr int32_t kMaxInlinedNames = 75;

// The bits of a ScopeInfo's flags (scope-info.tq), the same from V8 10 to 14.
constexpr uint32_t kSavedClassVariable = 1u << 10;
constexpr uint32_t kFunctionVariable = 3u << 12;
constexpr uint32_t kInferredName = 1u << 14;

constexpr std::string_view kFileScheme = "file://";

uint32_t LineAt(const std::vector<uint32_t>& ends, uint32_t position) {
  const auto end = std::ranges::lower_bound(ends, position);
  return static_cast<uint32_t>(end - ends.begin()) + 1;
}

// Returns the place of a frame's call, or of a leaf's instruction, in a code that may have it.
uint32_t OffsetIn(const V8CodeHead& code, const V8Frame& frame) {
  const bool leaf = (frame.code & FT_V8_LEAF) != 0;
  return static_cast<uint32_t>(frame.where) - static_cast<uint32_t>(code.start) - (leaf ? 0 : 1);
}

// Returns the entry that an offset is of: the last one up to it; null if there is none.
const V8Code::Entry* EntryAt(const std::vector<V8Code::Entry>& entries, uint32_t offset) {
  const auto after = std::ranges::upper_bound(entries, offset, {}, &V8Code::Entry::offset);
  return after == entries.begin() ? nullptr : &*std::prev(after);
}

}  // namespace

std::optional<V8Names::Scope> V8Names::ReadScope(const V8Heap& heap, uint64_t scope) const {
  // Map, flags, parameters, variables, and since 12.8 where the text begins and ends.
  std::array<uint64_t, 6> head{};
  const size_t words = build_.places_first() ? 6 : 4;
  if (!heap.Read(scope, std::as_writable_bytes(std::span(head).first(words)))) return std::nullopt;
  const auto flags = static_cast<uint32_t>(build_.places_first() ? head[1] : head[1] >> 32);
  const auto variables = SmallIntegerOf(head[3]);
  if (!variables || *variables < 0 || *variables > kMaxVariables) return std::nullopt;
  const auto count = static_cast<uint64_t>(*variables);
  uint64_t at = scope + words * 8;
  at += 8 * (*variables < kMaxInlinedNames ? 2 * count : 1 + count);
  if ((flags & kSavedClassVariable) != 0) at += 8;
  const auto next = [&] {
    at += 8;
    return heap.Field(at - 8, 0);
  };
  const auto take_name = [&](const std::optional<uint64_t>& value, std::string& name) {
    if (!value) return false;
    const auto string = ObjectOf(*value);
    if (!string) return SmallIntegerOf(*value).has_value();
    if (name.empty()) name = heap.Text(*string).value_or("");  // it may be undefined
    return true;
  };
  Scope read;
  if ((flags & kFunctionVariable) != 0) {
    if (!take_name(next(), read.name)) return std::nullopt;
    const auto index = next();
    if (!index || SmallIntegerOf(*index).value_or(-2) < -1) return std::nullopt;
  }
  if ((flags & kInferredName) != 0 && !take_name(next(), read.name)) return std::nullopt;
  const std::optional<uint64_t> start = build_.places_first() ? head[4] : next();
  const auto position = start ? SmallIntegerOf(*start) : std::nullopt;
  if (!position || *position < 0) return std::nullopt;
  read.start = static_cast<uint32_t>(*position);
  return read;
}

std::shared_ptr<const V8Names::Script> V8Names::ScriptOf(const V8Heap& heap, uint64_t script) {
  const auto source = heap.Field(script, build_.script_source);
  if (!source) return nullptr;
  const auto known = scripts_.find(script);
  if (known != scripts_.end() && known->second.first == *source) return known->second.second;
  Script read;
  const auto name = heap.Field(script, build_.script_name);
  if (const auto string = name ? ObjectOf(*name) : std::nullopt)
    read.file = heap.Text(*string).value_or("");
  if (read.file.starts_with(kFileScheme)) read.file.erase(0, kFileScheme.size());
  if (const auto string = ObjectOf(*source))
    read.line_ends = heap.LineEnds(*string).value_or(std::vector<uint32_t>());
  if (scripts_.size() >= kMaxScripts) scripts_.clear();
  auto kept = std::make_shared<const Script>(std::move(read));
  scripts_[script] = {*source, kept};
  return kept;
}

std::vector<V8Code::Entry> V8Names::ReadBytecodes(const V8Heap& heap, uint64_t shared) const {
  // Functions that a compiler has had in hand keep theirs elsewhere.
  const auto bytecodes = heap.ObjectAt(shared, sizeof(uint64_t), build_.bytecode_type);
  const auto table = bytecodes ? heap.Field(*bytecodes, build_.source_positions()) : std::nullopt;
  const auto at = table ? ObjectOf(*table) : std::nullopt;
  return at ? ReadPositions(heap, build_, *at) : std::vector<V8Code::Entry>();
}

std::shared_ptr<const V8Names::Function> V8Names::ReadFunction(const V8Heap& heap, uint64_t shared,
                                                               uint32_t cookie) {
  std::array<uint64_t, FT_V8_SHARED_BYTES / 8> words{};
  const auto is_same = [&] {
    return heap.Read(shared, std::as_writable_bytes(std::span(words))) &&
           ft_v8_cookie(words[build_.shared_name / 8], words[build_.shared_script / 8]) == cookie;
  };
  if (heap.TypeOf(shared) != build_.shared_type || !is_same()) return nullptr;
  const auto named = ObjectOf(words[build_.shared_name / 8]);
  const auto script_at = heap.ObjectAt(shared, build_.shared_script, build_.script_type);
  Function function;
  Scope scope;
  if (named && heap.TypeOf(*named) == build_.scope_type) {
    auto read = ReadScope(heap, *named);
    if (!read) return nullptr;
    scope = *std::move(read);
  } else if (named) {
    auto text = heap.Text(*named);
    if (!text) return nullptr;
    scope.name = *std::move(text);
  }
  RuntimeFunction read{scope.name, "", 0};
  if (script_at) function.script = ScriptOf(heap, *script_at);
  if (function.script != nullptr) {
    read.file = function.script->file;
    if (!function.script->line_ends.empty())
      read.first_line = LineAt(function.script->line_ends, scope.start);
    function.bytecodes = ReadBytecodes(heap, shared);
  }
  if (read.name.empty()) {
    const std::string_view file = std::string_view(read.file).substr(read.file.rfind('/') + 1);
    read.name = file.empty() ? "(anonymous)" : fmt::format("(anonymous) {}", file);
    if (read.first_line != 0) read.name += fmt::format(":{}", read.first_line);
  }
  // A collector may have moved it in the meantime.
  if (!is_same()) return nullptr;
  function.function = std::make_shared<const RuntimeFunction>(std::move(read));
  return std::make_shared<const Function>(std::move(function));
}

std::shared_ptr<const V8Names::Function> V8Names::FunctionOf(const V8Heap& heap, uint64_t shared,
                                                             uint32_t cookie) {
  const auto known = functions_.find({shared, cookie});
  if (known != functions_.end()) return known->second;
  auto read = ReadFunction(heap, shared, cookie);
  if (read == nullptr) return nullptr;
  if (functions_.size() >= kMaxFunctions) functions_.clear();
  return functions_[{shared, cookie}] = std::move(read);
}

const V8Names::Compiled* V8Names::CompiledOf(const V8Heap& heap, uint64_t code) {
  const auto head = ReadCodeHead(heap, build_, code);
  if (!head) return nullptr;
  const auto known = compiled_.find(code);
  if (known != compiled_.end() && known->second.head == *head) return &known->second;
  Compiled read{*head, ReadCode(heap, build_, code), {}};
  if (read.code) {
    for (const V8Code::Call& call : read.code->calls) {
      const auto name = heap.Field(call.shared, build_.shared_name);
      const auto script = heap.Field(call.shared, build_.shared_script);
      read.calls.push_back(
          name && script ? FunctionOf(heap, call.shared, ft_v8_cookie(*name, *script)) : nullptr);
    }
  }
  if (compiled_.size() >= kMaxCodes) compiled_.clear();
  return &(compiled_[code] = std::move(read));
}

std::vector<RuntimePlace> V8Names::ChainOf(const std::shared_ptr<const Function>& outermost,
                                           const Compiled& compiled, V8Code::Place place) const {
  std::vector<RuntimePlace> chain;
  const auto add = [&](const Function& of) {
    const bool has_lines = of.script != nullptr && !of.script->line_ends.empty();
    chain.push_back({of.function, has_lines ? LineAt(of.script->line_ends, place.character) : 0});
  };
  while (place.caller != 0) {
    const V8Code::Call& call = compiled.code->calls[place.caller - 1u];
    const std::shared_ptr<const Function>& function = compiled.calls[place.caller - 1u];
    // Calls are written behind those that they are in.
    if (function == nullptr || call.at.caller >= place.caller) return {};
    add(*function);
    place = call.at;
  }
  add(*outermost);
  return chain;
}

const V8Names::Compiled* V8Names::CodeOf(const V8Heap& heap, const V8Frame& frame) {
  const auto is_in = [&](const Compiled* compiled) {
    return compiled != nullptr && OffsetIn(compiled->head, frame) < compiled->head.size;
  };
  const auto has = [&](const Compiled* compiled) {
    return is_in(compiled) && compiled->code &&
           compiled->code->shared == (frame.word & ~FT_WORD_KIND);
  };
  const Compiled* own = CompiledOf(heap, frame.code & ~FT_V8_LEAF);
  if (has(own)) return own;
  // Sparkplug's code does not describe calls, as it has none of others in it.
  if (is_in(own)) return nullptr;
  std::vector<uint64_t>& loops = loops_[frame.feedback];
  for (const uint64_t loop : loops) {
    if (const Compiled* compiled = CompiledOf(heap, loop); has(compiled)) return compiled;
  }
  const std::pair<uint64_t, uint32_t> strange(frame.feedback, static_cast<uint32_t>(frame.where));
  if (strange_.contains(strange)) return nullptr;
  loops = ReadLoopCodes(heap, build_, frame.feedback);
  for (const uint64_t loop : loops) {
    if (const Compiled* compiled = CompiledOf(heap, loop); has(compiled)) return compiled;
  }
  if (strange_.size() >= kMaxStrange) {
    strange_.clear();
    loops_.clear();
  }
  strange_.insert(strange);
  return nullptr;
}

std::vector<RuntimePlace> V8Names::FindCompiled(const V8Heap& heap, const V8Frame& frame,
                                                const std::shared_ptr<const Function>& outermost) {
  const bool leaf = (frame.code & FT_V8_LEAF) != 0;
  const Compiled* compiled = CodeOf(heap, frame);
  if (compiled == nullptr) return {};
  const V8Code& code = *compiled->code;
  const uint32_t offset = OffsetIn(compiled->head, frame);
  const V8Code::Entry* entry = EntryAt(code.entries, offset);
  if (entry == nullptr) return {};
  std::vector<RuntimePlace> chain = ChainOf(outermost, *compiled, entry->place);
  // Calls are described, and loads that may fail; what lies between two of them may be of either.
  const bool exact = !leaf || entry->offset == offset;
  if (exact || chain.empty() || entry == &code.entries.back()) return chain;
  const std::vector<RuntimePlace> next = ChainOf(outermost, *compiled, (entry + 1)->place);
  if (next.empty()) return {};
  KeepCommon(chain, next);
  return chain;
}

std::vector<RuntimePlace> V8Names::Find(const RemoteMemory& memory, const V8Frame& frame) {
  const V8Heap heap(memory, build_);
  const auto function =
      FunctionOf(heap, frame.word & ~FT_WORD_KIND, static_cast<uint32_t>(frame.where >> 32));
  if (function == nullptr) return {};
  if (frame.code != 0) {
    auto chain = FindCompiled(heap, frame, function);
    if (!chain.empty()) return chain;
  }
  RuntimePlace place{function->function, function->function->first_line};
  const auto position = static_cast<uint32_t>(frame.where);
  if (frame.code != 0 || function->script == nullptr || function->script->line_ends.empty() ||
      position < build_.bytecodes)
    return {place};
  const V8Code::Entry* entry = EntryAt(function->bytecodes, position - build_.bytecodes);
  if (entry != nullptr) place.line = LineAt(function->script->line_ends, entry->place.character);
  return {place};
}

}  // namespace firetower::daemon
