// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/options.h"

#include <fmt/core.h>

#include "base/clock.h"
#include "daemon/config/values.h"

namespace firetower::daemon {
namespace {

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
           std::string_view help, ValueType type) {
  return {name,
          group,
          placeholder,
          help,
          std::move(type.allowed),
          std::move(type.set),
          std::move(type.get),
          /*is_list=*/false,
          /*default_text=*/{},
          /*may_hold_secret=*/false};
}

void AddServing(std::vector<Option>& rows) {
  rows.push_back(Row("standalone", kServing, "",
                     "Profile this machine without Kubernetes, and serve the query API from the "
                     "same process.",
                     SwitchValue(&Config::standalone)));
  rows.push_back(Row("kubeconfig", kServing, "FILE",
                     "How the API server is reached whose pods give samples their names, also with "
                     "--standalone. Without one, and without --standalone, as a pod does: by its "
                     "service account.",
                     PathValue(&Config::kubeconfig_path, "a kubeconfig file; empty for none")));
  rows.push_back(
      Row("listen", kServing, "ADDRESS", "Where the HTTP server listens.", ListenValue()));
  rows.push_back(Row("allowed-hosts", kServing, "NAMES",
                     "By which names the HTTP server may be asked besides IP addresses, localhost "
                     "and the host name, for instance through a proxy that passes on the browser's "
                     "Host. On a loopback address it answers no others, so that no page of another "
                     "site reads it by DNS rebinding; on any other address names count only once "
                     "some are given.",
                     HostNamesValue()));
  rows.back().is_list = true;
  rows.push_back(Row("config", kServing, "FILE",
                     "Configuration file (YAML): the options of this page by their names. A flag "
                     "wins over the file, the file over the default.",
                     PathValue(&Config::config_path, "a YAML file; empty for none")));
  rows.push_back(Row("policy", kServing, "FILE|DIR",
                     "ProfilingPolicy file, or folder of such files; read again on change. "
                     "Without one a daemon by itself profiles everything at the default rate; the "
                     "agent of a cluster profiles nothing until it has one, of the API server's.",
                     PathValue(&Config::policy_path, "a file or a folder; empty for none")));
}

void AddSampling(std::vector<Option>& rows) {
  rows.push_back(Row("window-seconds", kSampling, "SECONDS",
                     "Length of a profile; windows align to wall-clock multiples of it.",
                     IntegerValue(&Config::window_seconds, 1, 3600)));
  rows.push_back(Row("slice-milliseconds", kSampling, "MILLISECONDS",
                     "How often metrics and the open window take up new samples; divides the "
                     "window.",
                     IntegerValue(&Config::slice_milliseconds, 500, 60000)));
  rows.push_back(Row("default-frequency-hertz", kSampling, "HERTZ",
                     "Samples a second on each CPU where no policy says otherwise. 97 does not "
                     "fall into step with timers that run at round rates.",
                     IntegerValue(&Config::default_frequency_hertz, 1, 999)));
  rows.push_back(Row("max-frequency-hertz", kSampling, "HERTZ",
                     "The highest rate a policy gets, whatever it asks.",
                     IntegerValue(&Config::max_frequency_hertz, 1, 999)));
  rows.push_back(
      Row("ignore-opt-out", kSampling, "",
          "Show and store also pods with the label firetower.dev/profile: \"false\", which "
          "are left out otherwise.",
          SwitchValue(&Config::ignore_opt_out)));
  rows.push_back(Row("sample-labels", kSampling, "LIST",
                     "Labels that samples carry in a profile; each makes profiles larger.",
                     SampleLabelsValue()));
  rows.back().is_list = true;
  rows.push_back(
      Row("sample-ring-bytes", kSampling, "BYTES",
          "Ring buffer between the kernel programs and the daemon, one for the machine.",
          BytesValue(&Config::sample_ring_bytes, 64 * kKi, 64 * kMi, ByteShape::kPowerOfTwo)));
  rows.back().default_text = "128Ki for each CPU, at least 512Ki";
  rows.push_back(
      Row("sideband-ring-bytes", kSampling, "BYTES",
          "Ring for process and mapping records, one a CPU. 512Ki fits the memory that "
          "the kernel lets perf users lock; a refused size is halved.",
          BytesValue(&Config::sideband_ring_bytes, 16 * kKi, 16 * kMi, ByteShape::kPowerOfTwo)));
  rows.push_back(
      Row("unwind-table-bytes", kSampling, "BYTES",
          "Budget for unwind tables in BPF memory; the least recently used leave first.",
          BytesValue(&Config::unwind_table_bytes, kMi, kGi - 16 * kMi, ByteShape::kAny)));
}

void AddSymbols(std::vector<Option>& rows) {
  rows.push_back(Row("symbols", kSymbols, "WHAT",
                     "What is said of a frame: its function (names); also file, line and the calls "
                     "inlined there, where there is debug information (full); or only build id and "
                     "offset, which `firetower get --symbols` names later (remote).",
                     SymbolsValue()));
  rows.push_back(Row("debuginfod-urls", kSymbols, "URLS",
                     "debuginfod servers to ask for debug files that are not on this machine.",
                     DebuginfodValue()));
  rows.back().is_list = true;
  rows.push_back(Row("debuginfod-cache", kSymbols, "DIR", "Where fetched debug files are kept.",
                     AbsolutePathValue(&Config::debuginfod_cache)));
  rows.push_back(
      Row("debuginfod-cache-bytes", kSymbols, "BYTES",
          "Size that folder is held to; the longest unused files leave first.",
          BytesValue(&Config::debuginfod_cache_bytes, 16 * kMi, 1024 * kGi, ByteShape::kAny)));
  rows.push_back(Row("symbol-cache-bytes", kSymbols, "BYTES",
                     "Budget for symbol tables, and as much again for lines with --symbols=full; "
                     "the least recently used leave first.",
                     BytesValue(&Config::symbol_cache_bytes, kMi, 4 * kGi, ByteShape::kAny)));
}

void AddStorage(std::vector<Option>& rows) {
  rows.push_back(
      Row("store", kStorage, "URL",
          "Where profiles are kept; of s3://BUCKET docs/reference/object-store.md has the "
          "options.",
          StoreValue()));
  rows.back().may_hold_secret = true;
  rows.push_back(Row("spool", kStorage, "DIR",
                     "Where profiles wait for a store that is not a folder of this machine, also "
                     "over a restart.",
                     AbsolutePathValue(&Config::spool_folder)));
  rows.push_back(Row("spool-bytes", kStorage, "BYTES",
                     "Size the spool is held to; beyond it the oldest profiles are dropped, and "
                     "counted.",
                     BytesValue(&Config::spool_bytes, 16 * kMi, 1024 * kGi, ByteShape::kAny)));
  rows.push_back(Row("retention-age", kStorage, "DURATION",
                     "Profiles older than this are deleted; of a store that is a folder.",
                     DurationValue(&Config::retention_age_ns, 60 * kNsPerSecond, 3650 * kDayNs)));
  rows.push_back(
      Row("retention-bytes", kStorage, "BYTES",
          "Size the store is held to, if it is a folder; the oldest profiles are deleted "
          "first.",
          BytesValue(&Config::retention_bytes, 16 * kMi, kGi * kMi, ByteShape::kAny)));
  rows.push_back(Row(
      "node-name", kStorage, "NAME",
      "Name of this machine in keys and labels; in a cluster that of its Node.",
      NameValue(&Config::node_name, "letters, digits, '.', '_' and '-', at most 253 characters")));
  rows.back().default_text = "$NODE_NAME, else the host name";
  rows.push_back(Row(
      "cluster", kStorage, "NAME", "Name of the cluster in keys.",
      NameValue(&Config::cluster, "letters, digits, '.', '_' and '-', at most 253 characters")));
}

void AddPush(std::vector<Option>& rows) {
  rows.push_back(Row("push", kPush, "URLS",
                     "Servers that windows are sent to as well when they end: of Pyroscope, or "
                     "receivers of OTLP profiles. docs/reference/push.md has the options of a URL, "
                     "among them files with credentials.",
                     PushValue()));
  rows.back().is_list = true;
  // Someone may put a password there, which is refused.
  rows.back().may_hold_secret = true;
  rows.push_back(
      Row("push-queue-bytes", kPush, "BYTES",
          "What waits in memory for each of these servers at most; beyond it the oldest windows "
          "are not sent, and counted.",
          BytesValue(&Config::push_queue_bytes, kMi, kGi, ByteShape::kAny)));
}

void AddMetrics(std::vector<Option>& rows) {
  rows.push_back(Row("metrics-top-functions", kMetrics, "COUNT",
                     "Functions a container shows on /metrics, besides function=\"other\"; 0 shows "
                     "none.",
                     IntegerValue(&Config::metrics_top_functions, 0, 20)));
  rows.push_back(Row("metrics-max-series", kMetrics, "COUNT",
                     "Most function series of the node. Above it each container keeps its first "
                     "function only, then containers lose theirs; "
                     "firetower_metric_series_dropped_total counts what went.",
                     IntegerValue(&Config::metrics_max_series, 0, 100000)));
}

void AddHost(std::vector<Option>& rows) {
  rows.push_back(Row("cgroup-hierarchy", kHost, "HIERARCHY",
                     "The cgroup hierarchy whose ids attribute samples to containers.",
                     CgroupHierarchyValue()));
  rows.push_back(Row("proc-root", kHost, "DIR", "Where the host's proc is mounted.",
                     AbsolutePathValue(&Config::proc_root)));
  rows.push_back(Row("sys-root", kHost, "DIR", "Where the host's sysfs is mounted.",
                     AbsolutePathValue(&Config::sys_root)));
  rows.push_back(Row("cgroup-root", kHost, "DIR", "Where the host's cgroup tree is mounted.",
                     AbsolutePathValue(&Config::cgroup_root)));
  rows.push_back(
      Row("memory-limit-bytes", kHost, "BYTES",
          "Memory that the daemon may have, as the limit of its container: above nine tenths of "
          "it the policies' rates are lowered.",
          BytesValue(&Config::memory_limit_bytes, kMi, kGi * kMi, ByteShape::kAny)));
  rows.back().default_text = "no limit";
}

void AddLogging(std::vector<Option>& rows) {
  rows.push_back(Row("log-level", kLogging, "LEVEL", "The least severe messages that are written.",
                     LogLevelValue()));
  rows.push_back(Row("log-format", kLogging, "FORMAT", "How a message is written, one line each.",
                     LogFormatValue()));
}

}  // namespace

std::vector<Option> ConfigOptions() {
  std::vector<Option> rows;
  AddServing(rows);
  AddSampling(rows);
  AddSymbols(rows);
  AddStorage(rows);
  AddPush(rows);
  AddMetrics(rows);
  AddHost(rows);
  AddLogging(rows);
  return rows;
}

Status SetOption(const Option& option, Config& config, std::string_view text,
                 const std::string& where) {
  Status status = option.set(config, text);
  if (status) return status;
  const std::string what = option.may_hold_secret ? "the value" : fmt::format("'{}'", text);
  return Error(ErrorCode::kInvalid, fmt::format("{}: {} is refused: {}; allowed: {}", where, what,
                                                status.error().message(), option.allowed));
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
  return OkStatus();
}

}  // namespace firetower::daemon
