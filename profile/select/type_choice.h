// SPDX-License-Identifier: Apache-2.0
// Finds the profile type that a selector asks for. The labels of a type are Pyroscope's:
// __profile_type__ (the id), __name__, and the other parts of the id: __type__, __unit__,
// __period_type__, __period_unit__. One of our profiles has several ids, one for each of its
// values. So these matchers select values of a type, and all of them must match the same id.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/selector.h"
#include "profile/type.h"

namespace firetower::profile {

struct TypeChoice {
  std::optional<TypeSelection> type = {};  // unset: of every type that `any_of` lets pass
  Selector rest = {};                      // what was asked of other labels
  // Of some, one has to match as well; over the label `type`, and of events over all.
  std::vector<Selector> any_of = {};
};

// Chooses the type. Also accepts our spelling of names (__name__="cpu" is __name__="process_cpu").
// The type is `named`, else the one that an equality of `asked` names, else `otherwise`, else any.
// If matchers contradict one another or the type, the choice matches no profile. kInvalid: the name
// is of no type.
Result<TypeChoice> ChooseType(const Selector& asked, std::string_view named,
                              std::string_view otherwise);

}  // namespace firetower::profile
