// SPDX-License-Identifier: Apache-2.0
#include "hub/profiles/own_rights.h"

#include "base/log.h"
#include "k8s/access/review.h"

namespace firetower::hub {

OwnRights::OwnRights(k8s::ApiServer& server)
    : server_(server),
      now_{{"authentication.k8s.io", "tokenreviews", std::nullopt, "not asked yet"},
           {"authorization.k8s.io", "subjectaccessreviews", std::nullopt, "not asked yet"}} {
  rights_.Publish(std::make_shared<const std::vector<OwnRight>>(now_));
}

void OwnRights::Look() {
  for (OwnRight& right : now_) {
    const Result<bool> reviewed = k8s::ReviewOwnRight(server_, right.group, right.resource);
    // If the API server does not answer, the last known rights are used.
    right.message = reviewed ? "" : reviewed.error().message();
    if (!reviewed) continue;
    const bool is_news = right.allowed != *reviewed;
    right.allowed = *reviewed;
    if (!*reviewed && is_news) {
      LOG(kWarn, "the hub is not allowed to check who may read profiles, so it answers no query",
          {{"grant", "create"}, {"resource", right.resource}, {"group", right.group}});
    }
  }
  rights_.Publish(std::make_shared<const std::vector<OwnRight>>(now_));
}

}  // namespace firetower::hub
