// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics/container_hotspots.h"

#include <algorithm>
#include <functional>

#include "service/metrics/label_text.h"

namespace firetower::daemon {
namespace {

constexpr std::string_view kOther = "other";

uint64_t HashOf(const FunctionSelf& function) {
  std::hash<std::string_view> hash;
  return hash(function.function) * 31 + hash(function.binary);
}

std::shared_ptr<const std::string> HotspotLine(std::string_view family, const std::string& labels,
                                               std::string_view function, std::string_view binary) {
  std::string line = std::string(family) + "{" + labels + ",function=\"";
  service::AppendLabelValue(line, function);
  line += "\",binary=\"";
  service::AppendLabelValue(line, binary);
  line += "\"} ";
  line.shrink_to_fit();
  return std::make_shared<const std::string>(std::move(line));
}

}  // namespace

ContainerHotspots::ContainerHotspots(const ContainerLabels& labels, const HotspotNames& names)
    : names_(names) {
  label_prefix_ = "namespace=\"";
  service::AppendLabelValue(label_prefix_, labels.ns);
  label_prefix_ += "\",pod=\"";
  service::AppendLabelValue(label_prefix_, labels.pod);
  label_prefix_ += "\",container=\"";
  service::AppendLabelValue(label_prefix_, labels.container);
  label_prefix_ += '"';
  total_line_ =
      std::make_shared<const std::string>(std::string(names_.totals) + "{" + label_prefix_ + "} ");
  other_line_ = HotspotLine(names_.hotspots, label_prefix_, kOther, "");
}

size_t ContainerHotspots::AddSlice(int64_t now_ns, std::span<const FunctionSelf> functions,
                                   int64_t total, size_t free_slots) {
  int64_t named_ns = 0;
  for (const FunctionSelf& function : functions) named_ns += function.value;
  total = std::max(total, named_ns);  // A function's time is the container's time.

  std::vector<const FunctionSelf*> earned;
  for (const FunctionSelf& function : functions) {
    if (function.value * kLeastShareDivisor >= total && function.samples >= kLeastSamples &&
        function.value > 0 && function.function != kOther &&
        FindResident(HashOf(function), function) == nullptr) {
      earned.push_back(&function);
    }
  }
  std::sort(earned.begin(), earned.end(),
            [](const FunctionSelf* a, const FunctionSelf* b) { return a->value > b->value; });
  size_t admitted = std::min(earned.size(), free_slots);
  for (size_t i = 0; i < admitted; ++i) {
    Admit(HashOf(*earned[i]), earned[i]->function, earned[i]->binary, now_ns);
  }

  int64_t resident_ns = 0;
  for (const FunctionSelf& function : functions) {
    uint64_t hash = HashOf(function);
    if (Resident* resident = FindResident(hash, function)) {
      resident->value += function.value;
      resident->window_ns += function.value;
      resident_ns += function.value;
    } else if (function.function != kOther) {
      Observe(hash, function);
    }
  }
  total_ += total;
  other_ += total - resident_ns;
  return earned.size() - admitted;
}

void ContainerHotspots::EndWindow(int64_t now_ns) {
  // The strongest candidates against the weakest residents, pair by pair.
  std::sort(candidates_.begin(), candidates_.end(),
            [](const Candidate& a, const Candidate& b) { return a.certain_ns() > b.certain_ns(); });
  std::vector<Resident*> weakest;
  for (Resident& resident : residents_) {
    if (now_ns - resident.since_ns >= kResidenceNs) weakest.push_back(&resident);
  }
  std::sort(weakest.begin(), weakest.end(),
            [](const Resident* a, const Resident* b) { return a->window_ns < b->window_ns; });
  size_t next = 0;
  for (Candidate& candidate : candidates_) {
    if (next == weakest.size() || candidate.certain_ns() <= weakest[next]->window_ns) break;
    if (candidate.last_window_ns <= weakest[next]->last_window_ns) continue;
    if (HasLine(*HotspotLine(names_.hotspots, label_prefix_, candidate.function, candidate.binary)))
      continue;
    Replace(*weakest[next++], candidate, now_ns);
  }
  for (Resident& resident : residents_) {
    resident.last_window_ns = resident.window_ns;
    resident.window_ns = 0;
  }
  for (Candidate& candidate : candidates_) {
    candidate.last_window_ns = candidate.certain_ns();
    candidate.window_ns = 0;
    candidate.error_ns = 0;
  }
  std::erase_if(candidates_, [](const Candidate& c) { return c.last_window_ns == 0; });
}

size_t ContainerHotspots::Shrink(size_t keep) {
  if (residents_.size() <= keep) return 0;
  std::sort(residents_.begin(), residents_.end(), [](const Resident& a, const Resident& b) {
    return a.window_ns + a.last_window_ns > b.window_ns + b.last_window_ns;
  });
  size_t evicted = residents_.size() - keep;
  for (size_t i = keep; i < residents_.size(); ++i) other_ += residents_[i].value;
  residents_.resize(keep);
  return evicted;
}

ContainerHotspots::Resident* ContainerHotspots::FindResident(uint64_t hash,
                                                             const FunctionSelf& function) {
  for (Resident& resident : residents_) {
    if (resident.hash == hash && resident.function == function.function &&
        resident.binary == function.binary) {
      return &resident;
    }
  }
  return nullptr;
}

// Two names that differ only in bytes that are not UTF-8 show as one; a series stands once.
bool ContainerHotspots::HasLine(const std::string& line) const {
  return std::any_of(residents_.begin(), residents_.end(),
                     [&](const Resident& resident) { return *resident.line == line; });
}

void ContainerHotspots::Admit(uint64_t hash, std::string_view function, std::string_view binary,
                              int64_t now_ns) {
  std::shared_ptr<const std::string> line =
      HotspotLine(names_.hotspots, label_prefix_, function, binary);
  if (HasLine(*line)) return;
  Resident resident{
      std::string(function), std::string(binary), std::move(line), hash, 0, 0, 0, now_ns};
  std::erase_if(candidates_, [&](const Candidate& candidate) {
    if (candidate.hash != hash || candidate.function != function || candidate.binary != binary) {
      return false;
    }
    resident.window_ns = candidate.certain_ns();
    resident.last_window_ns = candidate.last_window_ns;
    return true;
  });
  residents_.push_back(std::move(resident));
}

void ContainerHotspots::Observe(uint64_t hash, const FunctionSelf& function) {
  Candidate* least = nullptr;
  for (Candidate& candidate : candidates_) {
    if (candidate.hash == hash && candidate.function == function.function &&
        candidate.binary == function.binary) {
      candidate.window_ns += function.value;
      return;
    }
    if (least == nullptr || candidate.window_ns < least->window_ns) least = &candidate;
  }
  Candidate added{
      std::string(function.function), std::string(function.binary), hash, function.value, 0, 0};
  if (candidates_.size() < kMaxCandidates) {
    candidates_.push_back(std::move(added));
    return;
  }
  added.error_ns = least->window_ns;
  added.window_ns += least->window_ns;
  *least = std::move(added);
}

void ContainerHotspots::Replace(Resident& resident, Candidate& candidate, int64_t now_ns) {
  other_ += resident.value;
  Candidate loser{std::move(resident.function),
                  std::move(resident.binary),
                  resident.hash,
                  resident.window_ns,
                  0,
                  resident.last_window_ns};
  resident = {candidate.function,
              candidate.binary,
              HotspotLine(names_.hotspots, label_prefix_, candidate.function, candidate.binary),
              candidate.hash,
              0,
              candidate.certain_ns(),
              candidate.last_window_ns,
              now_ns};
  candidate = std::move(loser);
}

}  // namespace firetower::daemon
