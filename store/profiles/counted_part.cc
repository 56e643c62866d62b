// SPDX-License-Identifier: Apache-2.0
#include "store/profiles/counted_part.h"

#include <string>

#include "profile/selector.h"

namespace firetower::store {

profile::Profile CountedPart::Of(const profile::Profile& profile) {
  return profile::FilterSamples(
      profile, profile::Selector({*profile::Matcher::Create(std::string(kAlsoLabel),
                                                            profile::MatchOp::kEqual, "")}));
}

}  // namespace firetower::store
