// SPDX-License-Identifier: Apache-2.0
#include "k8s/access/review.h"

#include <fmt/core.h>

#include "base/json.h"
#include "k8s/status/api_call.h"
#include "k8s/watch/object_fields.h"
#include "k8s/watch/object_meta.h"

namespace firetower::k8s {
namespace {

std::string ListJson(const std::vector<std::string>& texts) {
  std::string json = "[";
  for (const std::string& text : texts)
    json += fmt::format(R"({}"{}")", json.size() > 1 ? "," : "", JsonEscape(text));
  return json + "]";
}

std::string ExtraJson(const UserInfo& user) {
  std::string json = "{";
  for (const auto& [key, values] : user.extra)
    json +=
        fmt::format(R"({}"{}":{})", json.size() > 1 ? "," : "", JsonEscape(key), ListJson(values));
  return json + "}";
}

Result<Node> Ask(ApiServer& server, std::string_view resource, std::string target, std::string body,
                 const FieldSet& fields) {
  ApiRequest request;
  request.method = "POST";
  request.target = std::move(target);
  request.body = std::move(body);
  request.content_type = kJson;
  ASSIGN_OR_RETURN(const ApiAnswer answer, Call(server, request));
  if (!answer.ok()) {
    const ErrorCode code = answer.status == 401 || answer.status == 403 ? ErrorCode::kPermission
                                                                        : ErrorCode::kUnavailable;
    return Error(code, fmt::format("the API server answers {} to create {}: {}", answer.status,
                                   resource, answer.message));
  }
  return ParseObject(answer.body, fields);
}

std::vector<std::string> TextsOf(const Node* list) {
  std::vector<std::string> texts;
  if (list == nullptr) return texts;
  for (const Node& item : list->items) texts.push_back(item.text);
  return texts;
}

const Node* At(const Node& object, std::initializer_list<std::string_view> keys) {
  const Node* node = &object;
  for (std::string_view key : keys) {
    if (node != nullptr) node = node->Find(key);
  }
  return node;
}

}  // namespace

Result<std::optional<UserInfo>> ReviewToken(ApiServer& server, std::string_view token) {
  const std::string body = fmt::format(
      R"({{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{{"token":"{}"}}}})",
      JsonEscape(token));
  ASSIGN_OR_RETURN(const Node review,
                   Ask(server, "tokenreviews", "/apis/authentication.k8s.io/v1/tokenreviews", body,
                       {"status.authenticated", "status.user"}));
  if (TextAt(review, {"status", "authenticated"}) != "true") return std::optional<UserInfo>();
  UserInfo user;
  user.name = TextAt(review, {"status", "user", "username"});
  user.uid = TextAt(review, {"status", "user", "uid"});
  user.groups = TextsOf(At(review, {"status", "user", "groups"}));
  if (const Node* extra = At(review, {"status", "user", "extra"})) {
    for (const NodeEntry& entry : extra->entries) user.extra[entry.key] = TextsOf(&entry.value);
  }
  if (user.name.empty())
    return Error(ErrorCode::kCorrupt, "the API server knows the token, but returns no user name");
  return std::optional<UserInfo>(std::move(user));
}

namespace {

// `attributes`: one member of the spec, as JSON.
Result<bool> ReviewSubject(ApiServer& server, const UserInfo& user, std::string_view attributes) {
  const std::string body = fmt::format(
      R"({{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{{)"
      R"("user":"{}","uid":"{}","groups":{},"extra":{},{}}}}})",
      JsonEscape(user.name), JsonEscape(user.uid), ListJson(user.groups), ExtraJson(user),
      attributes);
  ASSIGN_OR_RETURN(const Node review, Ask(server, "subjectaccessreviews",
                                          "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                                          body, {"status.allowed"}));
  return TextAt(review, {"status", "allowed"}) == "true";
}

}  // namespace

Result<bool> ReviewAccess(ApiServer& server, const UserInfo& user,
                          const ResourceQuestion& question) {
  return ReviewSubject(
      server, user,
      fmt::format(R"("resourceAttributes":{{"namespace":"{}","verb":"get","group":"{}",)"
                  R"("resource":"{}","subresource":"{}"}})",
                  JsonEscape(question.namespace_name), JsonEscape(question.group),
                  JsonEscape(question.resource), JsonEscape(question.subresource)));
}

Result<bool> ReviewPathAccess(ApiServer& server, const UserInfo& user, std::string_view path) {
  return ReviewSubject(
      server, user,
      fmt::format(R"("nonResourceAttributes":{{"path":"{}","verb":"get"}})", JsonEscape(path)));
}

Result<bool> ReviewOwnRight(ApiServer& server, std::string_view group, std::string_view resource) {
  const std::string body = fmt::format(
      R"({{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{{)"
      R"("resourceAttributes":{{"verb":"create","group":"{}","resource":"{}"}}}}}})",
      JsonEscape(group), JsonEscape(resource));
  ASSIGN_OR_RETURN(const Node review, Ask(server, "selfsubjectaccessreviews",
                                          "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                                          body, {"status.allowed"}));
  return TextAt(review, {"status", "allowed"}) == "true";
}

}  // namespace firetower::k8s
