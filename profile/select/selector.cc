// SPDX-License-Identifier: Apache-2.0
#include "profile/selector.h"

#include <fmt/core.h>
#include <re2/re2.h>

#include <algorithm>
#include <span>
#include <utility>

#include "profile/builder.h"
#include "profile/select/parser.h"

namespace firetower::profile {
namespace {

// RE2 matches in linear time; this bounds what one compiled expression holds (its default is 8
// MiB).
constexpr int64_t kMaxRegexBytes = 1 << 20;
constexpr size_t kMaxPatternBytes = 8 << 10;

RE2::Options RegexOptions() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_dot_nl(true);  // as Prometheus
  options.set_max_mem(kMaxRegexBytes);
  return options;
}

std::string_view OpText(MatchOp op) {
  switch (op) {
    case MatchOp::kEqual:
      return "=";
    case MatchOp::kNotEqual:
      return "!=";
    case MatchOp::kRegex:
      return "=~";
    case MatchOp::kNotRegex:
      return "!~";
  }
  return "=";
}

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace

class Regex {
 public:
  explicit Regex(std::string_view pattern)
      : compiled_(re2::StringPiece(pattern.data(), pattern.size()), RegexOptions()) {}
  const RE2& compiled() const { return compiled_; }

 private:
  RE2 compiled_;
};

Matcher::Matcher(std::string name, MatchOp op, std::string value,
                 std::shared_ptr<const Regex> regex)
    : name_(std::move(name)), op_(op), value_(std::move(value)), regex_(std::move(regex)) {}

Result<Matcher> Matcher::Create(std::string name, MatchOp op, std::string value) {
  std::shared_ptr<const Regex> regex;
  if (op == MatchOp::kRegex || op == MatchOp::kNotRegex) {
    if (value.size() > kMaxPatternBytes) {
      return Error(ErrorCode::kInvalid, fmt::format("regular expression of {} bytes: at most {}",
                                                    value.size(), kMaxPatternBytes));
    }
    regex = std::make_shared<const Regex>(value);
    if (!regex->compiled().ok()) {
      return Error(ErrorCode::kInvalid, fmt::format("regular expression {}: {} (RE2 syntax)",
                                                    Quoted(value), regex->compiled().error()));
    }
  }
  return Matcher(std::move(name), op, std::move(value), std::move(regex));
}

bool Matcher::Matches(std::string_view label_value) const {
  auto full_match = [&] {
    return RE2::FullMatch(re2::StringPiece(label_value.data(), label_value.size()),
                          regex_->compiled());
  };
  switch (op_) {
    case MatchOp::kEqual:
      return label_value == value_;
    case MatchOp::kNotEqual:
      return label_value != value_;
    case MatchOp::kRegex:
      return full_match();
    case MatchOp::kNotRegex:
      return !full_match();
  }
  return false;
}

Result<Selector> Selector::Parse(std::string_view text) {
  ASSIGN_OR_RETURN(std::vector<Matcher> matchers, ParseMatchers(text));
  return Selector(std::move(matchers));
}

std::optional<std::string> Selector::EqualTo(std::string_view name) const {
  for (const Matcher& matcher : matchers_) {
    if (matcher.op() == MatchOp::kEqual && matcher.name() == name) return matcher.value();
  }
  return std::nullopt;
}

Selector Selector::With(Matcher matcher) const {
  std::vector<Matcher> matchers = matchers_;
  matchers.push_back(std::move(matcher));
  return Selector(std::move(matchers));
}

std::string Selector::ToString() const {
  std::string out = "{";
  for (const Matcher& matcher : matchers_) {
    if (out.size() > 1) out += ',';
    out += fmt::format("{}{}{}", matcher.name(), OpText(matcher.op()), Quoted(matcher.value()));
  }
  return out + '}';
}

namespace {

// Looks at every label of the matcher's name, as pprof's tagfocus and tagignore do: one label that
// equals the value is enough for = and =~ to keep a sample, and for != and !~ to leave it out.
bool MatchesLabels(const Matcher& matcher, const Profile& profile, std::span<const Label> labels) {
  const bool is_negative = matcher.op() == MatchOp::kNotEqual || matcher.op() == MatchOp::kNotRegex;
  bool is_absent = true;
  for (const Label& label : labels) {
    if (profile.string(label.key) != matcher.name()) continue;
    is_absent = false;
    const bool matches = label.is_number != 0 ? matcher.Matches(std::to_string(label.number))
                                              : matcher.Matches(profile.string(label.string_value));
    if (matches != is_negative) return matches;
  }
  return is_absent ? matcher.Matches("") : is_negative;
}

}  // namespace

Profile FilterSamples(const Profile& profile, const Selector& selector) {
  ProfileBuilder builder(profile.meta());
  for (StringId id = 0; id < profile.string_count(); ++id) builder.AddString(profile.string(id));
  for (uint32_t i = 0; i < profile.mapping_count(); ++i) builder.AddMapping(profile.mapping(i));
  for (uint32_t i = 0; i < profile.function_count(); ++i) builder.AddFunction(profile.function(i));
  for (uint32_t i = 0; i < profile.location_count(); ++i) {
    Location location = profile.location(i);
    builder.AddLocation(location.mapping, location.address, location.lines, location.is_folded);
  }
  std::vector<uint32_t> stack;
  for (uint32_t i = 0; i < profile.sample_count(); ++i) {
    Sample sample = profile.sample(i);
    const bool is_kept = std::ranges::all_of(selector.matchers(), [&](const Matcher& matcher) {
      return MatchesLabels(matcher, profile, sample.labels);
    });
    if (is_kept) {
      stack.assign(sample.locations.begin(), sample.locations.end());
      builder.AddSample(stack, sample.values, sample.labels);
    }
  }
  return std::move(builder).Build();
}

}  // namespace firetower::profile
