// SPDX-License-Identifier: Apache-2.0
#include "profile/select/type_choice.h"

#include <algorithm>
#include <string>
#include <utility>

namespace firetower::profile {
namespace {

constexpr std::string_view kIdLabel = "__profile_type__";
constexpr std::string_view kNameLabel = "__name__";

// An id with its type and value.
struct Candidate {
  TypeSelection selection;
  std::string id;
  PyroscopeIdParts parts;
};

Candidate CandidateOf(std::string_view id, TypeSelection selection) {
  return {std::move(selection), std::string(id), SplitPyroscopeId(id)};
}

std::vector<Candidate> KnownCandidates() {
  std::vector<Candidate> all;
  for (const std::string_view id : KnownPyroscopeIds()) {
    if (auto selection = ParseTypeSelection(id)) all.push_back(CandidateOf(id, *selection));
  }
  return all;
}

const std::string* PartOf(const PyroscopeIdParts& parts, std::string_view label) {
  if (label == "__type__") return &parts.sample_type.type;
  if (label == "__unit__") return &parts.sample_type.unit;
  if (label == "__period_type__") return &parts.period_type.type;
  if (label == "__period_unit__") return &parts.period_type.unit;
  return nullptr;
}

bool IsOfType(const Matcher& matcher) {
  return matcher.name() == kIdLabel || matcher.name() == kNameLabel ||
         PartOf({}, matcher.name()) != nullptr;
}

// The spellings of a label's value, by any of which it may be called.
std::vector<std::string> SpellingsOf(const Candidate& candidate, const Matcher& matcher) {
  const bool is_text = matcher.op() == MatchOp::kEqual || matcher.op() == MatchOp::kNotEqual;
  const std::string ours = candidate.selection.type.Name();
  if (matcher.name() == kNameLabel) {
    if (is_text) return {candidate.parts.name, ours, candidate.id};
    return {candidate.parts.name, ours};
  }
  if (matcher.name() != kIdLabel) return {*PartOf(candidate.parts, matcher.name())};
  if (is_text) return {candidate.id, ours};
  return {candidate.id};
}

bool Holds(const Matcher& matcher, const Candidate& candidate) {
  const auto matches = [&](const std::string& value) { return matcher.Matches(value); };
  const std::vector<std::string> spellings = SpellingsOf(candidate, matcher);
  const bool denies = matcher.op() == MatchOp::kNotEqual || matcher.op() == MatchOp::kNotRegex;
  return denies ? std::ranges::all_of(spellings, matches) : std::ranges::any_of(spellings, matches);
}

bool AllHold(const std::vector<Matcher>& matchers, const Candidate& candidate) {
  return std::ranges::all_of(matchers,
                             [&](const Matcher& matcher) { return Holds(matcher, candidate); });
}

// Returns the candidates that a text names: ids of known types, else the one of an event.
Result<std::vector<Candidate>> Named(const std::string& text, bool is_name) {
  std::vector<Candidate> named;
  for (Candidate& one : KnownCandidates()) {
    const bool is_it =
        text == one.id || text == one.selection.type.Name() || (is_name && text == one.parts.name);
    if (is_it) named.push_back(std::move(one));
  }
  if (!named.empty()) return named;
  ASSIGN_OR_RETURN(TypeSelection event, ParseTypeSelection(text));
  const std::string id = event.type.PyroscopeId();
  named.push_back(CandidateOf(id, std::move(event)));
  return named;
}

Result<Matcher> Match(std::string_view label, MatchOp op, std::string value) {
  return Matcher::Create(std::string(label), op, std::move(value));
}

// Rows of known types are selected by name; rows of others, such as events, by their own labels.
Result<std::vector<Selector>> AnyOf(const std::vector<Matcher>& of_type) {
  std::string all;
  std::string chosen;
  for (const Candidate& one : KnownCandidates()) {
    const std::string name = one.selection.type.Name() + "|";
    if (!all.ends_with(name)) all += name;  // the ids of one type stand together
    if (AllHold(of_type, one) && !chosen.ends_with(name)) chosen += name;
  }
  all.pop_back();
  std::vector<Selector> any_of;
  if (!chosen.empty()) {
    chosen.pop_back();
    ASSIGN_OR_RETURN(Matcher known, Match("type", MatchOp::kRegex, chosen));
    any_of.push_back(Selector({std::move(known)}));
  }
  ASSIGN_OR_RETURN(Matcher other, Match("type", MatchOp::kNotRegex, all));
  any_of.push_back(Selector(of_type).With(std::move(other)));
  return any_of;
}

// A type of those that are named, with the first value of which everything holds.
Result<TypeChoice> ChooseOf(const std::vector<Candidate>& named,
                            const std::vector<Matcher>& of_type, TypeChoice choice) {
  const auto found = std::ranges::find_if(
      named, [&](const Candidate& candidate) { return AllHold(of_type, candidate); });
  if (found != named.end()) {
    choice.type = found->selection;
    return choice;
  }
  const Candidate& first = named.front();
  choice.type = first.selection;
  // Keeps matchers that contradict the type, for messages.
  for (const Matcher& matcher : of_type) {
    if (!Holds(matcher, first)) choice.rest = choice.rest.With(matcher);
  }
  ASSIGN_OR_RETURN(Matcher none, Match("type", MatchOp::kEqual, ""));
  choice.any_of.push_back(Selector({std::move(none)}));
  return choice;
}

}  // namespace

Result<TypeChoice> ChooseType(const Selector& asked, std::string_view named,
                              std::string_view otherwise) {
  TypeChoice choice;
  std::vector<Matcher> of_type;
  std::vector<Matcher> rest;
  for (const Matcher& matcher : asked.matchers())
    (IsOfType(matcher) ? of_type : rest).push_back(matcher);
  choice.rest = Selector(std::move(rest));
  std::string text(named);
  bool is_name = false;
  for (const std::string_view label : {kIdLabel, kNameLabel}) {
    if (!text.empty()) break;
    text = asked.EqualTo(label).value_or("");
    is_name = label == kNameLabel;
  }
  if (text.empty()) text = otherwise;
  if (!text.empty()) {
    ASSIGN_OR_RETURN(const std::vector<Candidate> candidates, Named(text, is_name));
    return ChooseOf(candidates, of_type, std::move(choice));
  }
  if (!of_type.empty()) {
    ASSIGN_OR_RETURN(choice.any_of, AnyOf(of_type));
  }
  return choice;
}

}  // namespace firetower::profile
