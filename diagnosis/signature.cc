// SPDX-License-Identifier: Apache-2.0
// The one place of this folder that reads JSON; the library throws on a wrong type, which ends
// here.
#include "diagnosis/signature.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "base/check.h"
#include "diagnosis/built_in.h"

namespace firetower::diagnosis {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxBytes = 64 << 10;
constexpr size_t kMaxSignatures = 1000;
constexpr size_t kMaxSteps = 8;

[[noreturn]] void Fail(const std::string& what) { throw std::invalid_argument(what); }

std::string Text(const Json& json, const char* name) {
  const Json& member = json.at(name);
  if (!member.is_string() || member.get_ref<const std::string&>().empty())
    Fail(fmt::format("\"{}\" is not a text", name));
  return member.get<std::string>();
}

std::vector<std::string> Texts(const Json& json, const std::string& name) {
  if (!json.is_array() || json.empty()) Fail(fmt::format("\"{}\" is not a list of texts", name));
  std::vector<std::string> texts;
  for (const Json& one : json) {
    if (!one.is_string() || one.get_ref<const std::string&>().empty())
      Fail(fmt::format("\"{}\" has something that is not a text", name));
    texts.push_back(one.get<std::string>());
  }
  return texts;
}

bool IsName(std::string_view name) {
  return !name.empty() && name.size() <= 63 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

std::vector<std::string> TypesOf(const Json& json) {
  if (!json.contains("types")) return {"cpu"};
  constexpr std::string_view kTypes[] = {"cpu", "offcpu", "lock", "memory", "event"};
  std::vector<std::string> types = Texts(json["types"], "types");
  for (const std::string& type : types) {
    if (std::ranges::find(kTypes, type) == std::end(kTypes))
      Fail(fmt::format("\"types\" has '{}': it must be cpu, offcpu, lock, memory or event", type));
  }
  return types;
}

std::vector<std::vector<std::string>> StackOf(const Json& json) {
  const Json& steps = json.at("stack");
  if (!steps.is_array() || steps.empty() || steps.size() > kMaxSteps)
    Fail(fmt::format("\"stack\" is not a list of 1 to {} steps", kMaxSteps));
  std::vector<std::vector<std::string>> stack;
  for (const Json& step : steps) stack.push_back(Texts(step, "stack"));
  return stack;
}

Where WhereOf(const Json& json) {
  if (!json.contains("where")) return Where::kAny;
  const std::string where = Text(json, "where");
  if (where == "kernel") return Where::kKernel;
  if (where == "user") return Where::kUser;
  Fail(fmt::format("\"where\" is '{}': it must be kernel or user", where));
}

Signature ReadSignature(const Json& json) {
  constexpr std::string_view kMembers[] = {"name",  "types", "stack",   "where",           "comms",
                                           "cause", "next",  "confirm", "at_least_percent"};
  if (!json.is_object()) Fail("it is no object");
  for (const auto& [name, value] : json.items()) {
    if (std::ranges::find(kMembers, name) == std::end(kMembers))
      Fail(fmt::format("it has an unknown member \"{}\"", name));
  }
  Signature signature;
  signature.name = Text(json, "name");
  if (!IsName(signature.name))
    Fail(fmt::format("\"name\" is '{}': it must be of a-z, 0-9 and -", signature.name));
  signature.types = TypesOf(json);
  signature.stack = StackOf(json);
  signature.where = WhereOf(json);
  if (json.contains("comms")) signature.comms = Texts(json["comms"], "comms");
  const Json& least = json.at("at_least_percent");
  if (!least.is_number()) Fail("\"at_least_percent\" is not a number");
  signature.at_least_percent = least.get<double>();
  if (!(signature.at_least_percent > 0 && signature.at_least_percent <= 100))
    Fail("\"at_least_percent\" is not above 0 and at most 100");
  signature.cause = Text(json, "cause");
  signature.next = Text(json, "next");
  if (json.contains("confirm")) signature.confirm = Text(json, "confirm");
  return signature;
}

// Names a signature for an error: by its name, if it has one.
std::string Called(const Json& json, size_t index) {
  const bool named = json.is_object() && json.contains("name") && json["name"].is_string();
  return named ? "signature " + json["name"].get<std::string>()
               : fmt::format("signature {}", index + 1);
}

std::vector<Signature> ReadTable(const Json& json) {
  if (!json.is_object() || json.size() != 2 || !json.contains("version") ||
      !json.contains("signatures"))
    Fail("a table has \"version\" and \"signatures\", and nothing else");
  if (json["version"] != 1) Fail("\"version\" is not 1");
  const Json& rows = json["signatures"];
  if (!rows.is_array() || rows.size() > kMaxSignatures)
    Fail(fmt::format("\"signatures\" is not a list of at most {}", kMaxSignatures));
  std::vector<Signature> table;
  std::set<std::string> names;
  for (size_t i = 0; i < rows.size(); ++i) {
    try {
      table.push_back(ReadSignature(rows[i]));
    } catch (const std::exception& e) {
      Fail(fmt::format("{}: {}", Called(rows[i], i), e.what()));
    }
    if (!names.insert(table.back().name).second)
      Fail(fmt::format("signature {}: there are two of that name", table.back().name));
  }
  return table;
}

}  // namespace

Result<std::vector<Signature>> ParseSignatures(std::string_view json) {
  if (json.size() > kMaxBytes)
    return Error(ErrorCode::kInvalid,
                 fmt::format("a table of signatures has at most {} bytes", kMaxBytes));
  try {
    return ReadTable(Json::parse(json));
  } catch (const std::exception& e) {
    return Error(ErrorCode::kInvalid, e.what());
  }
}

const std::vector<Signature>& BuiltInSignatures() {
  static const std::vector<Signature> table = [] {
    Result<std::vector<Signature>> parsed = ParseSignatures(kBuiltInSignatures);
    CHECK(parsed);
    return *std::move(parsed);
  }();
  return table;
}

// Goes back to the last star alone: names and patterns come from anybody, and may not cost more
// than the product of their lengths.
bool MatchesPattern(std::string_view pattern, std::string_view name) {
  size_t at = 0, in_name = 0, star = std::string_view::npos, behind_star = 0;
  while (in_name < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      behind_star = in_name;
    } else if (at < pattern.size() && pattern[at] == name[in_name]) {
      ++at;
      ++in_name;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      in_name = ++behind_star;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

}  // namespace firetower::diagnosis
