// SPDX-License-Identifier: Apache-2.0
#include "k8s/watch/object_fields.h"

#include <gtest/gtest.h>

#include "k8s/watch/object_meta.h"

namespace firetower::k8s {
namespace {

constexpr std::string_view kPod =
    R"({"metadata":{"name":"a","namespace":"shop","uid":"u","resourceVersion":"9",)"
    R"("managedFields":[{"x":{"y":[1]}}],"labels":{"app":"cart"}},)"
    R"("spec":{"containers":[{"name":"c","env":[{"name":"name"}]},{"env":[]},{"name":"d"}]},)"
    R"("status":{"ready":true,"n":-3,"f":1.5,"none":null}})";

TEST(ParseObject, KeepsOnlyWhatIsWanted) {
  Result<Node> pod =
      ParseObject(kPod, {"metadata.name", "metadata.labels", "spec.containers.name"});
  ASSERT_TRUE(pod) << pod.error().message();
  EXPECT_EQ(pod->entries.size(), 2u);  // no status
  EXPECT_EQ(TextAt(*pod, {"metadata", "name"}), "a");
  EXPECT_EQ(TextAt(*pod, {"metadata", "labels", "app"}), "cart");
  EXPECT_EQ(pod->Find("metadata")->Find("managedFields"), nullptr);
  const Node* containers = pod->Find("spec")->Find("containers");
  ASSERT_EQ(containers->items.size(), 3u);
  EXPECT_EQ(TextAt(containers->items[0], {"name"}), "c");
  EXPECT_EQ(containers->items[0].Find("env"), nullptr);
  EXPECT_TRUE(containers->items[1].entries.empty());
  EXPECT_EQ(TextAt(containers->items[2], {"name"}), "d");
}

TEST(ParseObject, KnowsTheKindsOfValues) {
  Result<Node> pod = ParseObject(kPod, {"status"});
  ASSERT_TRUE(pod);
  const Node* status = pod->Find("status");
  EXPECT_EQ(status->Find("ready")->kind, NodeKind::kBool);
  EXPECT_EQ(status->Find("n")->kind, NodeKind::kInteger);
  EXPECT_EQ(status->Find("n")->text, "-3");
  EXPECT_EQ(status->Find("f")->kind, NodeKind::kFloat);
  EXPECT_EQ(status->Find("none")->kind, NodeKind::kNull);
}

TEST(ParseObject, KeysWithDotsAndPathsBelowAKey) {
  FieldSet fields;
  fields.Keep({"metadata", "annotations", "k8s.io/end"});
  FieldSet event;
  event.KeepBelow("object", fields);
  Result<Node> node = ParseObject(
      R"({"object":{"metadata":{"annotations":{"k8s.io/end":"true","b":"c"}}}})", event);
  ASSERT_TRUE(node);
  EXPECT_EQ(TextAt(*node, {"object", "metadata", "annotations", "k8s.io/end"}), "true");
  EXPECT_EQ(node->Find("object")->Find("metadata")->Find("annotations")->entries.size(), 1u);
}

TEST(ParseObject, IdentifiesAnObject) {
  FieldSet all;
  all.Keep({});
  const ObjectMeta meta = MetaOf(*ParseObject(kPod, all));
  EXPECT_EQ(meta.key, "shop/a");
  EXPECT_EQ(meta.uid, "u");
  EXPECT_EQ(meta.resource_version, "9");
  EXPECT_EQ(MetaOf(*ParseObject(R"({"metadata":{"name":"n"}})", all)).key, "/n");
  EXPECT_EQ(MetaOf(*ParseObject("{}", all)).key, "");
}

TEST(ParseObject, EveryPrefixIsRefused) {
  for (size_t size = 0; size < kPod.size(); ++size) {
    Result<Node> pod = ParseObject(kPod.substr(0, size), {"metadata"});
    ASSERT_FALSE(pod) << size;
    EXPECT_EQ(pod.error().code(), ErrorCode::kCorrupt);
  }
}

TEST(ParseObject, RefusesWhatItCannotTrust) {
  for (const std::string_view text :
       {"[]", "1", "null", R"({"metadata":{"name":"a","name":"b"}})", "{\"metadata\":\"\xff\"}",
        R"({"metadata":1}x)", R"({"metadata":1e999})"})
    EXPECT_FALSE(ParseObject(text, {"metadata"})) << text;
}

TEST(ParseObject, BoundsWhatIsKeptButNotWhatIsNot) {
  std::string wide = R"({"skip":[)";
  for (size_t i = 0; i < kMaxObjectNodes + 10; ++i) wide += "0,";
  wide += R"(0],"keep":1})";
  EXPECT_TRUE(ParseObject(wide, {"keep"}));
  Result<Node> all = ParseObject(wide, {"skip"});
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code(), ErrorCode::kExhausted);
}

TEST(ParseObject, BoundsTheDepthOfWhatIsKept) {
  const auto nested = [](size_t lists) {
    return R"({"a":)" + std::string(lists, '[') + std::string(lists, ']') + "}";
  };
  EXPECT_TRUE(ParseObject(nested(kMaxObjectDepth - 1), {"a"}));
  Result<Node> deeper = ParseObject(nested(kMaxObjectDepth), {"a"});
  ASSERT_FALSE(deeper);
  EXPECT_EQ(deeper.error().code(), ErrorCode::kExhausted);
  EXPECT_TRUE(ParseObject(nested(kMaxObjectNodes * 2), {"b"})) << "not kept";
}

}  // namespace
}  // namespace firetower::k8s
