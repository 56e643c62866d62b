// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>

#include "base/result.h"
#include "profile/profile.h"
#include "profile/times/sample_times.h"
#include "query/question.h"
#include "store/query.h"

namespace firetower::query {

// One window's profile of an answer; valid during the call that receives it.
struct TimedWindow {
  const store::CatalogRow& row;
  const profile::SampleTimes& times;  // empty: not known
  const profile::Profile* profile;    // null if it was not asked for
};

// Calls `visit` with each window that matches, stored ones first, within the limits of one answer,
// with its profile if `profiles`. Captures are left out: windows have their samples, too.
// Unreadable ones go to `skipped`.
Status ForEachTimed(const store::ProfileSource& source, const Question& question,
                    std::span<const store::OpenProfile> open, bool profiles,
                    store::SkippedList* skipped,
                    const std::function<Status(const TimedWindow&)>& visit);

}  // namespace firetower::query
