// SPDX-License-Identifier: Apache-2.0
#include "daemon/control/agent_options.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <random>

namespace firetower::daemon {
namespace {

// Eight characters that tell this run of the daemon from every other one.
std::string NewRunId() {
  std::random_device random;
  std::string id;
  for (int i = 0; i < 8; ++i) id += "0123456789abcdefghijklmnopqrstuvwxyz"[random() % 36];
  return id;
}

// Returns the folder if the store is a folder of this machine, else "".
std::string FolderOf(const std::string& store_url) {
  constexpr std::string_view kFile = "file://";
  return store_url.starts_with(kFile) ? store_url.substr(kFile.size()) : std::string();
}

LabelChoice LabelsOf(const Config& config) {
  const SampleLabels& labels = config.sample_labels;
  return {labels.thread, labels.comm, labels.cpu, labels.trace, config.sample_times};
}

size_t CpuCount() { return static_cast<size_t>(std::max(::sysconf(_SC_NPROCESSORS_CONF), 1L)); }

}  // namespace

std::string WantedHierarchy(const CgroupHierarchy& wanted) {
  switch (wanted.choice) {
    case CgroupChoice::kAuto:
      return "auto";
    case CgroupChoice::kV2:
      return "v2";
    case CgroupChoice::kV1:
      return "v1:" + wanted.controller;
  }
  return "auto";
}

PipelineOptions PipelineOptionsOf(const Config& config) {
  PipelineOptions options;
  options.slice_ns = config.slice_milliseconds * kNsPerMs;
  options.window_ns = config.window_seconds * kNsPerSecond;
  options.labels = LabelsOf(config);
  options.stack_words = StackStore::WordsFor(CpuCount());
  options.unwind.table_bytes = static_cast<uint64_t>(config.unwind_table_bytes);
  options.unwind.traces = config.sample_labels.trace;
  return options;
}

size_t SampleRingBytes(int64_t configured) {
  if (configured > 0) return static_cast<size_t>(configured);
  constexpr uint64_t kEach = 128u << 10, kLeast = 1u << 20, kMost = 16u << 20;
  return std::bit_ceil(std::clamp<uint64_t>(CpuCount() * kEach, kLeast, kMost));
}

std::string StateFolder(const Config& config) {
  const std::string folder = FolderOf(config.store_url);
  return (folder.empty() ? config.spool_folder : folder) + "/state";
}

ExportOptions ExportOptionsOf(const Config& config) {
  ExportOptions options;
  options.window = {config.node_name, config.window_seconds * kNsPerSecond, LabelsOf(config)};
  options.cluster = config.cluster;
  options.run = NewRunId();
  options.ignore_opt_out = config.ignore_opt_out;
  return options;
}

StoreSideOptions StoreSideOptionsOf(const Config& config) {
  StoreSideOptions options;
  options.url = config.store_url;
  // The names are used in keys.
  options.cluster = store::ToKeyComponent(config.cluster);
  options.node = store::ToKeyComponent(config.node_name);
  options.retention.standard_seconds = config.retention_age_ns / kNsPerSecond;
  options.retention.max_bytes = static_cast<uint64_t>(config.retention_bytes);
  options.spool_folder = config.spool_folder;
  options.spool_bytes = static_cast<uint64_t>(config.spool_bytes);
  options.spread_ns = config.window_seconds * kNsPerSecond;
  // In a cluster this would show all profiles of the store without checking the reader's rights.
  options.serve_others = config.standalone;
  // The default folder of an agent's profiles. A standalone daemon does not clean it, because it
  // may share the folder with other programs.
  if (!config.standalone) options.former_folder = FolderOf(Config().store_url);
  return options;
}

PushOptions PushOptionsOf(const Config& config) {
  PushOptions options;
  options.urls = config.push_urls;
  options.cluster = config.cluster;
  options.max_queue_bytes = static_cast<size_t>(config.push_queue_bytes);
  options.window_ns = config.window_seconds * kNsPerSecond;
  return options;
}

HotspotTracker::Options HotspotOptionsOf(const Config& config) {
  HotspotTracker::Options options;
  options.top_functions = static_cast<size_t>(config.metrics_top_functions);
  options.max_series = static_cast<size_t>(config.metrics_max_series);
  return options;
}

int64_t ForgetModulesAfterNs(const Config& config) {
  // The longest capture with what lies before it (k8s/policy/trigger_fields.h), its name awaited.
  constexpr int64_t kCaptureNs = (300 + 600 + 120) * kNsPerSecond;
  return std::max(
      {ModuleRegistry::kForgetAfterNs, kCaptureNs, 2 * config.window_seconds * kNsPerSecond});
}

symbolizer::DebuginfodOptions DebuginfodOptionsOf(const Config& config) {
  symbolizer::DebuginfodOptions options;
  options.urls = config.debuginfod_urls;
  options.cache_folder = config.debuginfod_cache;
  options.max_cache_bytes = static_cast<uint64_t>(config.debuginfod_cache_bytes);
  // A stopping daemon waits for the answer under way.
  options.timeout_ns = 10 * kNsPerSecond;
  return options;
}

}  // namespace firetower::daemon
