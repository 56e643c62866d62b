// SPDX-License-Identifier: Apache-2.0
// The reading of profiles one by one, for the tables of what is hot.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"
#include "query/question.h"
#include "query/wire.h"
#include "store/query.h"

namespace firetower::query {

// Namespace, pod, container.
using ContainerKey = std::tuple<std::string, std::string, std::string>;

ContainerKey KeyOf(const store::CatalogRow& row);

// Returns the divisor of "per second": the time of the rows within the range, without what could
// not be read, so that a daemon started two minutes ago does not look idle over the last fifteen.
double ObservedSeconds(const std::vector<store::CatalogRow>& rows,
                       const std::vector<store::CatalogRow>& unread, const TimeRange& range);

// Returns a reply without rows and totals.
TopReply BeginReply(std::string_view by, const Question& question);

// Returns the index of the asked value; kUnsupported when these profiles have no such value.
Result<uint32_t> ValueIndex(const profile::Profile& profile, const std::string& sample_type);

// The results of reading profiles at one resolution.
struct Reading {
  store::SkippedList unread;  // objects that a listing of the same names does not report already
  std::vector<store::CatalogRow> unread_rows;  // of these, at most a query's maximum
  store::SkippedList listed;
  uint64_t profiles = 0;
  bool lost_roll_up = false;
};

// Fails if profiles exist but none could be read, so that they are not taken for missing.
Status CheckRead(const Reading& reading);

// Calls `visit` with each profile that matches, stored ones first, within the limits of one answer.
Result<Reading> ForEachProfile(
    const store::ProfileSource& source, const Question& question,
    std::span<const store::OpenProfile> open, store::Resolution resolution,
    const std::function<Status(const store::CatalogRow&, const profile::Profile&)>& visit);

}  // namespace firetower::query
