// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/log.h"

namespace firetower::daemon {

// Address of the HTTP server. An empty host is every address; port 0 is any free one.
struct ListenAddress {
  std::string host = "127.0.0.1";
  uint16_t port = 7070;
};

// Which labels a sample carries into a profile.
struct SampleLabels {
  bool thread = true;
  bool comm = true;
  bool cpu = false;
  bool trace = true;
};

// Which cgroup hierarchy attributes samples.
enum class CgroupChoice { kAuto, kV2, kV1 };
struct CgroupHierarchy {
  CgroupChoice choice = CgroupChoice::kAuto;
  std::string controller;  // kV1 only: "cpu", "memory", "name=systemd", …
};

// Detail of a frame: its function; also its line and the calls inlined there; or, for files with a
// build id, only its place, so that the reader's machine names it.
enum class SymbolMode { kNames, kFull, kRemote };

// Settings of firetowerd: the defaults here, overridden by the configuration file, overridden by
// flags. Built by ParseCommandLine (which has checked every bound), immutable afterwards. Each
// field is one row of the table in options.cc.
struct Config {
  bool standalone = false;
  std::string kubeconfig_path;  // Empty: as a pod, or none with --standalone.
  ListenAddress listen;
  std::vector<std::string> allowed_hosts;  // Empty: its own names, where loopback is the guard.
  std::string tls_cert_file;               // Empty, as the key: plain HTTP.
  std::string tls_private_key_file;
  std::string store_url = "file:///var/lib/firetower";
  std::string signature_file;  // A file of signatures for diagnoses; empty: none.
  std::string trace_url;       // A template for pages of traces; empty: none.
  std::string policy_path;     // A file or a folder; empty: profile everything.
  std::string config_path;     // Empty: no configuration file.

  int window_seconds = 60;
  int slice_milliseconds = 5000;  // Divides the window.
  int default_frequency_hertz = 97;
  int max_frequency_hertz = 999;
  bool ignore_opt_out = false;
  SampleLabels sample_labels;
  bool sample_times = true;

  CgroupHierarchy cgroup_hierarchy;
  std::string proc_root = "/proc";
  std::string sys_root = "/sys";
  std::string cgroup_root = "/sys/fs/cgroup";

  std::string node_name;  // ParseCommandLine fills in NODE_NAME, else the host name.
  std::string cluster = "standalone";

  std::string spool_folder = "/var/lib/firetower/spool";  // for a store that is not a folder
  int64_t spool_bytes = int64_t{512} << 20;

  int64_t retention_age_ns = 14 * 86400 * int64_t{1'000'000'000};
  int64_t retention_bytes = int64_t{2} << 30;

  std::vector<std::string> push_urls;            // Empty: nothing is pushed.
  int64_t push_queue_bytes = int64_t{16} << 20;  // For each of them.

  SymbolMode symbols = SymbolMode::kNames;
  std::vector<std::string> debuginfod_urls;  // Empty: nothing is asked for.
  std::string debuginfod_cache = "/var/cache/firetower/debuginfod";
  int64_t debuginfod_cache_bytes = int64_t{1} << 30;
  int64_t symbol_cache_bytes = int64_t{32} << 20;
  int64_t unwind_table_bytes = int64_t{64} << 20;
  int64_t sample_ring_bytes = 0;                     // One ring for the machine; 0: by its CPUs.
  int64_t sideband_ring_bytes = int64_t{512} << 10;  // One ring a CPU.

  int64_t memory_limit_bytes = 0;  // Rates fall before it is reached; 0: none.

  int metrics_top_functions = 5;
  int metrics_max_series = 300;
  bool metrics_authorize = false;  // Only in a cluster.

  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kText;
};

}  // namespace firetower::daemon
