// SPDX-License-Identifier: Apache-2.0
#include "query/top/reading.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "profile/pprof.h"
#include "store/find.h"
#include "store/profiles/best_resolution.h"
#include "store/profiles/counted_part.h"
#include "store/profiles/entry_reader.h"
#include "store/profiles/last_profiles.h"
#include "store/profiles/observed_time.h"
#include "store/profiles/unstored.h"

namespace firetower::query {
namespace {

// A row's node and container.
using PlaceKey = std::pair<std::string, ContainerKey>;
using Intervals = std::vector<std::pair<int64_t, int64_t>>;

// Adds [begin, end) of a node without what `holes`, by their begin, have of it.
void AddWithout(const std::string& node, int64_t begin, int64_t end, const Intervals& holes,
                store::ObservedTime* observed) {
  for (const auto& [hole_begin, hole_end] : holes) {
    if (hole_end <= begin) continue;
    if (hole_begin >= end) break;
    observed->Add(node, begin, hole_begin);
    begin = hole_end;
  }
  observed->Add(node, begin, end);
}

}  // namespace

ContainerKey KeyOf(const store::CatalogRow& row) {
  return {row.namespace_name, row.pod, row.container};
}

double ObservedSeconds(const std::vector<store::CatalogRow>& rows,
                       const std::vector<store::CatalogRow>& unread, const TimeRange& range) {
  std::map<PlaceKey, Intervals> holes;
  for (const store::CatalogRow& row : unread)
    holes[{row.node, KeyOf(row)}].emplace_back(row.start_ns, row.end_ns());
  for (auto& [place, intervals] : holes) std::ranges::sort(intervals);
  store::ObservedTime observed;
  for (const store::CatalogRow& row : rows) {
    const int64_t begin = std::max(row.start_ns, range.from_ns);
    const int64_t end = std::min(row.end_ns(), range.to_ns);
    const auto at = holes.empty() ? holes.end() : holes.find({row.node, KeyOf(row)});
    AddWithout(row.node, begin, end, at == holes.end() ? Intervals{} : at->second, &observed);
  }
  return static_cast<double>(std::move(observed).Ns()) / kNsPerSecond;
}

TopReply BeginReply(std::string_view by, const Question& question) {
  TopReply reply;
  reply.by = by;
  reply.type = question.query.type->Name();
  reply.unit = question.query.type->MainValue().unit;
  reply.from_ms = question.range.from_ns / kNsPerMs;
  reply.to_ms = question.range.to_ns / kNsPerMs;
  return reply;
}

Result<uint32_t> ValueIndex(const profile::Profile& profile, const std::string& sample_type) {
  uint32_t index =
      sample_type.empty() ? profile.DefaultValueIndex() : profile.FindValueIndex(sample_type);
  if (index < profile.sample_types().size()) return index;
  return Error(ErrorCode::kUnsupported,
               fmt::format("these profiles have no value '{}'", sample_type));
}

Status CheckRead(const Reading& reading) {
  const uint64_t lacked = reading.unread.lacked + reading.listed.lacked;
  if (reading.profiles > 0 || lacked == 0) return OkStatus();
  return NothingReadable(reading.unread.lacked > 0 ? reading.unread : reading.listed);
}

Result<Reading> ForEachProfile(
    const store::ProfileSource& source, const Question& question,
    std::span<const store::OpenProfile> open, store::Resolution resolution,
    const std::function<Status(const store::CatalogRow&, const profile::Profile&)>& visit) {
  if (question.query.NeedsWindows()) resolution = store::Resolution::kWindows;
  std::optional<store::LastProfiles> last;
  if (question.query.of_level) {
    ASSIGN_OR_RETURN(
        last, store::LastProfiles::Find(source, question.query, open, question.limits, resolution));
  }
  Reading reading;
  const auto counts = [&](const store::CatalogRow& row) {
    return !last || (question.query.at_begin ? last->IsFirst(row) : last->Has(row));
  };
  // Older profiles of memory have nothing in use.
  const auto show = [&](const store::CatalogRow& row, const profile::Profile& profile) {
    ++reading.profiles;
    const bool lacks = question.query.of_level && profile.FindValueIndex(question.sample_type) >=
                                                      profile.sample_types().size();
    return lacks ? OkStatus() : visit(row, profile);
  };
  const store::CountedPart counted(question.query);
  store::Unstored unstored(open);
  const auto skip = [&](const store::StoredEntry& one, const Error& error) {
    reading.unread.AddLacked(one.key, one.entry.name, error.message());
    reading.unread_rows.push_back(one.entry.row);
    reading.lost_roll_up |= store::IsRollUp(one.key);
    return OkStatus();
  };
  const auto visit_read = [&](store::StoredEntry&& one) -> Status {
    if (!one.pprof_gz) return skip(one, one.pprof_gz.error());
    if (!one.times_gz) return skip(one, one.times_gz.error());
    const store::CatalogRow& row = one.entry.row;
    const Result<profile::Profile> profile = counted.IsAll(row)
                                                 ? profile::DecodePprof(*std::move(one.pprof_gz))
                                                 : counted.Read(row, *one.pprof_gz, *one.times_gz);
    if (!profile) return skip(one, profile.error());
    return show(row, *profile);
  };
  store::EntryReader reader(source.store(), question.limits, counted, visit_read);
  RETURN_IF_ERROR(store::FindProfiles(source, question.query, question.limits, resolution,
                                      &reading.listed, [&](const store::FoundProfile& found) {
                                        unstored.Found(found);
                                        return counts(*found.row) ? reader.Add(found) : OkStatus();
                                      }));
  RETURN_IF_ERROR(reader.Finish());
  RETURN_IF_ERROR(unstored.ForEach([&](const store::OpenProfile& one) {
    const bool is_asked =
        one.profile != nullptr && store::IsAsked(question.query, one.row) && counts(one.row);
    if (!is_asked) return OkStatus();
    if (counted.IsAll(one.row)) {
      return show(one.row, *one.profile);
    }
    const Result<profile::Profile> part = counted.Of(one.row, *one.profile, one.times.get());
    if (!part) {
      reading.unread.AddLacked("the open window", store::BundleEntryName(one.row),
                               part.error().message());
      reading.unread_rows.push_back(one.row);
      return OkStatus();
    }
    return show(one.row, *part);
  }));
  return reading;
}

}  // namespace firetower::query
