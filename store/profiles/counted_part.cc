// SPDX-License-Identifier: Apache-2.0
#include "store/profiles/counted_part.h"

#include <string>
#include <utility>

#include "profile/pprof.h"
#include "profile/selector.h"

namespace firetower::store {
namespace {

profile::Profile WithoutOthers(const profile::Profile& profile) {
  return profile::FilterSamples(
      profile, profile::Selector({*profile::Matcher::Create(std::string(kAlsoLabel),
                                                            profile::MatchOp::kEqual, "")}));
}

}  // namespace

Result<profile::Profile> CountedPart::Read(const CatalogRow& row, std::string_view pprof,
                                           std::string_view times) const {
  if (cut_) {
    ASSIGN_OR_RETURN(const profile::TimedProfile timed, profile::DecodeTimed(pprof, times));
    return CutOf(timed);
  }
  ASSIGN_OR_RETURN(const profile::Profile profile, profile::DecodePprof(pprof));
  return Of(row, profile, nullptr);
}

Result<profile::Profile> CountedPart::Of(const CatalogRow& row, const profile::Profile& profile,
                                         const profile::SampleTimes* times) const {
  if (cut_) return CutOf({profile, times == nullptr ? profile::SampleTimes() : *times});
  return Filtered(IsWhole(row) ? profile : WithoutOthers(profile));
}

profile::Profile CountedPart::Filtered(profile::Profile profile) const {
  return stacks_ ? stacks_->Apply(profile) : std::move(profile);
}

Result<profile::Profile> CountedPart::CutOf(const profile::TimedProfile& timed) const {
  if (timed.times.empty() && timed.profile.sample_count() > 0) {
    return Error(ErrorCode::kUnsupported,
                 "it does not say when its samples were taken: it is a capture, or of an agent "
                 "with --sample-times=false");
  }
  return Filtered(profile::CutToTime(timed, *cut_));
}

}  // namespace firetower::store
