// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/options.h"

#include <fmt/core.h>

#include "base/clock.h"
#include "daemon/config/values.h"
#include "service/options/tls.h"
#include "service/options/values.h"

namespace firetower::daemon {
namespace {

using service::AbsolutePathValue;
using service::ByteShape;
using service::BytesValue;
using service::DurationValue;
using service::IntegerValue;
using service::LogFormatValue;
using service::LogLevelValue;
using service::NameValue;
using service::Option;
using service::SignatureFileValue;
using service::SwitchValue;
using service::TextValue;

constexpr int64_t kKi = 1024;
constexpr int64_t kMi = 1024 * kKi;
constexpr int64_t kGi = 1024 * kMi;
constexpr int64_t kDayNs = 24 * 3600 * kNsPerSecond;

constexpr std::string_view kServing = "Serving";
constexpr std::string_view kSampling = "Sampling";
constexpr std::string_view kSymbols = "Symbols";
constexpr std::string_view kStorage = "Storage";
constexpr std::string_view kPush = "Push";
constexpr std::string_view kMetrics = "Metrics";
constexpr std::string_view kHost = "Host";
constexpr std::string_view kLogging = "Logging";

Option Row(std::string_view name, std::string_view group, std::string_view placeholder,
           std::string_view help, service::ValueType value) {
  return {name, group, placeholder, help, std::move(value)};
}

void AddServing(Config& config, std::vector<Option>& rows) {
  rows.push_back(Row("standalone", kServing, "",
                     "Profile this machine without Kubernetes, and serve the query API from the "
                     "same process.",
                     SwitchValue(config.standalone)));
  rows.push_back(Row("kubeconfig", kServing, "FILE",
                     "How to reach the API server that names the pods of samples; may be combined "
                     "with --standalone. Without this file and without --standalone, the daemon "
                     "uses its pod's service account.",
                     TextValue(config.kubeconfig_path, "a kubeconfig file; empty for none")));
  rows.push_back(Row("listen", kServing, "ADDRESS", "The address of the HTTP server.",
                     ListenValue(config.listen)));
  rows.push_back(
      Row("allowed-hosts", kServing, "NAMES",
          "More host names that requests may use, besides IP addresses, localhost and the host "
          "name; needed for example behind a proxy that forwards the browser's Host. On a loopback "
          "address other names are refused, so that no page of another site can read profiles by "
          "DNS rebinding; on other addresses names are checked only if this option is set.",
          HostNamesValue(config.allowed_hosts)));
  rows.back().is_list = true;
  service::AddTlsOptions(kServing, config.tls_cert_file, config.tls_private_key_file, rows);
  rows.push_back(Row("config", kServing, "FILE",
                     "Configuration file (YAML) with the options of this page by their names. A "
                     "flag overrides the file, the file overrides the default.",
                     TextValue(config.config_path, "a YAML file; empty for none")));
  rows.push_back(Row("signatures", kServing, "FILE",
                     "Further signatures for diagnoses (JSON), read again for each one; see "
                     "docs/diagnosis.md.",
                     SignatureFileValue(config.signature_file)));
  rows.push_back(Row("trace-url", kServing, "URL",
                     "Where the pages lead for a trace, as https://traces.example/{trace_id}.",
                     service::TraceUrlValue(config.trace_url)));
  rows.push_back(Row("policy", kServing, "FILE|DIR",
                     "ProfilingPolicy file, or folder of such files; read again on change. Without "
                     "it, a standalone daemon profiles everything at the default rate; an agent in "
                     "a cluster profiles nothing until the API server has a policy.",
                     TextValue(config.policy_path, "a file or a folder; empty for none")));
}

void AddSampling(Config& config, std::vector<Option>& rows) {
  rows.push_back(Row("window-seconds", kSampling, "SECONDS",
                     "Length of a profile. Windows start at multiples of it on the wall clock.",
                     IntegerValue(config.window_seconds, 1, 3600)));
  rows.push_back(Row("slice-milliseconds", kSampling, "MILLISECONDS",
                     "How often new samples are added to the metrics and to the open window. It "
                     "must divide the window.",
                     IntegerValue(config.slice_milliseconds, 500, 60000)));
  rows.push_back(Row("default-frequency-hertz", kSampling, "HERTZ",
                     "Samples per second on each CPU, unless a policy sets another rate. 97 does "
                     "not synchronize with timers that run at round rates.",
                     IntegerValue(config.default_frequency_hertz, 1, 999)));
  rows.push_back(Row("max-frequency-hertz", kSampling, "HERTZ",
                     "The highest rate that a policy can get.",
                     IntegerValue(config.max_frequency_hertz, 1, 999)));
  rows.push_back(Row("ignore-opt-out", kSampling, "",
                     "Also profile pods with the label firetower.dev/profile: \"false\", which are "
                     "omitted otherwise.",
                     SwitchValue(config.ignore_opt_out)));
  rows.push_back(Row("sample-labels", kSampling, "LIST",
                     "Labels of the samples in a profile. Each label makes profiles larger.",
                     SampleLabelsValue(config.sample_labels)));
  rows.back().is_list = true;
  rows.push_back(Row("sample-times", kSampling, "",
                     "Store when each sample was taken, to 20 ms, beside each profile: for heat "
                     "maps and for parts of a window. It takes about a byte and a half for a "
                     "sample.",
                     SwitchValue(config.sample_times)));
  rows.push_back(
      Row("sample-ring-bytes", kSampling, "BYTES",
          "Size of the ring buffer between the kernel programs and the daemon; there is one for "
          "the machine.",
          BytesValue(config.sample_ring_bytes, 64 * kKi, 64 * kMi, ByteShape::kPowerOfTwo)));
  rows.back().default_text = "128Ki for each CPU, at least 1Mi";
  rows.push_back(
      Row("sideband-ring-bytes", kSampling, "BYTES",
          "Size of the ring for process and mapping records; there is one for each CPU. 512Ki fits "
          "into the memory that the kernel allows perf users to lock; if the kernel refuses a "
          "size, it is halved.",
          BytesValue(config.sideband_ring_bytes, 16 * kKi, 16 * kMi, ByteShape::kPowerOfTwo)));
  rows.push_back(
      Row("unwind-table-bytes", kSampling, "BYTES",
          "Memory limit of unwind tables in BPF; the least recently used tables are evicted first.",
          BytesValue(config.unwind_table_bytes, kMi, kGi - 16 * kMi, ByteShape::kAny)));
}

void AddSymbols(Config& config, std::vector<Option>& rows) {
  rows.push_back(Row("symbols", kSymbols, "WHAT",
                     "What is stored for a frame. names: its function. full: also file, line and "
                     "inlined calls, if there is debug information. remote: only build id and "
                     "offset, which `firetower get --symbols` names later.",
                     SymbolsValue(config.symbols)));
  rows.push_back(
      Row("debuginfod-urls", kSymbols, "URLS",
          "debuginfod servers from which debug files that are not on this machine are fetched.",
          DebuginfodValue(config.debuginfod_urls)));
  rows.back().is_list = true;
  rows.push_back(Row("debuginfod-cache", kSymbols, "DIR", "The folder for fetched debug files.",
                     AbsolutePathValue(config.debuginfod_cache)));
  rows.push_back(
      Row("debuginfod-cache-bytes", kSymbols, "BYTES",
          "Size limit of that folder; the least recently used files are deleted first.",
          BytesValue(config.debuginfod_cache_bytes, 16 * kMi, 1024 * kGi, ByteShape::kAny)));
  rows.push_back(Row("symbol-cache-bytes", kSymbols, "BYTES",
                     "Memory limit of symbol tables, and again as much for lines with "
                     "--symbols=full; the least recently used ones are evicted first.",
                     BytesValue(config.symbol_cache_bytes, kMi, 4 * kGi, ByteShape::kAny)));
}

void AddStorage(Config& config, std::vector<Option>& rows) {
  rows.push_back(Row(
      "store", kStorage, "URL",
      "The store of the profiles. docs/reference/object-store.md lists the options of s3://BUCKET.",
      StoreValue(config.store_url)));
  rows.back().may_hold_secret = true;
  rows.push_back(Row("spool", kStorage, "DIR",
                     "The folder in which profiles wait for upload, if the store is not a folder "
                     "of this machine. It survives restarts.",
                     AbsolutePathValue(config.spool_folder)));
  rows.push_back(
      Row("spool-bytes", kStorage, "BYTES",
          "Size limit of the spool; beyond it the oldest profiles are dropped and counted.",
          BytesValue(config.spool_bytes, 16 * kMi, 1024 * kGi, ByteShape::kAny)));
  rows.push_back(Row("retention-age", kStorage, "DURATION",
                     "Profiles older than this are deleted, if the store is a folder.",
                     DurationValue(config.retention_age_ns, 60 * kNsPerSecond, 3650 * kDayNs)));
  rows.push_back(
      Row("retention-bytes", kStorage, "BYTES",
          "Size limit of the store, if it is a folder; the oldest profiles are deleted first.",
          BytesValue(config.retention_bytes, 16 * kMi, kGi * kMi, ByteShape::kAny)));
  rows.push_back(Row("node-name", kStorage, "NAME",
                     "Name of this machine in keys and labels; in a cluster the name of its Node.",
                     NameValue(config.node_name)));
  rows.back().default_text = "$NODE_NAME, else the host name";
  rows.push_back(
      Row("cluster", kStorage, "NAME", "Name of the cluster in keys.", NameValue(config.cluster)));
}

void AddPush(Config& config, std::vector<Option>& rows) {
  rows.push_back(
      Row("push", kPush, "URLS",
          "Pyroscope servers or receivers of OTLP profiles to which each window is also sent. "
          "docs/reference/push.md lists the options of a URL, for example files with credentials.",
          PushValue(config.push_urls)));
  rows.back().is_list = true;
  // Someone may put a password there, which is refused.
  rows.back().may_hold_secret = true;
  rows.push_back(Row("push-queue-bytes", kPush, "BYTES",
                     "Memory limit of the windows that wait for each of these servers; beyond it "
                     "the oldest windows are dropped and counted.",
                     BytesValue(config.push_queue_bytes, kMi, kGi, ByteShape::kAny)));
}

void AddMetrics(Config& config, std::vector<Option>& rows) {
  rows.push_back(Row(
      "metrics-top-functions", kMetrics, "COUNT",
      "The number of functions of each container on /metrics, besides function=\"other\"; 0: none.",
      IntegerValue(config.metrics_top_functions, 0, 20)));
  rows.push_back(Row("metrics-max-series", kMetrics, "COUNT",
                     "The maximum number of function series of the node. Above it each container "
                     "keeps only its first function, and then some containers lose that too; "
                     "firetower_metric_series_dropped_total counts them.",
                     IntegerValue(config.metrics_max_series, 0, 100000)));
  rows.push_back(Row("metrics-authorize", kMetrics, "",
                     "Answer /metrics only to bearer tokens of the cluster whose user may get the "
                     "path /metrics (nonResourceURLs in RBAC); needs a cluster.",
                     SwitchValue(config.metrics_authorize)));
}

void AddHost(Config& config, std::vector<Option>& rows) {
  rows.push_back(Row("cgroup-hierarchy", kHost, "HIERARCHY",
                     "The cgroup hierarchy whose ids attribute samples to containers.",
                     CgroupHierarchyValue(config.cgroup_hierarchy)));
  rows.push_back(Row("proc-root", kHost, "DIR", "Where the host's proc is mounted.",
                     AbsolutePathValue(config.proc_root)));
  rows.push_back(Row("sys-root", kHost, "DIR", "Where the host's sysfs is mounted.",
                     AbsolutePathValue(config.sys_root)));
  rows.push_back(Row("cgroup-root", kHost, "DIR", "Where the host's cgroup tree is mounted.",
                     AbsolutePathValue(config.cgroup_root)));
  rows.push_back(Row("memory-limit-bytes", kHost, "BYTES",
                     "The memory limit of the daemon's container. If the daemon uses more than "
                     "nine tenths of it, the rates of policies are lowered.",
                     BytesValue(config.memory_limit_bytes, kMi, kGi * kMi, ByteShape::kAny)));
  rows.back().default_text = "no limit";
}

void AddLogging(Config& config, std::vector<Option>& rows) {
  rows.push_back(Row("log-level", kLogging, "LEVEL", "The lowest severity that is logged.",
                     LogLevelValue(config.log_level)));
  rows.push_back(Row("log-format", kLogging, "FORMAT", "The format of log lines.",
                     LogFormatValue(config.log_format)));
}

}  // namespace

std::vector<service::Option> ConfigOptions(Config& config) {
  std::vector<Option> rows;
  AddServing(config, rows);
  AddSampling(config, rows);
  AddSymbols(config, rows);
  AddStorage(config, rows);
  AddPush(config, rows);
  AddMetrics(config, rows);
  AddHost(config, rows);
  AddLogging(config, rows);
  return rows;
}

Status CheckConfig(const Config& config) {
  int64_t window_ms = int64_t{config.window_seconds} * 1000;
  if (window_ms % config.slice_milliseconds != 0) {
    return Error(
        ErrorCode::kInvalid,
        fmt::format("slice-milliseconds: {} does not divide the window of {} s, so windows "
                    "could not end on a slice; choose one that does, or another "
                    "window-seconds",
                    config.slice_milliseconds, config.window_seconds));
  }
  if (config.default_frequency_hertz > config.max_frequency_hertz) {
    return Error(ErrorCode::kInvalid,
                 fmt::format("default-frequency-hertz: {} is above the ceiling of {}; lower it, or "
                             "raise max-frequency-hertz",
                             config.default_frequency_hertz, config.max_frequency_hertz));
  }
  RETURN_IF_ERROR(service::CheckTlsOptions(config.tls_cert_file, config.tls_private_key_file));
  if (config.metrics_authorize && config.standalone) {
    return Error(ErrorCode::kInvalid,
                 "metrics-authorize: rights are asked of a cluster, and standalone says that there "
                 "is none; leave one of them out");
  }
  return OkStatus();
}

}  // namespace firetower::daemon
