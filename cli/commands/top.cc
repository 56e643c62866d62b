// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cli/commands/commands.h"
#include "cli/commands/common.h"
#include "cli/commands/naming.h"
#include "cli/term/table.h"
#include "profile/pprof.h"
#include "query/top/function_sums.h"
#include "query/wire.h"

namespace firetower::cli {
namespace {

constexpr auto kRedraw = std::chrono::seconds(2);
constexpr auto kPrintAgain = std::chrono::seconds(5);
constexpr const char* kHideCursor = "\033[?25l\033[2J";
constexpr const char* kShowCursor = "\033[?25h\n";

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Returns "42.1%". A small value is not shown as zero.
std::string Percent(double percent) {
  if (percent > 0 && percent < 0.05) return "<0.1%";
  return fmt::format("{:.1f}%", percent);
}

std::string RenderContainers(const query::TopReply& reply, const Terminal& terminal, bool headers,
                             bool wide) {
  bool cpu = reply.type == "cpu";
  std::vector<Column> columns = {{"NAMESPACE", false, true},       {"POD", false, true},
                                 {"CONTAINER", false, true},       {cpu ? "CPU%" : "SHARE", true},
                                 {cpu ? "CORES" : "VALUE", true},  {"SAMPLES", true},
                                 {"HOTTEST FUNCTION", false, true}};
  if (wide) columns.push_back({"MODULE"});
  Table table(std::move(columns));
  for (const query::TopContainer& row : reply.containers) {
    std::string hottest =
        row.hottest_function.empty()
            ? "-"
            : fmt::format("{} ({})", row.hottest_function, Percent(row.hottest_percent));
    std::vector<Cell> cells = {row.namespace_name,
                               row.pod,
                               row.container,
                               Cell(Percent(row.share_percent), Style::kBold),
                               cpu ? fmt::format("{:.3f}", row.cores)
                                   : FormatValue(static_cast<double>(row.value), reply.unit),
                               FormatCount(row.samples),
                               hottest};
    if (wide) cells.emplace_back(row.hottest_module.empty() ? "-" : row.hottest_module);
    table.AddRow(std::move(cells));
  }
  return table.Render(terminal, headers, wide);
}

// Explains the divisor of CORES when it differs clearly from the requested time.
std::string CoresNote(const query::TopReply& reply) {
  const double asked = static_cast<double>(reply.to_ms - reply.from_ms) / 1000;
  const bool has_cores = !reply.containers.empty() || !reply.processes.empty();
  if (reply.type != "cpu" || !has_cores || reply.observed_seconds > 0.97 * asked) return "";
  return fmt::format("CORES: over {:.1f} s covered of {:.1f} s asked\n", reply.observed_seconds,
                     asked);
}

// "web" when a function runs in one container, "web +2" when in more.
std::string ContainersCell(const query::TopFunction& row, bool wide) {
  const std::vector<std::string>& containers = row.containers;
  if (containers.empty())
    return row.more_containers == 0 ? "-" : fmt::format("+{}", row.more_containers);
  std::string out;
  if (!wide) {
    out = BaseName(containers[0]);
  } else {
    for (const std::string& container : containers) out += (out.empty() ? "" : ",") + container;
  }
  const int64_t named = wide ? static_cast<int64_t>(containers.size()) : 1;
  const int64_t more = static_cast<int64_t>(containers.size()) - named + row.more_containers;
  return more == 0 ? out : fmt::format("{} +{}", out, more);
}

// Returns "app.py:17", with the whole path if `wide`; "-" where the line is not known.
std::string LineCell(const query::TopFunction& row, bool wide) {
  if (row.line == 0) return "-";
  return fmt::format("{}:{}", wide ? row.file : BaseName(row.file), row.line);
}

// Returns "+1.2 MiB"; "-" where it is not known.
std::string GrowthCell(const query::TopFunction& row, const std::string& unit) {
  if (!row.growth) return "-";
  const std::string size = FormatValue(std::abs(static_cast<double>(*row.growth)), unit);
  return (*row.growth < 0 ? "-" : "+") + size;
}

// Functions, or with `lines` their lines.
std::string RenderFunctions(const query::TopReply& reply, const Terminal& terminal, bool headers,
                            bool wide, bool lines) {
  const bool grows = std::ranges::any_of(
      reply.functions, [](const query::TopFunction& row) { return row.growth.has_value(); });
  std::vector<Column> columns = {{"SELF%", true}, {"SELF", true}};
  if (grows) columns.push_back({"GROWTH", true});
  columns.push_back({"TOTAL%", true});
  if (lines) columns.push_back({"LINE", false, true});
  for (const char* name : {"FUNCTION", "MODULE", "CONTAINER(S)"})
    columns.push_back({name, false, true});
  Table table(std::move(columns));
  for (const query::TopFunction& row : reply.functions) {
    std::string module = wide ? row.module : BaseName(row.module);
    std::vector<Cell> cells = {Cell(Percent(row.self_percent), Style::kBold),
                               FormatValue(static_cast<double>(row.self), reply.unit)};
    if (grows) cells.emplace_back(GrowthCell(row, reply.unit));
    cells.emplace_back(Percent(row.total_percent));
    if (lines) cells.emplace_back(LineCell(row, wide));
    cells.emplace_back(row.function);
    cells.emplace_back(module.empty() ? "-" : module);
    cells.emplace_back(ContainersCell(row, wide));
    table.AddRow(std::move(cells));
  }
  return table.Render(terminal, headers, wide);
}

// Returns the last functions of a stack, which say where it is, or all: "… > serve > Parse".
std::string StackCell(const std::vector<std::string>& stack, bool wide) {
  constexpr size_t kShown = 3;
  const size_t from = wide || stack.size() <= kShown ? 0 : stack.size() - kShown;
  std::string out = from == 0 ? "" : "… > ";
  for (size_t i = from; i < stack.size(); ++i) out += (i == from ? "" : " > ") + stack[i];
  return out;
}

std::string RenderProcesses(const query::TopReply& reply, const Terminal& terminal, bool headers,
                            bool wide) {
  const bool cpu = reply.type == "cpu";
  Table table({{"NAMESPACE", false, true},
               {"POD", false, true},
               {"CONTAINER", false, true},
               {reply.by == "traces" ? "TRACE" : "PROCESS", false, true},
               {cpu ? "CPU%" : "SHARE", true},
               {cpu ? "CORES" : "VALUE", true},
               {"SAMPLES", true},
               {"HOTTEST STACK", false, true}});
  for (const query::TopProcess& row : reply.processes) {
    const std::string hottest = row.hottest_stack.empty()
                                    ? "-"
                                    : fmt::format("{} ({})", StackCell(row.hottest_stack, wide),
                                                  Percent(row.hottest_percent));
    table.AddRow({row.namespace_name, row.pod, row.container,
                  row.process.empty() ? "-" : row.process,
                  Cell(Percent(row.share_percent), Style::kBold),
                  cpu ? fmt::format("{:.3f}", row.cores)
                      : FormatValue(static_cast<double>(row.value), reply.unit),
                  FormatCount(row.samples), hottest});
  }
  return table.Render(terminal, headers, wide);
}

std::string Render(const query::TopReply& reply, const Terminal& terminal, bool headers,
                   bool wide) {
  if (reply.by == "functions" || reply.by == "lines")
    return RenderFunctions(reply, terminal, headers, wide, reply.by == "lines");
  if (reply.by == "processes" || reply.by == "traces")
    return RenderProcesses(reply, terminal, headers, wide);
  return RenderContainers(reply, terminal, headers, wide);
}

std::string RenderNames(const query::TopReply& reply, const Terminal& terminal) {
  std::string out;
  for (const query::TopContainer& row : reply.containers) {
    out += fmt::format("{}/{}/{}\n", row.namespace_name, row.pod, row.container);
  }
  for (const query::TopFunction& row : reply.functions) {
    const std::string name =
        reply.by == "lines" && row.line > 0 ? LineCell(row, true) : row.function;
    out += Printable(name, terminal.utf8) + "\n";
  }
  for (const query::TopProcess& row : reply.processes) {
    out += fmt::format("{}/{}/{} {}\n", row.namespace_name, row.pod, row.container,
                       Printable(row.process, terminal.utf8));
  }
  return out;
}

class TopCommand {
 public:
  TopCommand(const Context& context, net::NamedValues params, size_t limit)
      : context_(context),
        params_(std::move(params)),
        limit_(limit),
        output_(context.args.Get("output")) {}

  Outcome<int> Once() {
    Outcome<std::string> page = Page();
    if (!page) return page.failure();
    if (rows_ > 0) return Emit(*page, ExitCode::kOk);
    if (output_ == "json") return Emit(*page, ExitCode::kNoData);
    return NoData(context_);
  }

  // Until the server's first refusal, or a signal; a server that goes away later may come back.
  Outcome<int> Watch() {
    bool redraw = context_.terminal.is_tty && output_ != "json" && output_ != "name";
    Outcome<std::string> page = Page();
    if (!page) return page.failure();
    if (redraw) {
      context_.interrupt.SetFarewell(kShowCursor);
      if (!WriteOut(kHideCursor)) return ExitCode::kFailure;
    }
    while (true) {
      std::string text = page ? *page : page.failure().Text(context_.program);
      if (!page && !redraw) std::fputs(text.c_str(), stderr);
      if (redraw) text = Frame(text);
      // On a pipe tables are apart by an empty line.
      if (!redraw && output_ != "json" && output_ != "name") text += "\n";
      if ((page || redraw) && !WriteOut(text)) return ExitCode::kFailure;
      std::this_thread::sleep_for(redraw ? kRedraw : kPrintAgain);
      page = Page();
    }
  }

 private:
  Outcome<query::TopReply> Ask(std::string* body) {
    Outcome<HttpReply> reply = context_.client.Get("/api/v1/top", params_);
    if (!reply) return reply.failure();
    Result<query::TopReply> top = query::TopReplyFromJson(reply->body);
    if (!top) return UnreadableAnswer(top.error());
    *body = std::move(reply->body);
    return *std::move(top);
  }

  // The server's own order of functions is by the names it has: ours comes from the profile.
  Outcome<query::TopReply> NameAndSum(std::string* body) {
    Outcome<query::TopReply> top = Ask(body);
    if (!top || top->functions.empty()) return top;
    net::NamedValues params = params_;
    std::erase_if(params,
                  [](const auto& param) { return param.first == "by" || param.first == "k"; });
    Outcome<HttpReply> reply = context_.client.Get("/api/v1/profile", params);
    if (!reply) return reply.failure();
    Result<profile::Profile> profile = profile::DecodePprof(reply->body);
    if (!profile) {
      return Failure{ExitCode::kFailure, "the server's profile cannot be read",
                     profile.error().message(), "fetch it with 'get' to look at it"};
    }
    Outcome<profile::Profile> named = NameHere(context_, *profile);
    if (!named) return named.failure();
    query::FunctionSums sums(top->by == "lines" ? profile::TopBy::kLine
                                                : profile::TopBy::kFunction);
    sums.Add(*named, named->DefaultValueIndex(), "");
    top->total = sums.total();
    top->total_rows = static_cast<int64_t>(sums.functions());
    // The server's cut part is already a function `other` in the profile.
    top->other_self = 0;
    top->max_hidden =
        static_cast<int64_t>(reply->max_hidden.value_or(0) * static_cast<double>(sums.total()));
    top->functions = sums.Top(limit_);
    // A merged profile does not say where a function ran.
    for (query::TopFunction& row : top->functions) row.containers.clear();
    *body = query::ToJson(*top);
    return top;
  }

  Outcome<std::string> Page() {
    std::string body;
    const bool names = context_.args.Has("symbols");
    Outcome<query::TopReply> top = names ? NameAndSum(&body) : Ask(&body);
    if (!top) return top.failure();
    if (!std::exchange(warned_, true)) {
      WarnSkipped(context_, top->skipped);
      if (top->total > 0 && top->max_hidden > 0) {
        WarnCoarse(context_, static_cast<double>(top->max_hidden) / static_cast<double>(top->total),
                   "functions");
      }
    }
    rows_ = top->containers.size() + top->functions.size() + top->processes.size();
    if (output_ == "json") return body;
    if (output_ == "name") return RenderNames(*top, context_.terminal);
    bool headers = !context_.args.Has("no-headers");
    bool wide = output_ == "wide";
    return Render(*top, context_.terminal, headers, wide) + (headers ? CoresNote(*top) : "");
  }

  // Makes one screen: a title line, then as much of `text` as fits.
  std::string Frame(const std::string& text) const {
    std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    const std::string page = context_.client.page_url();
    const std::string title =
        fmt::format("{}  {:02}:{:02}:{:02}  every 2 s, Ctrl-C ends",
                    page.empty() ? context_.client.name() : page + " shows flame graphs",
                    local.tm_hour, local.tm_min, local.tm_sec);
    std::string out = "\033[H" + Styled(context_.terminal, Style::kDim, title) + "\033[K\r\n";
    if (rows_ == 0) out += "no samples yet\033[K\r\n";
    // A terminal that does not tell its size (a serial line) is taken for the classic 24 rows.
    size_t rows = context_.terminal.rows == 0 ? 24 : context_.terminal.rows;
    size_t lines = rows > 2 ? rows - 2 : 1;
    for (size_t at = 0; at < text.size() && lines > 0; --lines) {
      size_t end = text.find('\n', at);
      out += text.substr(at, end - at) + "\033[K\r\n";
      at = end == std::string::npos ? text.size() : end + 1;
    }
    return out + "\033[J";
  }

  const Context& context_;
  net::NamedValues params_;
  size_t limit_;
  std::string output_;
  size_t rows_ = 0;
  bool warned_ = false;
};

}  // namespace

Outcome<int> RunTop(const Context& context) {
  bool watch = context.args.Has("watch");
  Outcome<net::NamedValues> params = SelectionParams(context, watch ? "1m" : "15m");
  if (!params) return params.failure();
  std::string limit = context.args.Get("limit");
  int k = 0;
  auto [end, error] = std::from_chars(limit.data(), limit.data() + limit.size(), k);
  if (!limit.empty() &&
      (error != std::errc() || end != limit.data() + limit.size() || k < 1 || k > 1000)) {
    return BadFlag(
        context, Error(ErrorCode::kInvalid,
                       fmt::format("--limit is '{}': it must be a number from 1 to 1000", limit)));
  }
  if (!limit.empty()) params->emplace_back("k", limit);
  if (!context.args.positionals.empty()) params->emplace_back("by", context.args.positionals[0]);
  const std::string by = context.args.positionals.empty() ? "" : context.args.positionals[0];
  if (context.args.Has("symbols") && by != "functions" && by != "lines") {
    return BadFlag(context,
                   Error(ErrorCode::kInvalid, "--symbols is for 'top functions' and 'top lines'"));
  }
  constexpr size_t kDefaultLimit = 10;  // the server's
  TopCommand top(context, std::move(*params), k > 0 ? static_cast<size_t>(k) : kDefaultLimit);
  return watch ? top.Watch() : top.Once();
}

}  // namespace firetower::cli
