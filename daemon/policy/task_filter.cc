// SPDX-License-Identifier: Apache-2.0
#include "daemon/policy/task_filter.h"

#include <algorithm>

namespace firetower::daemon {
namespace {

// The schema admits numbers that no kernel has: those CPUs are not there.
CpuSet CpusOf(const std::string& list) {
  CpuSet set;
  Result<std::vector<int>> cpus = ParseCpuList(list);
  if (!cpus) return set;
  for (int cpu : *cpus) set.set(static_cast<size_t>(cpu));
  return set;
}

}  // namespace

PolicyFilter::PolicyFilter(const k8s::FilterSpec& spec) : threads_(spec.threads) {
  for (const k8s::ProcessFilter& process : spec.processes) {
    ProcessPattern pattern{process, std::nullopt};
    if (process.command_line_regex) pattern.command_line.emplace(*process.command_line_regex);
    reads_process_ |= process.executable.has_value() || process.command_line_regex.has_value();
    processes_.push_back(std::move(pattern));
  }
  if (spec.cpus) cpus_ = CpusOf(*spec.cpus);
}

bool PolicyFilter::ProcessPattern::Holds(const TaskFacts& facts) const {
  if (wanted.pid && *wanted.pid != facts.pid) return false;
  if (wanted.comm && *wanted.comm != facts.comm) return false;
  if (wanted.executable && facts.executable != wanted.executable) return false;
  return !command_line || (facts.command_line && command_line->FoundIn(*facts.command_line));
}

bool PolicyFilter::WantsTask(const TaskFacts& facts) const {
  const bool process = processes_.empty() ||
                       std::any_of(processes_.begin(), processes_.end(),
                                   [&](const ProcessPattern& one) { return one.Holds(facts); });
  return process && (threads_.empty() ||
                     std::find(threads_.begin(), threads_.end(), facts.thread) != threads_.end());
}

TaskFilter::TaskFilter(std::vector<std::shared_ptr<const PolicyFilter>> filters)
    : filters_(std::move(filters)), cpus_(CpuSet{}) {
  for (const std::shared_ptr<const PolicyFilter>& filter : filters_) {
    if (!filter->cpus()) cpus_.reset();
    if (cpus_) *cpus_ |= *filter->cpus();
    any_tasks_ &= filter->any_tasks();
    reads_process_ |= filter->reads_process();
  }
}

std::shared_ptr<const TaskFilter> TaskFilter::Of(
    std::vector<std::shared_ptr<const PolicyFilter>> filters) {
  if (filters.empty() || filters.size() > kMaxFilters) return nullptr;
  return std::shared_ptr<const TaskFilter>(new TaskFilter(std::move(filters)));
}

bool TaskFilter::Same(const TaskFilter* one, const TaskFilter* other) {
  if (one == nullptr || other == nullptr) return one == other;
  return one->filters_ == other->filters_;
}

uint64_t TaskFilter::Match(const TaskFacts& facts) const {
  uint64_t match = 0;
  for (size_t i = 0; i < filters_.size(); ++i) {
    if (filters_[i]->WantsTask(facts)) match |= uint64_t{1} << i;
  }
  return match;
}

bool TaskFilter::Accepts(uint64_t match, uint32_t cpu) const {
  for (size_t i = 0; i < filters_.size(); ++i) {
    if ((match >> i & 1) == 0) continue;
    const std::optional<CpuSet>& cpus = filters_[i]->cpus();
    if (!cpus || (cpu < cpus->size() && cpus->test(cpu))) return true;
  }
  return false;
}

}  // namespace firetower::daemon
