// SPDX-License-Identifier: Apache-2.0
#include "query/mcp/proposal.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

namespace firetower::query {
namespace {

using Fields = std::map<std::string, std::string>;

struct Choice {
  std::string_view asked;
  std::string_view written;
};
constexpr Choice kKinds[] = {{"deployment", "Deployment"},   {"deploy", "Deployment"},
                             {"statefulset", "StatefulSet"}, {"sts", "StatefulSet"},
                             {"daemonset", "DaemonSet"},     {"ds", "DaemonSet"},
                             {"replicaset", "ReplicaSet"},   {"job", "Job"},
                             {"cronjob", "CronJob"},         {"pod", "Pod"}};
constexpr Choice kTypes[] = {
    {"cpu", "CPU"}, {"offcpu", "OffCPU"}, {"lock", "Lock"}, {"memory", "Memory"}};
// Metrics of containers: all but the last are a share of something.
constexpr Choice kMetrics[] = {{"ContainerCPU", "ContainerCPU"},
                               {"ContainerCPUThrottled", "ContainerCPUThrottled"},
                               {"ContainerMemory", "ContainerMemory"},
                               {"ContainerCPUPressure", "ContainerCPUPressure"},
                               {"ContainerMemoryPressure", "ContainerMemoryPressure"},
                               {"ContainerIOPressure", "ContainerIOPressure"},
                               {"OOMKill", "OOMKill"}};

Error Refused(std::string_view field, std::string_view value, std::string_view allowed) {
  return {ErrorCode::kInvalid, fmt::format("{} is '{}': it must be {}", field, value, allowed)};
}

std::string Get(const Fields& fields, const std::string& name) {
  const auto at = fields.find(name);
  return at == fields.end() ? "" : at->second;
}

template <size_t kCount>
Result<std::string_view> ChosenOf(std::string_view field, std::string_view value,
                                  const Choice (&choices)[kCount]) {
  const auto* found = std::ranges::find(choices, value, &Choice::asked);
  if (found != std::end(choices)) return found->written;
  std::string allowed;
  for (const Choice& choice : choices)
    allowed += (allowed.empty() ? "" : ", ") + std::string(choice.asked);
  return Refused(field, value, "one of " + allowed);
}

std::vector<std::string> Split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    parts.emplace_back(one);
  }
  return parts;
}

bool IsLower(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// A name of RFC 1123; with dots where it is one of an object.
Status CheckName(std::string_view field, std::string_view name, size_t most, bool dots) {
  const bool fits = !name.empty() && name.size() <= most && IsLower(name.front()) &&
                    IsLower(name.back()) && std::ranges::all_of(name, [&](char c) {
                      return IsLower(c) || c == '-' || (dots && c == '.');
                    });
  if (fits) return OkStatus();
  return Refused(
      field, name,
      fmt::format("lower-case letters, digits and '-'{}, at most {}", dots ? " or '.'" : "", most));
}

Result<int> NumberOf(const Fields& fields, const std::string& field, int otherwise, int least,
                     int most) {
  const std::string text = Get(fields, field);
  if (text.empty()) return otherwise;
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most)
    return Refused(field, text, fmt::format("a number from {} to {}", least, most));
  return number;
}

// Tells whether a text has letters, digits and those characters alone, so that quotes around it are
// all that YAML needs.
bool IsPlain(std::string_view text, std::string_view more) {
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return IsLower(c) || (c >= 'A' && c <= 'Z') || more.find(c) != std::string_view::npos;
  });
}

Result<std::string> Targets(const Fields& fields) {
  const std::string workload = Get(fields, "workload"), labels = Get(fields, "labels");
  std::string out = "  targets:\n";
  if (!workload.empty()) {
    const size_t slash = workload.find('/');
    if (slash == std::string::npos)
      return Refused("workload", workload, "KIND/NAME, as deployment/checkout");
    ASSIGN_OR_RETURN(const std::string_view kind,
                     ChosenOf("workload's kind", workload.substr(0, slash), kKinds));
    const std::string name = workload.substr(slash + 1);
    RETURN_IF_ERROR(CheckName("workload's name", name, 253, true));
    out += fmt::format("    workloadRefs:\n      - kind: {}\n        name: \"{}\"\n", kind, name);
  }
  if (!labels.empty()) {
    out += "    podSelector:\n      matchLabels:\n";
    std::vector<std::string> keys;
    for (const std::string& label : Split(labels)) {
      const size_t equals = label.find('=');
      const std::string key = label.substr(0, equals);
      const std::string value = equals == std::string::npos ? "" : label.substr(equals + 1);
      if (!IsPlain(key, "-_./") || key.size() > 253 || !IsPlain(value, "-_.") || value.size() > 63)
        return Refused("labels", labels, "KEY=VALUE, several separated by commas");
      if (std::ranges::find(keys, key) != keys.end())
        return Refused("labels", labels, "each key once");
      keys.push_back(key);
      out += fmt::format("        \"{}\": \"{}\"\n", key, value);
    }
  }
  if (workload.empty() && labels.empty()) out += "    podSelector: {matchLabels: {}}\n";
  return out;
}

Result<std::string> Profiles(const Fields& fields) {
  const std::string types = Get(fields, "types");
  ASSIGN_OR_RETURN(const int hertz, NumberOf(fields, "frequency", 0, 1, 999));
  if (types.empty() && hertz == 0) return std::string();
  std::string out = "  profiles:\n";
  std::vector<std::string_view> written;
  for (const std::string& asked : Split(types.empty() ? "cpu" : types)) {
    ASSIGN_OR_RETURN(const std::string_view type, ChosenOf("types", asked, kTypes));
    if (std::ranges::find(written, type) != written.end())
      return Refused("types", types, "each type once");
    written.push_back(type);
    out += fmt::format("    - type: {}\n", type);
    if (type == "CPU" && hertz != 0) out += fmt::format("      frequencyHertz: {}\n", hertz);
  }
  return out;
}

Result<std::string> Trigger(const Fields& fields) {
  ASSIGN_OR_RETURN(const std::string_view metric,
                   ChosenOf("metric", Get(fields, "metric"), kMetrics));
  std::string out =
      fmt::format("  trigger:\n    rules:\n      - name: rule\n        metric: {}\n", metric);
  if (metric != "OOMKill") {
    ASSIGN_OR_RETURN(const int above, NumberOf(fields, "above", 0, 1, 10000));
    if (above == 0)
      return Error(ErrorCode::kInvalid, "above is missing: from how many per cent on it fires");
    ASSIGN_OR_RETURN(const int seconds, NumberOf(fields, "for_seconds", 10, 0, 3600));
    out += fmt::format(
        "        operator: GreaterThan\n"
        "        target: {{type: Utilization, utilizationPercent: {}}}\n"
        "        forSeconds: {}\n",
        above, seconds);
  }
  return out + "    capture: {preTriggerSeconds: 30, durationSeconds: 60}\n";
}

// Refuses fields that would have no effect: whoever gave them means something else.
Status CheckUse(const Fields& fields) {
  const bool is_trigger = Get(fields, "when") == "trigger";
  for (const char* field : {"metric", "above", "for_seconds"}) {
    if (!is_trigger && !Get(fields, field).empty())
      return Error(ErrorCode::kInvalid,
                   fmt::format("{} belongs to a trigger: give when as trigger", field));
  }
  const std::vector<std::string> types = Split(Get(fields, "types"));
  if (!Get(fields, "frequency").empty() && !types.empty() &&
      std::ranges::find(types, "cpu") == types.end())
    return Error(ErrorCode::kInvalid, "frequency belongs to type cpu, which is not among types");
  return OkStatus();
}

// The part of the specification that says when, of the mode that it sets.
Result<std::string> When(const Fields& fields, std::string* mode) {
  const std::string when = Get(fields, "when"), processes = Get(fields, "processes");
  if (!processes.empty()) {
    if (!when.empty() && when != "continuous")
      return Refused("when", when, "continuous, as a policy for named processes always is");
    *mode = "Filter";
    std::string out = "  filter:\n    processes:\n";
    for (const std::string& name : Split(processes)) {
      if (!IsPlain(name, "-_.:/ ") || name.size() > 15)
        return Refused("processes", processes,
                       "names of at most 15 characters, separated by commas, as java,nginx");
      out += fmt::format("      - comm: \"{}\"\n", name);
    }
    return out;
  }
  if (when == "trigger") {
    *mode = "Trigger";
    return Trigger(fields);
  }
  *mode = "General";
  if (when == "continuous") return std::string("  general: {schedule: Continuous}\n");
  if (!when.empty() && when != "periodic")
    return Refused("when", when, "periodic, continuous or trigger");
  return std::string();
}

}  // namespace

Result<std::string> ProposePolicy(const Fields& fields) {
  const std::string name = Get(fields, "name"), namespace_name = Get(fields, "namespace");
  RETURN_IF_ERROR(CheckName("name", name, 63, false));
  if (!namespace_name.empty()) RETURN_IF_ERROR(CheckName("namespace", namespace_name, 63, false));
  RETURN_IF_ERROR(CheckUse(fields));
  std::string mode;
  ASSIGN_OR_RETURN(const std::string when, When(fields, &mode));
  ASSIGN_OR_RETURN(const std::string targets, Targets(fields));
  ASSIGN_OR_RETURN(const std::string profiles, Profiles(fields));
  std::string out = fmt::format(
      "# A proposal: nothing was applied. Whoever agrees saves it and runs kubectl apply -f.\n"
      "apiVersion: firetower.dev/v1alpha1\n"
      "kind: {}\n"
      "metadata:\n"
      "  name: \"{}\"\n",
      namespace_name.empty() ? "ClusterProfilingPolicy" : "ProfilingPolicy", name);
  if (!namespace_name.empty()) out += fmt::format("  namespace: \"{}\"\n", namespace_name);
  return out + fmt::format("spec:\n  mode: {}\n", mode) + targets + profiles + when;
}

}  // namespace firetower::query
