// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/kube_client.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "k8s/status/api_call.h"
#include "k8s/watch/json_frames.h"
#include "k8s/watch/object_meta.h"
#include "net/url.h"

namespace firetower::cli {
namespace {

// Five times what etcd takes.
constexpr size_t kMaxObjectBytes = size_t{8} << 20;
constexpr std::string_view kPage = "500";  // kubectl's

// One object's text.
class TextSink : public k8s::BodySink {
 public:
  explicit TextSink(int64_t timeout_ns) : timeout_ns_(timeout_ns) {}
  bool OnBody(std::string_view bytes) override {
    text_ += bytes;
    return text_.size() <= kMaxObjectBytes;
  }
  int64_t idle_timeout_ns() const override { return timeout_ns_; }
  const std::string& text() const { return text_; }

 private:
  const int64_t timeout_ns_;
  std::string text_;
};

// One page of a list.
class PageSink : public k8s::BodySink, public k8s::FrameHandler {
 public:
  PageSink(const k8s::FieldSet& fields, std::vector<k8s::Node>& objects, int64_t timeout_ns)
      : fields_(fields),
        objects_(objects),
        timeout_ns_(timeout_ns),
        frames_(k8s::FrameMode::kList, kMaxObjectBytes, *this) {}
  bool OnBody(std::string_view bytes) override { return frames_.Feed(bytes); }
  int64_t idle_timeout_ns() const override { return timeout_ns_; }
  bool OnFrame(std::string_view json) override {
    Result<k8s::Node> object = k8s::ParseObject(json, fields_);
    if (object) objects_.push_back(*std::move(object));
    return objects_.size() < KubeClient::kMaxObjects;
  }
  bool OnSkipped(size_t) override { return true; }

  const Status& status() const { return frames_.status(); }
  // "" on the last page.
  Result<std::string> Continue() const {
    RETURN_IF_ERROR(frames_.Finish());
    ASSIGN_OR_RETURN(const k8s::Node envelope,
                     k8s::ParseObject(frames_.envelope(), {"metadata.continue"}));
    return std::string(k8s::TextAt(envelope, {"metadata", "continue"}));
  }

 private:
  const k8s::FieldSet& fields_;
  std::vector<k8s::Node>& objects_;
  const int64_t timeout_ns_;
  k8s::JsonFrames frames_;
};

// "profilingpolicies.firetower.dev".
std::string FullName(const KubeResource& resource) {
  std::string_view group = resource.api;
  if (!group.starts_with("/apis/")) return std::string(resource.plural);
  group.remove_prefix(6);
  return fmt::format("{}.{}", resource.plural, group.substr(0, group.find('/')));
}

std::string_view MethodOf(std::string_view verb) {
  if (verb == "create") return "POST";
  return verb == "delete" ? "DELETE" : "GET";
}

Failure Unreadable(const std::string& server, const std::string& why) {
  return {ExitCode::kFailure, fmt::format("{}'s answer cannot be read", server), why,
          "check that the kubeconfig names an API server"};
}

}  // namespace

KubeClient::KubeClient(ClusterAccess access, int64_t timeout_ns, bool verbose, const Clock& clock)
    : access_(std::move(access)),
      timeout_ns_(timeout_ns),
      verbose_(verbose),
      client_(access_.config, "firetower/" FIRETOWER_VERSION " (cli)", clock) {}

KubeClient::Question KubeClient::Ask(std::string_view verb, const KubeResource& resource,
                                     std::string_view name_space, std::string_view name) const {
  Question question{verb, resource, "", std::string(name), "", ""};
  if (resource.cluster || name_space == "*") return question;
  question.name_space = name_space.empty() ? access_.namespace_name : std::string(name_space);
  return question;
}

Failure KubeClient::Refused(const Question& question, const k8s::ApiReply& reply) const {
  const std::string why = k8s::MessageOf(reply.refusal);
  const std::string server = access_.config.ServerText();
  const std::string kind = FullName(question.resource);
  const std::string where =
      question.name_space.empty() ? "" : fmt::format(" in namespace {}", question.name_space);
  const auto failure = [&](int exit_code, std::string what, std::string fix) {
    return Failure{exit_code, std::move(what), why, std::move(fix), reply.status};
  };
  switch (reply.status) {
    case 401:
      return failure(ExitCode::kUnreachable,
                     fmt::format("{} does not accept your credentials", server),
                     "log in again, or choose another user with --context");
    case 403:
      return failure(
          ExitCode::kUnreachable, fmt::format("forbidden: {} {}{}", question.verb, kind, where),
          fmt::format("ask for that right; 'kubectl auth can-i {} {}{}' checks it", question.verb,
                      kind, question.name_space.empty() ? "" : " -n " + question.name_space));
    case 404:
      if (!question.name.empty() && why.find(question.name) != std::string::npos) {
        return failure(ExitCode::kFailure,
                       fmt::format("no {} called '{}'{}", kind, question.name, where),
                       "check the name, the namespace (-n) and the context (--context)");
      }
      if (why.starts_with("namespaces \"")) {
        return failure(ExitCode::kFailure, fmt::format("no namespace '{}'", question.name_space),
                       "check the namespace (-n) and the context (--context)");
      }
      return failure(ExitCode::kFailure, fmt::format("{} has no {}", server, kind),
                     "install the CustomResourceDefinitions: kubectl apply -f crd/");
    case 400:
    case 422:
      return failure(ExitCode::kUsage, fmt::format("{} refuses the object", server),
                     "change the fields that the reason names");
    default:
      return failure(ExitCode::kUnreachable, fmt::format("{} answered {}", server, reply.status),
                     "try again");
  }
}

Outcome<int> KubeClient::Send(const Question& question, k8s::BodySink& sink) {
  k8s::ApiRequest request;
  request.method = MethodOf(question.verb);
  request.target = question.resource.api;
  if (!question.name_space.empty()) request.target += "/namespaces/" + question.name_space;
  request.target += fmt::format("/{}", question.resource.plural);
  if (!question.name.empty()) request.target += "/" + question.name;
  request.target += question.query;
  if (!question.body.empty()) {
    request.body = question.body;
    request.content_type = "application/json";
  }
  const std::string server = access_.config.ServerText();
  if (verbose_)
    std::fprintf(stderr, "%s %s%s\n", request.method.c_str(), server.c_str(),
                 request.target.c_str());
  Result<k8s::ApiReply> reply = client_.Send(request, sink);
  if (!reply && reply.error().sys_errno() == ETIMEDOUT) {
    return Failure{ExitCode::kUnreachable, fmt::format("{} did not answer in time", server),
                   reply.error().message(),
                   "check that it runs and is not overloaded, and try again"};
  }
  if (!reply) {
    return Failure{ExitCode::kUnreachable, fmt::format("cannot reach {}", server),
                   reply.error().message(),
                   "check that it runs, and that the kubeconfig and its context have its address"};
  }
  if (!reply->ok()) return Refused(question, *reply);
  return reply->status;
}

Outcome<k8s::Node> KubeClient::SendForOne(const Question& question, const k8s::FieldSet& fields) {
  TextSink sink(timeout_ns_);
  Outcome<int> sent = Send(question, sink);
  if (!sent) return sent.failure();
  k8s::FieldSet all = fields;
  for (const std::string_view key : {"name", "namespace", "uid"}) all.Keep({"metadata", key});
  Result<k8s::Node> object = k8s::ParseObject(sink.text(), all);
  if (!object) return Unreadable(access_.config.ServerText(), object.error().message());
  return *std::move(object);
}

Outcome<k8s::Node> KubeClient::Get(const KubeResource& resource, std::string_view name_space,
                                   std::string_view name, const k8s::FieldSet& fields) {
  return SendForOne(Ask("get", resource, name_space, name), fields);
}

Outcome<std::vector<k8s::Node>> KubeClient::List(const KubeResource& resource,
                                                 std::string_view name_space,
                                                 const k8s::FieldSet& fields,
                                                 std::string_view labels, std::string_view where) {
  k8s::FieldSet all = fields;
  for (const std::string_view key : {"name", "namespace", "uid"}) all.Keep({"metadata", key});
  std::vector<k8s::Node> objects;
  std::string token;
  do {
    Question question = Ask("list", resource, name_space, "");
    net::NamedValues params = {{"limit", std::string(kPage)}};
    if (!labels.empty()) params.emplace_back("labelSelector", std::string(labels));
    if (!where.empty()) params.emplace_back("fieldSelector", std::string(where));
    if (!token.empty()) params.emplace_back("continue", token);
    question.query = net::EncodeQuery(params);
    PageSink sink(all, objects, timeout_ns_);
    Outcome<int> sent = Send(question, sink);
    if (objects.size() >= kMaxObjects) break;  // the sink wanted no more
    if (!sink.status())
      return Unreadable(access_.config.ServerText(), sink.status().error().message());
    if (!sent) return sent.failure();
    Result<std::string> next = sink.Continue();
    if (!next) return Unreadable(access_.config.ServerText(), next.error().message());
    token = *std::move(next);
  } while (!token.empty());
  return objects;
}

Outcome<k8s::Node> KubeClient::Create(const KubeResource& resource, std::string_view name_space,
                                      const std::string& body, const k8s::FieldSet& fields,
                                      bool dry_run) {
  Question question = Ask("create", resource, name_space, "");
  if (dry_run) question.query = "?dryRun=All";
  question.body = body;
  return SendForOne(question, fields);
}

Outcome<int> KubeClient::Delete(const KubeResource& resource, std::string_view name_space,
                                std::string_view name) {
  TextSink sink(timeout_ns_);
  return Send(Ask("delete", resource, name_space, name), sink);
}

Outcome<std::string> KubeClient::BearerToken() {
  Result<std::string> token = client_.BearerToken();
  if (token) return *std::move(token);
  return Failure{ExitCode::kUnreachable, "your credentials cannot be read", token.error().message(),
                 "log in again, or choose another user with --context"};
}

Outcome<std::shared_ptr<KubeClient>> OpenCluster(const Args& args, int64_t timeout_ns,
                                                 const Environment& environment) {
  Outcome<ClusterAccess> access = FindCluster(args, environment);
  if (!access) return access.failure();
  return std::make_shared<KubeClient>(*std::move(access), timeout_ns, args.Has("verbose"),
                                      Clock::System());
}

Outcome<std::shared_ptr<KubeClient>> ClusterOf(const Context& context) {
  if (context.cluster != nullptr) return context.cluster;
  return OpenCluster(context.args, context.timeout_ns, ProcessEnvironment);
}

std::string ProcessEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace firetower::cli
