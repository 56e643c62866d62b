// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/findings.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>

#include "diagnosis/verdict.h"
#include "profile/top/process_name.h"

namespace firetower::diagnosis {
namespace {

// A step of a signature that a frame matches.
struct Hit {
  uint32_t signature = 0;
  uint32_t step = 0;
};

// Which steps the names of frames match. Names without `*` are looked up.
class Steps {
 public:
  explicit Steps(std::span<const Signature> signatures) {
    for (uint32_t i = 0; i < signatures.size(); ++i) {
      for (uint32_t step = 0; step < signatures[i].stack.size(); ++step) {
        for (const std::string& name : signatures[i].stack[step]) {
          if (name.find('*') == std::string::npos)
            names_[name].push_back({i, step});
          else
            patterns_.emplace_back(name, Hit{i, step});
        }
      }
    }
  }
  void Find(const std::string& name, std::vector<Hit>& hits) const {
    if (const auto found = names_.find(name); found != names_.end()) hits = found->second;
    for (const auto& [pattern, hit] : patterns_) {
      if (MatchesPattern(pattern, name)) hits.push_back(hit);
    }
  }

 private:
  std::unordered_map<std::string, std::vector<Hit>> names_;
  std::vector<std::pair<std::string, Hit>> patterns_;
};

struct FrameHits {
  std::string name;
  bool kernel = false;
  std::vector<Hit> hits;
};

// How much of a profile one signature has.
struct Share {
  int64_t value = 0;
  int64_t heaviest = 0;
  std::vector<std::string> stack;          // of the heaviest sample, outermost first
  std::map<std::string, int64_t> callers;  // the frames outside of the first step
  std::map<std::string, int64_t> processes;
};

class Matcher {
 public:
  Matcher(const profile::Profile& profile, std::span<const Signature> signatures)
      : profile_(profile), signatures_(signatures), shares_(signatures.size()) {
    const Steps steps(signatures);
    for (uint32_t i = 0; i < profile.location_count(); ++i) {
      begin_.push_back(frames_.size());
      const profile::Location location = profile.location(i);
      // Outermost first.
      for (size_t line = std::max<size_t>(location.lines.size(), 1); line-- > 0;) {
        FrameHits frame{profile.FrameName(location, line), profile.IsKernel(location), {}};
        steps.Find(frame.name, frame.hits);
        frames_.push_back(std::move(frame));
      }
    }
    begin_.push_back(frames_.size());
  }

  void Add(const profile::Sample& sample, int64_t value) {
    stack_.clear();
    const size_t size = sample.locations.size();
    for (size_t i = size; i-- > 0;) {
      const uint32_t at = sample.locations[i];
      for (size_t frame = begin_[at]; frame < begin_[at + 1]; ++frame)
        stack_.push_back(&frames_[frame]);
    }
    const std::string comm(profile::ProcessName(profile_, sample));
    progress_.assign(signatures_.size(), 0);
    first_.assign(signatures_.size(), 0);
    for (size_t i = 0; i < stack_.size(); ++i) {
      for (const Hit& hit : stack_[i]->hits) Step(hit, i, stack_[i]->kernel);
    }
    for (size_t i = 0; i < signatures_.size(); ++i) {
      if (progress_[i] < signatures_[i].stack.size() || !IsOf(signatures_[i], comm)) continue;
      Count(shares_[i], first_[i], comm, value);
    }
  }

  const std::vector<Share>& shares() const { return shares_; }

 private:
  void Step(const Hit& hit, size_t frame, bool kernel) {
    const Signature& signature = signatures_[hit.signature];
    if (hit.step != progress_[hit.signature]) return;
    if (signature.where != Where::kAny && (signature.where == Where::kKernel) != kernel) return;
    if (hit.step == 0) first_[hit.signature] = frame;
    ++progress_[hit.signature];
  }

  static bool IsOf(const Signature& signature, const std::string& comm) {
    return signature.comms.empty() ||
           std::ranges::any_of(signature.comms, [&](const std::string& pattern) {
             return MatchesPattern(pattern, comm);
           });
  }

  void Count(Share& share, size_t first, const std::string& comm, int64_t value) {
    share.value += value;
    if (first > 0) share.callers[stack_[first - 1]->name] += value;
    if (!comm.empty()) share.processes[comm] += value;
    if (value <= share.heaviest) return;
    share.heaviest = value;
    share.stack.clear();
    for (const FrameHits* frame : stack_) share.stack.push_back(frame->name);
  }

  const profile::Profile& profile_;
  std::span<const Signature> signatures_;
  std::vector<Share> shares_;
  std::vector<FrameHits> frames_;
  std::vector<size_t> begin_;  // of each location, in frames_
  std::vector<const FrameHits*> stack_;
  std::vector<size_t> progress_;  // of each signature: the steps that the stack has so far
  std::vector<size_t> first_;     // where its first step is
};

// Adds the names with most of it.
void AddMost(const std::map<std::string, int64_t>& values, const char* what, size_t most,
             double one_percent, std::vector<Evidence>& to) {
  std::vector<std::pair<int64_t, std::string>> order;
  for (const auto& [name, value] : values) order.emplace_back(-value, name);
  std::ranges::sort(order);
  for (size_t i = 0; i < std::min(order.size(), most); ++i)
    to.push_back({what + order[i].second,
                  {},
                  -order[i].first,
                  static_cast<double>(-order[i].first) / one_percent});
}

Finding FindingOf(const Signature& signature, const Share& share, double one_percent) {
  Finding finding;
  finding.signature = signature.name;
  finding.cause = signature.cause;
  finding.next = signature.next;
  finding.confirm = signature.confirm;
  finding.percent = static_cast<double>(share.value) / one_percent;
  // At the least part as likely as not; the further above it, the more certain.
  finding.confidence = 1 - 0.5 * signature.at_least_percent / finding.percent;
  finding.evidence.push_back({"the heaviest stack", share.stack, share.heaviest,
                              static_cast<double>(share.heaviest) / one_percent});
  AddMost(share.callers, "called by ", 3, one_percent, finding.evidence);
  AddMost(share.processes, "in process ", 3, one_percent, finding.evidence);
  return finding;
}

bool IsOfType(const Signature& signature, std::string_view type) {
  return std::ranges::any_of(signature.types, [&](const std::string& one) {
    return one == type || (one == "event" && type.starts_with("event:"));
  });
}

}  // namespace

std::vector<Finding> FindSignatures(const profile::Profile& profile, uint32_t value_index,
                                    std::string_view type, std::span<const Signature> signatures) {
  std::vector<Signature> asked;
  for (const Signature& one : signatures) {
    if (IsOfType(one, type)) asked.push_back(one);
  }
  Matcher matcher(profile, asked);
  int64_t total = 0;
  for (uint32_t i = 0; i < profile.sample_count(); ++i) {
    const profile::Sample sample = profile.sample(i);
    total = profile::SaturatingAdd(total, sample.values[value_index]);
    matcher.Add(sample, sample.values[value_index]);
  }
  std::vector<Finding> findings;
  if (total <= 0) return findings;
  const double one_percent = static_cast<double>(total) / 100;
  for (size_t i = 0; i < asked.size(); ++i) {
    const Share& share = matcher.shares()[i];
    if (static_cast<double>(share.value) < asked[i].at_least_percent * one_percent) continue;
    findings.push_back(FindingOf(asked[i], share, one_percent));
  }
  SortFindings(findings);
  return findings;
}

Report Diagnose(const profile::Profile& profile, uint32_t value_index, std::string_view type,
                std::span<const Signature> others) {
  Report report;
  report.type = type;
  report.unit = profile.sample_types().at(value_index).unit;
  report.total = profile.Total(value_index);
  report.samples = profile.Total(0);
  report.verdict = Judge(profile, value_index, Domains(profile));
  std::vector<Signature> all = BuiltInSignatures();
  all.insert(all.end(), others.begin(), others.end());
  report.findings = FindSignatures(profile, value_index, type, all);
  const double unknown = report.verdict.percents[static_cast<size_t>(Domain::kUnknown)];
  for (Finding& finding : report.findings) finding.confidence *= Certainty(report.samples, unknown);
  return report;
}

}  // namespace firetower::diagnosis
