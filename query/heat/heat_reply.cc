// SPDX-License-Identifier: Apache-2.0
#include "query/heat/heat_reply.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "query/wire.h"

namespace firetower::query {
namespace {

using Json = nlohmann::ordered_json;

Error Unexpected(std::string_view why) {
  return {ErrorCode::kCorrupt, fmt::format("the answer is not as expected: {}", why)};
}

Status CheckShape(const HeatReply& reply) {
  constexpr int64_t kMaxColumns = 1 << 20;
  if (reply.columns < 0 || reply.columns > kMaxColumns || reply.column_ms <= 0)
    return Unexpected("columns out of range");
  const size_t cells = static_cast<size_t>(reply.columns) * reply.rows.size();
  const bool is_painted = !reply.painted.empty();
  if (reply.cells.size() != cells || (is_painted && reply.painted.size() != cells) ||
      reply.known.size() != static_cast<size_t>(reply.columns)) {
    return Unexpected("cells that do not fit rows and columns");
  }
  return OkStatus();
}

}  // namespace

std::string ToJson(const HeatReply& reply) {
  Json json = {{"version", kWireVersion},
               {"type", reply.type},
               {"by", reply.by},
               {"from_ms", reply.from_ms},
               {"to_ms", reply.to_ms},
               {"begin_ms", reply.begin_ms},
               {"column_ms", reply.column_ms},
               {"row_ms", reply.row_ms},
               {"rows", reply.rows},
               {"columns", reply.columns},
               {"known", reply.known},
               {"samples", reply.samples},
               {"untimed_samples", reply.untimed_samples},
               {"other_rows", reply.other_rows},
               {"skipped", reply.skipped},
               {"cells", reply.cells}};
  if (!reply.paint.empty()) {
    json["paint"] = reply.paint;
    json["painted_samples"] = reply.painted_samples;
    json["painted"] = reply.painted;
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<HeatReply> HeatReplyFromJson(std::string_view text) {
  HeatReply reply;
  try {
    const Json json = Json::parse(text);
    json.at("type").get_to(reply.type);
    json.at("by").get_to(reply.by);
    json.at("from_ms").get_to(reply.from_ms);
    json.at("to_ms").get_to(reply.to_ms);
    json.at("begin_ms").get_to(reply.begin_ms);
    json.at("column_ms").get_to(reply.column_ms);
    json.at("row_ms").get_to(reply.row_ms);
    json.at("rows").get_to(reply.rows);
    json.at("columns").get_to(reply.columns);
    json.at("known").get_to(reply.known);
    json.at("samples").get_to(reply.samples);
    json.at("untimed_samples").get_to(reply.untimed_samples);
    json.at("other_rows").get_to(reply.other_rows);
    json.at("skipped").get_to(reply.skipped);
    json.at("cells").get_to(reply.cells);
    reply.paint = json.value("paint", "");
    if (!reply.paint.empty()) {
      json.at("painted_samples").get_to(reply.painted_samples);
      json.at("painted").get_to(reply.painted);
    }
  } catch (const std::exception& e) {
    return Unexpected(e.what());
  }
  RETURN_IF_ERROR(CheckShape(reply));
  return reply;
}

}  // namespace firetower::query
