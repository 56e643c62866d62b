// SPDX-License-Identifier: Apache-2.0
// Which type a selector asks for. A type's labels are Pyroscope's: __profile_type__ (the id),
// __name__ and what else stands in the id, __type__, __unit__, __period_type__, __period_unit__.
// One profile of ours has several ids, one for each of its values, so these matchers are about the
// values of a type; together they hold where one id satisfies all.
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

// Names are read in our spelling as well (__name__="cpu" is __name__="process_cpu"). The type is
// `named`, else what an equality of `asked` names, else `otherwise`, else any. Matchers that
// contradict one another, or the type, choose what no profile is of. kInvalid: a name of no type.
Result<TypeChoice> ChooseType(const Selector& asked, std::string_view named,
                              std::string_view otherwise);

}  // namespace firetower::profile
