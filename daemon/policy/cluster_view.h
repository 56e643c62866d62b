// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "k8s/pods/pod_index.h"
#include "k8s/selector.h"
#include "k8s/watch/object_store.h"
#include "k8s/watch/reflector.h"

namespace firetower::daemon {

// The labels of cluster-wide objects, by "/name".
using LabelStore = k8s::ObjectStore<k8s::Labels>;

// The API server's objects that policies are matched against, at one moment. A member is nullptr
// until its first complete list has arrived.
struct ClusterView {
  std::shared_ptr<const k8s::PodIndex> pods;
  std::shared_ptr<const LabelStore::Objects> namespaces;
  std::shared_ptr<const LabelStore::Objects> nodes;  // this node alone
  std::string node_name;
  bool ignore_opt_out = false;

  // Return nullptr while the labels are not known.
  const k8s::Labels* NamespaceLabels(std::string_view name) const;
  const k8s::Labels* NodeLabels() const;
  // Returns "" while it is not known.
  std::string NodeUid() const;
};

// The labels of namespaces and of this node, updated by watches on their threads. Kubernetes
// supports 10,000 namespaces; further ones are unknown here, so no selector matches them.
class ClusterLabels {
 public:
  static constexpr size_t kMaxNamespaces = 10000;

  // `on_change` is called on the watches' threads.
  ClusterLabels(std::string node_name, const std::function<void()>& on_change);

  static k8s::Resource Namespaces();
  k8s::Resource Node() const;
  k8s::ObjectConsumer& namespaces() { return namespaces_; }
  k8s::ObjectConsumer& nodes() { return nodes_; }

  // Returns the current objects; any thread.
  ClusterView View(std::shared_ptr<const k8s::PodIndex> pods) const;

 private:
  const std::string node_name_;
  LabelStore namespaces_;
  LabelStore nodes_;
};

}  // namespace firetower::daemon
