// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "cli/commands/commands.h"
#include "cli/commands/common.h"
#include "net/url.h"
#include "query/time_range.h"

namespace firetower::cli {
namespace {

// The address of the page without its parameters.
Outcome<std::string> PageUrl(const Context& context) {
  if (!context.args.Has("page-url")) {
    std::string page = context.client.page_url();
    if (!page.empty()) return page;
    return Failure{
        ExitCode::kFailure, "no address of the hub's page is known",
        "the hub is reached through the API server, where a browser cannot follow",
        "give the address at which it is published, --page-url https://firetower.example; "
        "or run kubectl -n firetower port-forward service/firetower-hub 7080 and give "
        "--page-url http://127.0.0.1:7080"};
  }
  const Result<net::Url> url = net::ParseUrl(context.args.Get("page-url"));
  if (!url) return BadFlag(context, Error(url.error()).Context("--page-url"));
  return url->Text() + "/";
}

std::string ValueOf(const net::NamedValues& params, std::string_view name) {
  for (const auto& [key, value] : params) {
    if (key == name) return value;
  }
  return {};
}

}  // namespace

Outcome<int> RunOpen(const Context& context) {
  Outcome<std::string> page = PageUrl(context);
  if (!page) return page.failure();
  Outcome<std::string> selector = PodSelector(context);
  if (!selector) return selector.failure();
  Outcome<net::NamedValues> asked = RangeParams(context, "15m");
  if (!asked) return asked.failure();
  // A link shows the same tomorrow.
  const Result<query::TimeRange> range = query::ParseTimeRange(
      ValueOf(*asked, "from"), ValueOf(*asked, "to"), Clock::System().WallNs());
  if (!range) return BadFlag(context, range.error());
  const std::string type = ValueOf(*asked, "type");
  net::NamedValues params = {{"type", type.empty() ? "cpu" : type}};
  if (!selector->empty()) params.emplace_back("q", *selector);
  params.emplace_back("from", query::FormatTimeUtc(range->from_ns));
  params.emplace_back("to", query::FormatTimeUtc(range->to_ns));
  if (context.args.Has("find")) params.emplace_back("find", context.args.Get("find"));
  return Emit(*page + "explore" + net::EncodeQuery(params) + "\n", ExitCode::kOk);
}

}  // namespace firetower::cli
