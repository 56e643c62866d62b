// SPDX-License-Identifier: Apache-2.0
// Reviews the identity and rights of a bearer token. The API server decides, as it does for its own
// requests.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "k8s/client/api_client.h"

namespace firetower::k8s {

// The attributes of a user that authorizers use (authentication.k8s.io/v1 UserInfo).
struct UserInfo {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;

  bool operator==(const UserInfo&) const = default;
};

// authorization.k8s.io/v1 ResourceAttributes; the verb is get.
struct ResourceQuestion {
  std::string namespace_name;  // empty: in all, or of no namespace
  std::string group;
  std::string resource;
  std::string subresource;
};

// Returns the token's user; nullopt if the token is invalid. kPermission: this program may not ask
// (tokenreviews, create).
Result<std::optional<UserInfo>> ReviewToken(ApiServer& server, std::string_view token);

// Tells whether the user has the right. kPermission: this program may not ask
// (subjectaccessreviews, create).
Result<bool> ReviewAccess(ApiServer& server, const UserInfo& user,
                          const ResourceQuestion& question);

// The same of a path of no object, such as /metrics; the verb is get.
Result<bool> ReviewPathAccess(ApiServer& server, const UserInfo& user, std::string_view path);

// Whether this program itself may create such objects, everywhere. kPermission: not even that may
// it ask (selfsubjectaccessreviews, which every account may unless somebody took it away).
Result<bool> ReviewOwnRight(ApiServer& server, std::string_view group, std::string_view resource);

}  // namespace firetower::k8s
