// SPDX-License-Identifier: Apache-2.0
// The one place that knows the JSON library: it throws on a wrong type, which ends here.
#include "query/wire.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "base/json.h"

namespace firetower::query {
namespace {

using Json = nlohmann::ordered_json;

// Names come from other people's binaries: bytes that are not UTF-8 become U+FFFD.
std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

template <typename Reply, typename Fill>
Result<Reply> Read(std::string_view text, const Fill& fill) {
  try {
    Json json = Json::parse(text);
    Reply reply;
    fill(json, reply);
    return reply;
  } catch (const std::exception& e) {
    return Error(ErrorCode::kCorrupt, fmt::format("the answer is not as expected: {}", e.what()));
  }
}

template <typename T>
void Get(const Json& json, const char* name, T& out) {
  json.at(name).get_to(out);
}

// Integers take their own way: see JsonInteger. Fails as the library does, by throwing to Read.
int64_t Integer(const Json& json, const char* what) {
  std::optional<int64_t> integer = JsonInteger(json);
  if (!integer) throw std::range_error(fmt::format("\"{}\" is not an integer of 64 bits", what));
  return *integer;
}
void Get(const Json& json, const char* name, int64_t& out) { out = Integer(json.at(name), name); }

template <typename T>
void GetIfThere(const Json& json, const char* name, T& out) {
  if (json.contains(name)) Get(json, name, out);
}

Json ToRow(const TopContainer& row) {
  return {{"namespace", row.namespace_name},
          {"pod", row.pod},
          {"container", row.container},
          {"share_percent", row.share_percent},
          {"cores", row.cores},
          {"samples", row.samples},
          {"value", row.value},
          {"hottest",
           {{"function", row.hottest_function},
            {"module", row.hottest_module},
            {"percent", row.hottest_percent}}}};
}

Json ToRow(const TopFunction& row, bool lines) {
  Json json = {{"function", row.function}, {"module", row.module}};
  if (lines) {
    json["file"] = row.file;
    json["line"] = row.line;
  }
  json["self"] = row.self;
  json["self_percent"] = row.self_percent;
  if (row.growth) json["growth"] = *row.growth;
  json["total"] = row.total;
  json["total_percent"] = row.total_percent;
  json["containers"] = row.containers;
  json["more_containers"] = row.more_containers;
  return json;
}

constexpr std::string_view NameField(std::string_view by) {
  return by == "traces" ? "trace_id" : "process";
}

Json ToRow(const TopProcess& row, std::string_view by) {
  return {{"namespace", row.namespace_name},
          {"pod", row.pod},
          {"container", row.container},
          {NameField(by), row.process},
          {"share_percent", row.share_percent},
          {"cores", row.cores},
          {"samples", row.samples},
          {"value", row.value},
          {"hottest", {{"stack", row.hottest_stack}, {"percent", row.hottest_percent}}}};
}

void FromRow(const Json& json, TopProcess& row) {
  Get(json, "namespace", row.namespace_name);
  Get(json, "pod", row.pod);
  Get(json, "container", row.container);
  const bool is_trace = json.contains(NameField("traces"));
  Get(json, is_trace ? "trace_id" : "process", row.process);
  Get(json, "share_percent", row.share_percent);
  Get(json, "cores", row.cores);
  Get(json, "samples", row.samples);
  Get(json, "value", row.value);
  const Json& hottest = json.at("hottest");
  Get(hottest, "stack", row.hottest_stack);
  Get(hottest, "percent", row.hottest_percent);
}

void FromRow(const Json& json, TopContainer& row) {
  Get(json, "namespace", row.namespace_name);
  Get(json, "pod", row.pod);
  Get(json, "container", row.container);
  Get(json, "share_percent", row.share_percent);
  Get(json, "cores", row.cores);
  Get(json, "samples", row.samples);
  Get(json, "value", row.value);
  const Json& hottest = json.at("hottest");
  Get(hottest, "function", row.hottest_function);
  Get(hottest, "module", row.hottest_module);
  Get(hottest, "percent", row.hottest_percent);
}

void FromRow(const Json& json, TopFunction& row) {
  Get(json, "function", row.function);
  Get(json, "module", row.module);
  GetIfThere(json, "file", row.file);
  GetIfThere(json, "line", row.line);
  Get(json, "self", row.self);
  Get(json, "self_percent", row.self_percent);
  if (json.contains("growth")) Get(json, "growth", row.growth.emplace());
  Get(json, "total", row.total);
  Get(json, "total_percent", row.total_percent);
  Get(json, "containers", row.containers);
  GetIfThere(json, "more_containers", row.more_containers);
}

Json ToRow(const ProfilesReply::Row& row) {
  Json json = {{"type", row.type},       {"start_ms", row.start_ms},
               {"seconds", row.seconds}, {"namespace", row.namespace_name},
               {"pod", row.pod},         {"container", row.container},
               {"node", row.node},       {"workload", row.workload},
               {"samples", row.samples}, {"value", row.value},
               {"unit", row.unit},       {"bytes", row.bytes}};
  if (!row.id.empty()) json["id"] = row.id;
  if (!row.capture.empty()) json["capture"] = row.capture;
  return json;
}

void FromRow(const Json& json, ProfilesReply::Row& row) {
  Get(json, "type", row.type);
  Get(json, "start_ms", row.start_ms);
  Get(json, "seconds", row.seconds);
  Get(json, "namespace", row.namespace_name);
  Get(json, "pod", row.pod);
  Get(json, "container", row.container);
  Get(json, "node", row.node);
  Get(json, "workload", row.workload);
  Get(json, "samples", row.samples);
  Get(json, "value", row.value);
  Get(json, "unit", row.unit);
  Get(json, "bytes", row.bytes);
  GetIfThere(json, "id", row.id);
  GetIfThere(json, "capture", row.capture);
}

Json ToRow(const RolloutsReply::Row& row) {
  return {{"namespace", row.namespace_name},
          {"workload", row.workload},
          {"before", row.before},
          {"after", row.after},
          {"at_ms", row.at_ms}};
}

void FromRow(const Json& json, RolloutsReply::Row& row) {
  Get(json, "namespace", row.namespace_name);
  Get(json, "workload", row.workload);
  Get(json, "before", row.before);
  Get(json, "after", row.after);
  Get(json, "at_ms", row.at_ms);
}

template <typename Row>
void AppendRows(const Json& json, std::vector<Row>& rows) {
  for (const Json& item : json.at("rows")) FromRow(item, rows.emplace_back());
}

}  // namespace

std::string ToJson(const TopReply& reply) {
  Json rows = Json::array();
  for (const TopContainer& row : reply.containers) rows.push_back(ToRow(row));
  for (const TopFunction& row : reply.functions) rows.push_back(ToRow(row, reply.by == "lines"));
  for (const TopProcess& row : reply.processes) rows.push_back(ToRow(row, reply.by));
  Json json = {{"version", kWireVersion},
               {"by", reply.by},
               {"type", reply.type},
               {"unit", reply.unit},
               {"from_ms", reply.from_ms},
               {"to_ms", reply.to_ms},
               {"observed_seconds", reply.observed_seconds},
               {"total", reply.total},
               {"total_rows", reply.total_rows},
               {"skipped", reply.skipped}};
  if (reply.by == "functions" || reply.by == "lines") json["other_self"] = reply.other_self;
  if (reply.by != "containers") json["max_hidden"] = reply.max_hidden;
  json["rows"] = std::move(rows);
  return Dump(json);
}

Result<TopReply> TopReplyFromJson(std::string_view json) {
  return Read<TopReply>(json, [](const Json& from, TopReply& reply) {
    Get(from, "by", reply.by);
    Get(from, "type", reply.type);
    Get(from, "unit", reply.unit);
    Get(from, "from_ms", reply.from_ms);
    Get(from, "to_ms", reply.to_ms);
    Get(from, "observed_seconds", reply.observed_seconds);
    Get(from, "total", reply.total);
    Get(from, "total_rows", reply.total_rows);
    GetIfThere(from, "skipped", reply.skipped);
    GetIfThere(from, "other_self", reply.other_self);
    GetIfThere(from, "max_hidden", reply.max_hidden);
    if (reply.by == "containers") {
      AppendRows(from, reply.containers);
    } else if (reply.by == "processes" || reply.by == "traces") {
      AppendRows(from, reply.processes);
    } else {
      AppendRows(from, reply.functions);
    }
  });
}

std::string ToJson(const SeriesReply& reply) {
  Json series = Json::array();
  for (const SeriesReply::Series& one : reply.series) {
    series.push_back({{"labels", one.labels}, {"total", one.total}, {"points", one.points}});
  }
  return Dump({{"version", kWireVersion},
               {"type", reply.type},
               {"unit", reply.unit},
               {"from_ms", reply.from_ms},
               {"to_ms", reply.to_ms},
               {"step_seconds", reply.step_seconds},
               {"skipped", reply.skipped},
               {"series", std::move(series)}});
}

Result<SeriesReply> SeriesReplyFromJson(std::string_view json) {
  return Read<SeriesReply>(json, [](const Json& from, SeriesReply& reply) {
    Get(from, "type", reply.type);
    Get(from, "unit", reply.unit);
    Get(from, "from_ms", reply.from_ms);
    Get(from, "to_ms", reply.to_ms);
    Get(from, "step_seconds", reply.step_seconds);
    GetIfThere(from, "skipped", reply.skipped);
    for (const Json& item : from.at("series")) {
      SeriesReply::Series& one = reply.series.emplace_back();
      Get(item, "labels", one.labels);
      Get(item, "total", one.total);
      for (const Json& point : item.at("points")) {
        if (point.size() != 2) throw std::range_error("a point is not a pair");
        one.points.emplace_back(Integer(point.at(0), "points"), point.at(1).get<double>());
      }
    }
  });
}

std::string ToJson(const ProfilesReply& reply) {
  Json rows = Json::array();
  for (const ProfilesReply::Row& row : reply.rows) rows.push_back(ToRow(row));
  return Dump({{"version", kWireVersion},
               {"from_ms", reply.from_ms},
               {"to_ms", reply.to_ms},
               {"total_rows", reply.total_rows},
               {"skipped", reply.skipped},
               {"rows", std::move(rows)}});
}

Result<ProfilesReply> ProfilesReplyFromJson(std::string_view json) {
  return Read<ProfilesReply>(json, [](const Json& from, ProfilesReply& reply) {
    Get(from, "from_ms", reply.from_ms);
    Get(from, "to_ms", reply.to_ms);
    Get(from, "total_rows", reply.total_rows);
    GetIfThere(from, "skipped", reply.skipped);
    AppendRows(from, reply.rows);
  });
}

std::string ToJson(const RolloutsReply& reply) {
  Json rows = Json::array();
  for (const RolloutsReply::Row& row : reply.rows) rows.push_back(ToRow(row));
  return Dump({{"version", kWireVersion},
               {"from_ms", reply.from_ms},
               {"to_ms", reply.to_ms},
               {"skipped", reply.skipped},
               {"rows", std::move(rows)}});
}

Result<RolloutsReply> RolloutsReplyFromJson(std::string_view json) {
  return Read<RolloutsReply>(json, [](const Json& from, RolloutsReply& reply) {
    Get(from, "from_ms", reply.from_ms);
    Get(from, "to_ms", reply.to_ms);
    GetIfThere(from, "skipped", reply.skipped);
    AppendRows(from, reply.rows);
  });
}

std::string ToJson(const LabelsReply& reply) {
  Json json = {{"version", kWireVersion}};
  if (!reply.name.empty()) json["name"] = reply.name;
  json[reply.name.empty() ? "names" : "values"] = reply.values;
  return Dump(json);
}

Result<LabelsReply> LabelsReplyFromJson(std::string_view json) {
  return Read<LabelsReply>(json, [](const Json& from, LabelsReply& reply) {
    GetIfThere(from, "name", reply.name);
    Get(from, reply.name.empty() ? "names" : "values", reply.values);
  });
}

std::string ToJson(const TypesReply& reply) {
  Json types = Json::array();
  for (const TypesReply::Type& type : reply.types) {
    types.push_back({{"name", type.name}, {"id", type.id}, {"unit", type.unit}});
  }
  return Dump({{"version", kWireVersion}, {"types", std::move(types)}});
}

Result<TypesReply> TypesReplyFromJson(std::string_view json) {
  return Read<TypesReply>(json, [](const Json& from, TypesReply& reply) {
    for (const Json& item : from.at("types")) {
      TypesReply::Type& type = reply.types.emplace_back();
      Get(item, "name", type.name);
      Get(item, "id", type.id);
      Get(item, "unit", type.unit);
    }
  });
}

std::string ToJson(const DoctorReply& reply) {
  Json checks = Json::array();
  for (const Check& check : reply.checks) {
    checks.push_back({{"name", check.name},
                      {"status", CheckStatusName(check.status)},
                      {"message", check.message},
                      {"fix", check.fix}});
  }
  return Dump({{"version", kWireVersion},
               {"status", CheckStatusName(reply.status)},
               {"checks", std::move(checks)}});
}

Result<DoctorReply> DoctorReplyFromJson(std::string_view json) {
  return Read<DoctorReply>(json, [](const Json& from, DoctorReply& reply) {
    auto status = [](const Json& at) {
      std::string text = at.at("status").get<std::string>();
      if (text == "ok") return CheckStatus::kOk;
      if (text == "skip") return CheckStatus::kSkip;
      return text == "warn" ? CheckStatus::kWarn : CheckStatus::kFail;
    };
    reply.status = status(from);
    for (const Json& item : from.at("checks")) {
      Check& check = reply.checks.emplace_back();
      Get(item, "name", check.name);
      check.status = status(item);
      Get(item, "message", check.message);
      Get(item, "fix", check.fix);
    }
  });
}

namespace {

std::string MemberOf(std::string_view json, const char* name) {
  auto member =
      Read<std::string>(json, [&](const Json& from, std::string& out) { Get(from, name, out); });
  return member.value_or("");
}

}  // namespace

std::string ErrorMessageFromJson(std::string_view json) { return MemberOf(json, "message"); }
std::string ErrorCodeFromJson(std::string_view json) { return MemberOf(json, "code"); }

}  // namespace firetower::query
