// SPDX-License-Identifier: Apache-2.0
#include "query/heat/timed_reading.h"

#include <utility>

#include "profile/times/timed_profile.h"
#include "store/find.h"
#include "store/profiles/counted_part.h"
#include "store/profiles/entry_reader.h"
#include "store/profiles/unstored.h"

namespace firetower::query {
namespace {

// Without the profile a sample's index says nothing.
constexpr uint32_t kAnySample = UINT32_MAX;

Result<profile::TimedProfile> Decode(const store::StoredEntry& one, bool profiles) {
  if (!one.pprof_gz) return one.pprof_gz.error();
  if (!one.times_gz) return one.times_gz.error();
  if (profiles) return profile::DecodeTimed(*one.pprof_gz, *one.times_gz);
  profile::TimedProfile timed;
  if (!one.times_gz->empty()) {
    ASSIGN_OR_RETURN(timed.times, profile::DecodeSampleTimes(*one.times_gz, kAnySample));
  }
  return timed;
}

}  // namespace

Status ForEachTimed(const store::ProfileSource& source, const Question& question,
                    std::span<const store::OpenProfile> open, bool profiles,
                    store::SkippedList* skipped,
                    const std::function<Status(const TimedWindow&)>& visit) {
  store::Query query = question.query;
  query.to_ns += kLateSampleNs;
  const store::CountedPart counted(query);
  store::Unstored unstored(open);
  const auto visit_read = [&](store::StoredEntry&& one) -> Status {
    const Result<profile::TimedProfile> timed = Decode(one, profiles);
    if (!timed) {
      skipped->AddLacked(one.key, one.entry.name, timed.error().message());
      return OkStatus();
    }
    return visit({one.entry.row, timed->times, profiles ? &timed->profile : nullptr});
  };
  const store::EntryFiles files = profiles ? store::EntryFiles::kBoth : store::EntryFiles::kTimes;
  store::EntryReader reader(source.store(), question.limits, counted, files, visit_read);
  RETURN_IF_ERROR(store::FindProfiles(source, query, question.limits, store::Resolution::kWindows,
                                      skipped, [&](const store::FoundProfile& found) {
                                        unstored.Found(found);
                                        const bool is_capture = found.entry == nullptr;
                                        return is_capture ? OkStatus() : reader.Add(found);
                                      }));
  RETURN_IF_ERROR(reader.Finish());
  return unstored.ForEach([&](const store::OpenProfile& one) -> Status {
    if (one.profile == nullptr || !store::IsAsked(query, one.row)) return OkStatus();
    const profile::SampleTimes none;
    return visit({one.row, one.times ? *one.times : none, profiles ? one.profile.get() : nullptr});
  });
}

}  // namespace firetower::query
