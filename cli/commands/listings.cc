// SPDX-License-Identifier: Apache-2.0
// types, labels, series and profiles: a list each, as a table, as names or as the server's JSON.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cli/commands/commands.h"
#include "cli/commands/common.h"
#include "cli/term/table.h"
#include "query/time_range.h"
#include "query/wire.h"

namespace firetower::cli {
namespace {

struct Listing {
  Table table;
  std::string names;  // one a line
  size_t rows = 0;
  int64_t skipped = 0;
};

// Fetches a listing, reads it, and writes it in the chosen form.
template <typename Reply, typename Read, typename Build>
Outcome<int> RunListing(const Context& context, std::string_view path,
                        const net::NamedValues& params, const Read& read, const Build& build) {
  Outcome<HttpReply> reply = context.client.Get(path, params);
  if (!reply) return reply.failure();
  Result<Reply> parsed = read(reply->body);
  if (!parsed) return UnreadableAnswer(parsed.error());
  Listing listing = build(*parsed);
  WarnSkipped(context, std::max(listing.skipped, reply->skipped));
  std::string output = context.args.Get("output");
  if (output == "json") {
    return Emit(reply->body, listing.rows > 0 ? ExitCode::kOk : ExitCode::kNoData);
  }
  if (listing.rows == 0) return NoData(context);
  if (output == "name") return Emit(listing.names, ExitCode::kOk);
  bool headers = !context.args.Has("no-headers");
  return Emit(listing.table.Render(context.terminal, headers, output == "wide"), ExitCode::kOk);
}

// {namespace="shop",pod="web-0"}: what -q takes.
std::string SelectorText(const std::map<std::string, std::string>& labels) {
  std::string out;
  for (const auto& [name, value] : labels) {
    std::string escaped;
    for (char c : value) {
      if (c == '"' || c == '\\') escaped += '\\';
      escaped += c;
    }
    out += (out.empty() ? "" : ",") + name + "=\"" + escaped + "\"";
  }
  return "{" + out + "}";
}

// Formats a time as RFC 3339 in the local zone with its offset, so that --from and --to accept it.
std::string LocalTime(int64_t ns) {
  const auto seconds = static_cast<std::time_t>(ns / kNsPerSecond);
  std::tm local{};
  if (localtime_r(&seconds, &local) == nullptr) return query::FormatTimeUtc(ns);
  // The clock of that zone, written as if it were UTC's.
  std::string out = query::FormatTimeUtc(ns + int64_t{local.tm_gmtoff} * kNsPerSecond);
  const long minutes = local.tm_gmtoff / 60;
  if (minutes == 0) return out;
  out.pop_back();  // Z
  return out + fmt::format("{}{:02}:{:02}", minutes < 0 ? '-' : '+', std::labs(minutes) / 60,
                           std::labs(minutes) % 60);
}

Listing SeriesListing(const query::SeriesReply& reply, const Terminal& terminal) {
  std::set<std::string> names;
  for (const auto& series : reply.series) {
    for (const auto& label : series.labels) names.insert(label.first);
  }
  // The labels that identify a container come first, in their usual order.
  std::vector<std::string> order;
  for (const char* known : {"namespace", "pod", "container"}) {
    if (names.erase(known) > 0) order.emplace_back(known);
  }
  order.insert(order.end(), names.begin(), names.end());

  std::vector<Column> columns;
  for (std::string header : order) {
    std::transform(header.begin(), header.end(), header.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    columns.push_back({std::move(header), false, true});
  }
  columns.push_back({"TOTAL", true});
  Listing listing{Table(columns), "", reply.series.size(), reply.skipped};
  for (const auto& series : reply.series) {
    std::vector<Cell> row;
    for (const std::string& name : order) {
      auto at = series.labels.find(name);
      row.emplace_back(at == series.labels.end() || at->second.empty() ? "-" : at->second);
    }
    row.emplace_back(FormatValue(series.total, reply.unit));
    listing.table.AddRow(std::move(row));
    listing.names += Printable(SelectorText(series.labels), terminal.utf8) + "\n";
  }
  return listing;
}

// `wide`: with ids, which are long.
Listing ProfilesListing(const query::ProfilesReply& reply, const Terminal& terminal, bool wide) {
  std::vector<Column> columns = {{"START"},
                                 {"LENGTH", true},
                                 {"TYPE"},
                                 {"NAMESPACE", false, true},
                                 {"POD", false, true},
                                 {"CONTAINER", false, true},
                                 {"NODE", false, true},
                                 {"SAMPLES", true},
                                 {"VALUE", true},
                                 {"SIZE", true}};
  if (wide) columns.push_back({"ID"});
  Listing listing{Table(columns), "", reply.rows.size(), reply.skipped};
  for (const auto& row : reply.rows) {
    std::vector<Cell> cells = {
        LocalTime(row.start_ms * kNsPerMs),
        FormatValue(row.seconds * 1e9, "nanoseconds"),
        row.type,
        row.namespace_name,
        row.pod,
        row.container,
        row.node,
        FormatCount(row.samples),
        FormatValue(static_cast<double>(row.value), row.unit),
        row.id.empty() ? "-" : FormatValue(static_cast<double>(row.bytes), "bytes")};
    if (wide) cells.emplace_back(row.id.empty() ? "-" : row.id);
    listing.table.AddRow(std::move(cells));
    if (!row.id.empty()) listing.names += Printable(row.id, terminal.utf8) + "\n";
  }
  return listing;
}

}  // namespace

Outcome<int> RunTypes(const Context& context) {
  Outcome<net::NamedValues> params = SelectionParams(context, "15m");
  if (!params) return params.failure();
  return RunListing<query::TypesReply>(
      context, "/api/v1/types", *params, query::TypesReplyFromJson,
      [&](const query::TypesReply& reply) {
        Listing listing{Table({{"TYPE"}, {"UNIT"}, {"PYROSCOPE ID", false, true}}), "",
                        reply.types.size()};
        for (const auto& type : reply.types) {
          listing.table.AddRow({type.name, type.unit, type.id});
          listing.names += Printable(type.name, context.terminal.utf8) + "\n";
        }
        return listing;
      });
}

Outcome<int> RunRollouts(const Context& context) {
  Outcome<net::NamedValues> params = SelectionParams(context, "24h");
  if (!params) return params.failure();
  return RunListing<query::RolloutsReply>(
      context, "/api/v1/rollouts", *params, query::RolloutsReplyFromJson,
      [&](const query::RolloutsReply& reply) {
        Listing listing{
            Table({{"TIME"}, {"NAMESPACE"}, {"WORKLOAD"}, {"BEFORE"}, {"AFTER", false, true}}), "",
            reply.rows.size()};
        for (const auto& row : reply.rows) {
          const std::string at = query::FormatTimeUtc(row.at_ms * kNsPerMs);
          listing.table.AddRow({at, row.namespace_name, row.workload, row.before, row.after});
          listing.names += Printable(row.workload, context.terminal.utf8) + "\n";
        }
        return listing;
      });
}

Outcome<int> RunLabels(const Context& context) {
  Outcome<net::NamedValues> params = SelectionParams(context, "15m");
  if (!params) return params.failure();
  if (!context.args.positionals.empty()) params->emplace_back("name", context.args.positionals[0]);
  return RunListing<query::LabelsReply>(
      context, "/api/v1/labels", *params, query::LabelsReplyFromJson,
      [&](const query::LabelsReply& reply) {
        Listing listing{Table({{reply.name.empty() ? "LABEL" : "VALUE"}}), "", reply.values.size()};
        for (const std::string& value : reply.values) {
          listing.table.AddRow({value});
          listing.names += Printable(value, context.terminal.utf8) + "\n";
        }
        return listing;
      });
}

Outcome<int> RunSeries(const Context& context) {
  Outcome<net::NamedValues> params = SelectionParams(context, "15m");
  if (!params) return params.failure();
  for (const char* name : {"by", "step"}) {
    if (context.args.Has(name)) params->emplace_back(name, context.args.Get(name));
  }
  return RunListing<query::SeriesReply>(
      context, "/api/v1/series", *params, query::SeriesReplyFromJson,
      [&](const query::SeriesReply& reply) { return SeriesListing(reply, context.terminal); });
}

Outcome<int> RunProfiles(const Context& context) {
  Outcome<net::NamedValues> params = SelectionParams(context, "15m");
  if (!params) return params.failure();
  if (context.args.Has("limit")) params->emplace_back("limit", context.args.Get("limit"));
  // The window that is still open has no id and takes up none of the limit.
  if (context.args.Get("output") == "name") params->emplace_back("stored", "true");
  return RunListing<query::ProfilesReply>(
      context, "/api/v1/profiles", *params, query::ProfilesReplyFromJson,
      [&](const query::ProfilesReply& reply) {
        const auto shown = static_cast<int64_t>(reply.rows.size());
        if (shown < reply.total_rows) {
          std::fprintf(stderr, "%s: the newest %s of %s; --limit shows more\n",
                       context.program.c_str(), FormatCount(shown).c_str(),
                       FormatCount(reply.total_rows).c_str());
        }
        return ProfilesListing(reply, context.terminal, context.args.Get("output") == "wide");
      });
}

}  // namespace firetower::cli
