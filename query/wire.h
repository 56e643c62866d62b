// SPDX-License-Identifier: Apache-2.0
// The JSON answers of the API, written by the server and read by the CLI. Times are milliseconds
// since the epoch; values are in `unit`. kWireVersion is raised by each change that breaks readers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "query/sources.h"

namespace firetower::query {

inline constexpr int kWireVersion = 1;

struct TopContainer {
  std::string namespace_name;
  std::string pod;
  std::string container;
  double share_percent = 0;  // of TopReply::total
  double cores = 0;          // cpu only: value per observed second
  int64_t samples = 0;
  int64_t value = 0;
  std::string hottest_function;  // by self time; "" without samples
  std::string hottest_module;
  double hottest_percent = 0;  // of this container
};

// A function, or one of its source lines.
struct TopFunction {
  std::string function;
  std::string module;
  std::string file = {};  // by lines; "", and line 0, where it is not known
  int64_t line = 0;
  int64_t self = 0;
  double self_percent = 0;
  int64_t total = 0;
  double total_percent = 0;
  // "namespace/pod/container", sorted by the function's total, falling.
  std::vector<std::string> containers;
  int64_t more_containers = 0;  // at most so many beside them, with less of it
  // How much more self is than at the first window of its containers; only of a value of a moment.
  std::optional<int64_t> growth = {};
};

// The processes of one name in one container, or what it did for one trace.
struct TopProcess {
  std::string namespace_name;
  std::string pod;
  std::string container;
  std::string process;       // by traces: the trace's id; "" where profiles do not name them:
                             // --sample-labels without comm
  double share_percent = 0;  // of TopReply::total
  double cores = 0;          // cpu only: value per observed second
  int64_t samples = 0;
  int64_t value = 0;
  // The functions of the stack with the highest value, outermost first, to the one that is hot.
  std::vector<std::string> hottest_stack;
  double hottest_percent = 0;  // of this process
};

struct TopReply {
  std::string by;    // "containers", "functions", "lines", "processes" or "traces"
  std::string type;  // "cpu"
  std::string unit;  // "nanoseconds"
  int64_t from_ms = 0;
  int64_t to_ms = 0;
  double observed_seconds = 0;  // of the range, covered by some profile
  int64_t total = 0;            // over all rows, those cut off too
  int64_t total_rows = 0;       // before the cut to k
  int64_t skipped = 0;          // profiles that could not be read
  // By functions and lines: the self of those that were dropped, since there were too many to hold.
  // By functions, lines, processes and traces: the most that one of these has in all.
  int64_t other_self = 0;
  int64_t max_hidden = 0;
  std::vector<TopContainer> containers;
  std::vector<TopFunction> functions;
  std::vector<TopProcess> processes;
};

struct SeriesReply {
  struct Series {
    std::map<std::string, std::string> labels;
    double total = 0;
    std::vector<std::pair<int64_t, double>> points;  // (ms, value); none without a step
  };
  std::string type;
  std::string unit;
  int64_t from_ms = 0;
  int64_t to_ms = 0;
  double step_seconds = 0;
  int64_t skipped = 0;
  std::vector<Series> series;
};

// A Deployment's pods of one revision (pod-template-hash), replaced by those of another.
struct RolloutsReply {
  struct Row {
    std::string namespace_name;
    std::string workload;
    std::string before;
    std::string after;
    int64_t at_ms = 0;
  };
  int64_t from_ms = 0;
  int64_t to_ms = 0;
  int64_t skipped = 0;    // profiles that could not be read
  std::vector<Row> rows;  // in order of time
};

struct ProfilesReply {
  struct Row {
    std::string id;  // for /api/v1/profile; "" while its window is open
    std::string type;
    int64_t start_ms = 0;
    double seconds = 0;
    std::string namespace_name;
    std::string pod;
    std::string container;
    std::string node;
    std::string workload;
    std::string capture;  // "" of a window
    int64_t samples = 0;
    int64_t value = 0;
    std::string unit;
    int64_t bytes = 0;  // as it is stored
  };
  int64_t from_ms = 0;
  int64_t to_ms = 0;
  int64_t total_rows = 0;  // before the cut to the limit
  int64_t skipped = 0;
  std::vector<Row> rows = {};  // newest first
};

struct LabelsReply {
  std::string name;                 // "" when the values are label names
  std::vector<std::string> values;  // sorted
};

struct TypesReply {
  struct Type {
    std::string name;  // "cpu"
    std::string id;    // Pyroscope's
    std::string unit;
  };
  std::vector<Type> types;
};

struct DoctorReply {
  CheckStatus status = CheckStatus::kOk;  // the worst of the checks
  std::vector<Check> checks;
};

std::string ToJson(const TopReply& reply);
std::string ToJson(const SeriesReply& reply);
std::string ToJson(const RolloutsReply& reply);
std::string ToJson(const ProfilesReply& reply);
std::string ToJson(const LabelsReply& reply);
std::string ToJson(const TypesReply& reply);
std::string ToJson(const DoctorReply& reply);

// Parse an answer. kCorrupt: the text is not such an answer. Unknown members are ignored.
Result<TopReply> TopReplyFromJson(std::string_view json);
Result<SeriesReply> SeriesReplyFromJson(std::string_view json);
Result<RolloutsReply> RolloutsReplyFromJson(std::string_view json);
Result<ProfilesReply> ProfilesReplyFromJson(std::string_view json);
Result<LabelsReply> LabelsReplyFromJson(std::string_view json);
Result<TypesReply> TypesReplyFromJson(std::string_view json);
Result<DoctorReply> DoctorReplyFromJson(std::string_view json);
// Return the "message" and the "code" of an error body, or "".
std::string ErrorMessageFromJson(std::string_view json);
std::string ErrorCodeFromJson(std::string_view json);

}  // namespace firetower::query
