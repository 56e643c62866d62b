// SPDX-License-Identifier: Apache-2.0
#include "daemon/policy/cluster_view.h"

#include <fmt/core.h>

#include <utility>

namespace firetower::daemon {
namespace {

// Bound as for pods: more labels than a person gives an object.
constexpr size_t kMaxLabels = 256;

const k8s::Labels* Find(const std::shared_ptr<const LabelStore::Objects>& objects,
                        std::string_view name) {
  if (objects == nullptr) return nullptr;
  const auto found = objects->find(fmt::format("/{}", name));
  return found == objects->end() ? nullptr : found->second.value.get();
}

k8s::Resource LabelledResource(std::string_view name) {
  k8s::Resource resource;
  resource.name = name;
  resource.path = fmt::format("/api/v1/{}", name);
  resource.fields = {"metadata.labels"};
  return resource;
}

Result<k8s::Labels> LabelsOf(const k8s::Node& object) {
  k8s::Labels labels;
  const k8s::Node* metadata = object.Find("metadata");
  const k8s::Node* given = metadata == nullptr ? nullptr : metadata->Find("labels");
  if (given == nullptr) return labels;
  if (given->entries.size() > kMaxLabels)
    return Error(ErrorCode::kExhausted, fmt::format("more than {} labels", kMaxLabels));
  for (const k8s::NodeEntry& entry : given->entries) labels.emplace(entry.key, entry.value.text);
  return labels;
}

}  // namespace

const k8s::Labels* ClusterView::NamespaceLabels(std::string_view name) const {
  return Find(namespaces, name);
}

std::string ClusterView::NodeUid() const {
  if (nodes == nullptr) return "";
  const auto found = nodes->find(fmt::format("/{}", node_name));
  return found == nodes->end() ? "" : found->second.uid;
}

const k8s::Labels* ClusterView::NodeLabels() const { return Find(nodes, node_name); }

ClusterLabels::ClusterLabels(std::string node_name, const std::function<void()>& on_change)
    : node_name_(std::move(node_name)),
      namespaces_(LabelsOf, kMaxNamespaces, nullptr, on_change),
      nodes_(LabelsOf, 1, nullptr, on_change) {}

k8s::Resource ClusterLabels::Namespaces() { return LabelledResource("namespaces"); }

k8s::Resource ClusterLabels::Node() const {
  k8s::Resource resource = LabelledResource("nodes");
  resource.field_selector = fmt::format("metadata.name={}", node_name_);
  return resource;
}

ClusterView ClusterLabels::View(std::shared_ptr<const k8s::PodIndex> pods) const {
  return {std::move(pods), namespaces_.Get(), nodes_.Get(), node_name_, false};
}

}  // namespace firetower::daemon
