// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "cli/cluster/access.h"
#include "cli/commands/commands.h"
#include "k8s/client/api_client.h"
#include "k8s/document/node.h"
#include "k8s/watch/object_fields.h"

namespace firetower::cli {

// A kind of objects, as the API server and `kubectl auth can-i` name it.
struct KubeResource {
  std::string_view api;     // "/apis/firetower.dev/v1alpha1"
  std::string_view plural;  // "profilingpolicies"
  bool cluster = false;     // its objects are in no namespace
};

inline constexpr KubeResource kProfilingPolicies{"/apis/firetower.dev/v1alpha1",
                                                 "profilingpolicies"};
inline constexpr KubeResource kClusterProfilingPolicies{"/apis/firetower.dev/v1alpha1",
                                                        "clusterprofilingpolicies", true};
inline constexpr KubeResource kProfilingNodes{"/apis/firetower.dev/v1alpha1", "profilingnodes",
                                              true};
inline constexpr KubeResource kPods{"/api/v1", "pods"};
inline constexpr KubeResource kNodes{"/api/v1", "nodes", true};
inline constexpr KubeResource kNamespaces{"/api/v1", "namespaces", true};
inline constexpr KubeResource kEvents{"/api/v1", "events"};
inline constexpr KubeResource kDaemonSets{"/apis/apps/v1", "daemonsets"};
inline constexpr KubeResource kDeployments{"/apis/apps/v1", "deployments"};

// Client that sends the user's requests to the API server. Each one returns an answer, or a Failure
// that tells the user what is missing. A Failure has the reply's status, or 0 without a reply.
class KubeClient {
 public:
  // `clock` must outlive this.
  KubeClient(ClusterAccess access, int64_t timeout_ns, bool verbose, const Clock& clock);

  // An empty namespace means that of the access; "*" means all.
  Outcome<k8s::Node> Get(const KubeResource& resource, std::string_view name_space,
                         std::string_view name, const k8s::FieldSet& fields);
  // Returns at most kMaxObjects objects. `labels` is a label selector: "app=web"; `where` is a
  // field selector: "involvedObject.kind=Pod".
  Outcome<std::vector<k8s::Node>> List(const KubeResource& resource, std::string_view name_space,
                                       const k8s::FieldSet& fields, std::string_view labels = "",
                                       std::string_view where = "");
  Outcome<k8s::Node> Create(const KubeResource& resource, std::string_view name_space,
                            const std::string& body, const k8s::FieldSet& fields, bool dry_run);
  Outcome<int> Delete(const KubeResource& resource, std::string_view name_space,
                      std::string_view name);

  // Returns the bearer token of the kubeconfig's user; "" when the user has only a certificate.
  Outcome<std::string> BearerToken();

  const std::string& namespace_name() const { return access_.namespace_name; }
  // For requests that do not go to the API server itself.
  k8s::ApiClient& api() { return client_; }

  static constexpr size_t kMaxObjects = 20000;

 private:
  struct Question {
    std::string_view verb;
    const KubeResource& resource;
    std::string name_space;  // "" for all, or for what is in none
    std::string name;
    std::string query;  // with its '?'
    std::string body;
  };
  Question Ask(std::string_view verb, const KubeResource& resource, std::string_view name_space,
               std::string_view name) const;
  Outcome<int> Send(const Question& question, k8s::BodySink& sink);
  Outcome<k8s::Node> SendForOne(const Question& question, const k8s::FieldSet& fields);
  Failure Refused(const Question& question, const k8s::ApiReply& reply) const;

  const ClusterAccess access_;
  const int64_t timeout_ns_;
  const bool verbose_;
  k8s::ApiClient client_;
};

// Opens the cluster that a command's flags and the environment name. Nothing connects yet.
Outcome<std::shared_ptr<KubeClient>> OpenCluster(const Args& args, int64_t timeout_ns,
                                                 const Environment& environment);
// Returns the cluster whose hub the command asks, else opens one in the same way.
Outcome<std::shared_ptr<KubeClient>> ClusterOf(const Context& context);

// Reads a variable of this process's environment.
std::string ProcessEnvironment(const char* name);

}  // namespace firetower::cli
