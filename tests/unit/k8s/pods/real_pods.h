// SPDX-License-Identifier: Apache-2.0
// Recordings of kube-apiserver 1.36 and kubelet about real pods on one node. pods.json is a list of
// them, brief-watch.json the watch of one that lived 300 ms and was deleted. The cgroups that these
// containers had, as runc made them, are named in the tests that need them.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "k8s/pods/pod.h"
#include "k8s/watch/json_frames.h"
#include "k8s/watch/object_fields.h"

namespace firetower::k8s {

std::string RealText(const std::string& name);

class Frames : public FrameHandler {
 public:
  bool OnFrame(std::string_view json) override {
    texts.emplace_back(json);
    return true;
  }
  bool OnSkipped(size_t) override { return false; }
  std::vector<std::string> texts;
};

// The objects of the list, or the events of the watch, each as its JSON text.
inline std::vector<std::string> RealFrames(const std::string& name, FrameMode mode) {
  Frames frames;
  JsonFrames cut(mode, 1 << 20, frames);
  EXPECT_TRUE(cut.Feed(RealText(name)));
  return std::move(frames.texts);
}

// Adds the fields that a Reflector keeps.
inline FieldSet WithIdentity(FieldSet fields) {
  for (const std::string_view name : {"name", "namespace", "uid", "resourceVersion"})
    fields.Keep({"metadata", name});
  return fields;
}

inline Node Parsed(std::string_view json) {
  Result<Node> node = ParseObject(json, WithIdentity(PodFields()));
  EXPECT_TRUE(node) << node.error().message();
  return node.value_or(Node{});
}

// The pod of the list whose name begins so.
inline Node RealPodNode(const std::string& prefix) {
  for (const std::string& text : RealFrames("pods.json", FrameMode::kList)) {
    Node node = Parsed(text);
    if (node.Find("metadata")->Find("name")->text.starts_with(prefix)) return node;
  }
  ADD_FAILURE() << "no pod " << prefix;
  return {};
}

}  // namespace firetower::k8s
