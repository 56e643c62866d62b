// SPDX-License-Identifier: Apache-2.0
#include "daemon/policy/policy_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/fake_proc.h"
#include "tests/unit/daemon/policy/policies.h"

namespace firetower::daemon {
namespace {

using ::firetower::testing::ScratchFolder;
using ::firetower::testing::WriteText;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Policy(const std::string& name, int hertz = 49) {
  return Document(name, "mode: General, " + kContinuous + kAllPods +
                            ", profiles: [{type: CPU, frequencyHertz: " + std::to_string(hertz) +
                            "}]");
}

class PolicyStoreTest : public ::testing::Test {
 protected:
  std::string At(const std::string& name) const { return folder_.path() + "/" + name; }

  PolicyStore Open(const std::string& path) {
    Result<PolicyStore> store = PolicyStore::Open(path, clock_);
    if (!store) {
      ADD_FAILURE() << store.error().message();
      std::abort();
    }
    return *std::move(store);
  }
  static bool Told(const PolicyStore& store) {
    pollfd wait{store.fd(), POLLIN, 0};
    return ::poll(&wait, 1, 5000) == 1;
  }
  static bool Quiet(const PolicyStore& store) {
    pollfd wait{store.fd(), POLLIN, 0};
    return ::poll(&wait, 1, 0) == 0;
  }
  static std::vector<std::string> Names(const PolicyStore& store) {
    std::vector<std::string> names;
    for (const LoadedPolicy& loaded : store.policies()) names.push_back(loaded.policy.name);
    return names;
  }

  ScratchFolder folder_;
  FakeClock clock_{0, 1000};
};

TEST_F(PolicyStoreTest, ReadsAFolder) {
  WriteText(At("a.yaml"), Policy("one") + Policy("two"));
  WriteText(At("b.yml"), Policy("three"));
  WriteText(At("notes.txt"), "not a policy");
  PolicyStore store = Open(folder_.path());
  EXPECT_THAT(Names(store), ElementsAre("one", "two", "three"));
  EXPECT_THAT(store.errors(), IsEmpty());
}

TEST_F(PolicyStoreTest, AFifoInTheFolderCostsItselfAlone) {
  WriteText(At("a.yaml"), Policy("one"));
  WriteText(At("c.yaml"), Policy("three"));
  ASSERT_EQ(::mkfifo(At("b.yaml").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo(At("notes").c_str(), 0600), 0);
  ::alarm(10);  // opened as a file is, it waits for a writer for ever
  PolicyStore store = Open(folder_.path());
  ::alarm(0);
  EXPECT_THAT(Names(store), ElementsAre("one", "three"));
  ASSERT_EQ(store.errors().size(), 1u);
  EXPECT_EQ(store.errors()[0].ToString(),
            At("b.yaml") + ": " + At("b.yaml") + ": not a regular file, so not read");
}

TEST_F(PolicyStoreTest, NamesTheFlagWhenThereIsNothing) {
  Result<PolicyStore> store = PolicyStore::Open(At("missing"), clock_);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(store.error().message(), HasSubstr("--policy " + At("missing")));
}

TEST_F(PolicyStoreTest, HearsOfAWrittenFile) {
  WriteText(At("a.yaml"), Policy("one", 19));
  PolicyStore store = Open(At("a.yaml"));
  EXPECT_TRUE(Quiet(store));
  EXPECT_FALSE(store.Reload());
  WriteText(At("a.yaml"), Policy("one", 49));
  ASSERT_TRUE(Told(store));
  EXPECT_TRUE(store.Reload());
  EXPECT_TRUE(Quiet(store));
  EXPECT_EQ(k8s::CpuFrequencyHertz(store.policies()[0].policy.spec), 49);
}

TEST_F(PolicyStoreTest, HearsOfAFileRenamedIntoPlace) {
  WriteText(At("a.yaml"), Policy("one", 19));
  PolicyStore store = Open(At("a.yaml"));
  WriteText(At(".new"), Policy("one", 49));
  ASSERT_TRUE(Told(store));
  EXPECT_FALSE(store.Reload()) << "only the temporary file is there";
  std::filesystem::rename(At(".new"), At("a.yaml"));
  ASSERT_TRUE(Told(store));
  EXPECT_TRUE(store.Reload());
  EXPECT_EQ(k8s::CpuFrequencyHertz(store.policies()[0].policy.spec), 49);
}

TEST_F(PolicyStoreTest, HearsOfAConfigMapVolumeThatTurned) {
  // kubelet: a.yaml -> ..data/a.yaml, and ..data, a link, is replaced by renaming.
  WriteText(At("..1/a.yaml"), Policy("one", 19));
  WriteText(At("..2/a.yaml"), Policy("one", 49));
  std::filesystem::create_symlink("..1", At("..data"));
  std::filesystem::create_symlink("..data/a.yaml", At("a.yaml"));
  PolicyStore store = Open(folder_.path());
  ASSERT_THAT(Names(store), ElementsAre("one"));
  std::filesystem::create_symlink("..2", At("..data_tmp"));
  std::filesystem::rename(At("..data_tmp"), At("..data"));
  ASSERT_TRUE(Told(store));
  EXPECT_TRUE(store.Reload());
  EXPECT_EQ(k8s::CpuFrequencyHertz(store.policies()[0].policy.spec), 49);
}

TEST_F(PolicyStoreTest, ForgetsThePoliciesOfADeletedFile) {
  WriteText(At("a.yaml"), Policy("one"));
  WriteText(At("b.yaml"), Policy("two"));
  PolicyStore store = Open(folder_.path());
  std::filesystem::remove(At("a.yaml"));
  ASSERT_TRUE(Told(store));
  EXPECT_TRUE(store.Reload());
  EXPECT_THAT(Names(store), ElementsAre("two"));
  EXPECT_THAT(store.errors(), IsEmpty());
}

TEST_F(PolicyStoreTest, KeepsTheLastGoodVersionOfABadEdit) {
  WriteText(At("a.yaml"), Policy("one", 19));
  WriteText(At("b.yaml"), Policy("two", 19));
  PolicyStore store = Open(folder_.path());
  WriteText(At("a.yaml"), Policy("one", -5));
  WriteText(At("b.yaml"), Policy("two", 49));
  ASSERT_TRUE(Told(store));
  EXPECT_TRUE(store.Reload());
  ASSERT_EQ(store.errors().size(), 1u);
  EXPECT_THAT(store.errors()[0].ToString(), HasSubstr("a.yaml"));
  ASSERT_THAT(Names(store), ::testing::UnorderedElementsAre("one", "two"));
  for (const LoadedPolicy& loaded : store.policies()) {
    EXPECT_EQ(k8s::CpuFrequencyHertz(loaded.policy.spec), loaded.policy.name == "one" ? 19 : 49);
  }
  WriteText(At("a.yaml"), Policy("one", 25));
  ASSERT_TRUE(Told(store));
  EXPECT_TRUE(store.Reload());
  EXPECT_THAT(store.errors(), IsEmpty());
  EXPECT_EQ(k8s::CpuFrequencyHertz(store.policies()[0].policy.spec), 25);
}

TEST_F(PolicyStoreTest, KeepsTheLastGoodVersionThroughTwoBadEdits) {
  WriteText(At("a.yaml"), Policy("one", 19));
  PolicyStore store = Open(At("a.yaml"));
  for (const char* text : {"kind: [", "}: nonsense"}) {
    WriteText(At("a.yaml"), text);
    ASSERT_TRUE(Told(store));
    EXPECT_TRUE(store.Reload());
    EXPECT_THAT(Names(store), ElementsAre("one"));
    EXPECT_FALSE(store.errors().empty());
  }
}

TEST_F(PolicyStoreTest, CountsDeadlinesFromThePolicysFirstSight) {
  WriteText(At("a.yaml"), Policy("one", 19));
  PolicyStore store = Open(At("a.yaml"));
  clock_.Advance(500);
  WriteText(At("a.yaml"), Policy("one", 49) + Policy("two"));
  ASSERT_TRUE(Told(store));
  EXPECT_TRUE(store.Reload());
  ASSERT_THAT(Names(store), ElementsAre("one", "two"));
  EXPECT_EQ(store.policies()[0].since_ns, 1000);
  EXPECT_EQ(store.policies()[1].since_ns, 1500);
}

}  // namespace
}  // namespace firetower::daemon
