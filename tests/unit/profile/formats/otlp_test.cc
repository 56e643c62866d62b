// SPDX-License-Identifier: Apache-2.0
// Field numbers stand here as digits, as opentelemetry-proto v1.11.1 has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "profile/otlp/request.h"
#include "profile/otlp/response.h"
#include "tests/support/push/proto_message.h"
#include "tests/support/sample_profiles.h"

namespace firetower::profile {
namespace {

using ::firetower::testing::ProtoMessage;
using ::firetower::testing::StackBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr int64_t kStartNs = 1'700'000'000'000'000'000;

// A request as a receiver reads it.
class Received {
 public:
  explicit Received(std::string bytes)
      : request_(std::move(bytes)), dictionary_(request_.Message(2)) {}

  const ProtoMessage& dictionary() const { return dictionary_; }
  std::vector<ProtoMessage> resources() const { return request_.Messages(1); }
  std::vector<ProtoMessage> profiles(size_t resource = 0) const {
    return resources().at(resource).Message(2).Messages(2);
  }
  std::string Text(uint64_t index) const { return dictionary_.Texts(5).at(index); }

  // "type/unit"
  std::string TypeOf(const ProtoMessage& value_type) const {
    return Text(value_type.Number(1)) + "/" + Text(value_type.Number(2));
  }
  // "root;…;leaf" of each sample, with its values.
  std::map<std::string, std::vector<uint64_t>> Folded(const ProtoMessage& profile) const {
    std::map<std::string, std::vector<uint64_t>> folded;
    for (const ProtoMessage& sample : profile.Messages(2)) {
      std::string text;
      for (const ProtoMessage& location : LocationsOf(sample)) {
        for (const ProtoMessage& line : location.Messages(3)) {
          const ProtoMessage function = dictionary_.Messages(3).at(line.Number(1));
          text = Text(function.Number(1)) + (text.empty() ? "" : ";") + text;
        }
      }
      EXPECT_FALSE(folded.contains(text)) << text;
      folded[text] = sample.Numbers(4);
    }
    return folded;
  }
  // Leaf first.
  std::vector<ProtoMessage> LocationsOf(const ProtoMessage& sample) const {
    std::vector<ProtoMessage> locations;
    const ProtoMessage stack = dictionary_.Messages(7).at(sample.Number(1));
    for (const uint64_t index : stack.Numbers(1))
      locations.push_back(dictionary_.Messages(2).at(index));
    return locations;
  }
  // Returns the attributes that a message refers to in its field of that number.
  std::map<std::string, ProtoMessage> Attributes(const ProtoMessage& of, uint32_t field) const {
    std::map<std::string, ProtoMessage> attributes;
    for (const uint64_t index : of.Numbers(field)) {
      const ProtoMessage one = dictionary_.Messages(6).at(index);
      attributes[Text(one.Number(1))] = one.Message(2);
    }
    return attributes;
  }

 private:
  ProtoMessage request_;
  ProtoMessage dictionary_;
};

Received Sent(const Profile& profile, const std::vector<OtlpAttribute>& resource = {}) {
  OtlpRequest request("firetower", "1.2.3");
  request.Add(profile, resource, "one");
  return Received(request.Take());
}

TEST(OtlpRequest, HoldsStacksAndTheValuesOfEachTypeTheDefaultOneFirst) {
  StackBuilder stacks(kStartNs);
  stacks.Add({"main", "serve", "parse"}, 3).Add({"main", "serve"}, 2).Add({"main"}, 1);
  const Received received = Sent(stacks.Build());
  const std::vector<ProtoMessage> profiles = received.profiles();
  ASSERT_THAT(profiles, SizeIs(2));
  EXPECT_EQ(received.TypeOf(profiles[0].Message(1)), "cpu/nanoseconds");
  EXPECT_THAT(received.Folded(profiles[0]),
              UnorderedElementsAre(Pair("main;serve;parse", ElementsAre(30'000'000u)),
                                   Pair("main;serve", ElementsAre(20'000'000u)),
                                   Pair("main", ElementsAre(10'000'000u))));
  EXPECT_EQ(received.TypeOf(profiles[1].Message(1)), "samples/count");
  EXPECT_THAT(
      received.Folded(profiles[1]),
      UnorderedElementsAre(Pair("main;serve;parse", ElementsAre(3u)),
                           Pair("main;serve", ElementsAre(2u)), Pair("main", ElementsAre(1u))));
}

TEST(OtlpRequest, SaysWhenHowLongAndHowOften) {
  const Received received = Sent(StackBuilder(kStartNs).Add({"main"}, 1).Build());
  for (const ProtoMessage& profile : received.profiles()) {
    ASSERT_THAT(profile.All(3), SizeIs(1));
    EXPECT_EQ(profile.All(3)[0].type, ProtoMessage::kFixed64);
    EXPECT_EQ(profile.Number(3), uint64_t{kStartNs});
    EXPECT_EQ(profile.Number(4), 60'000'000'000u);
    EXPECT_EQ(received.TypeOf(profile.Message(5)), "cpu/nanoseconds");
    EXPECT_EQ(profile.Number(6), 10'000'000u);
  }
}

TEST(OtlpRequest, BeginsEachTableWithItsZeroValue) {
  const Received received = Sent(StackBuilder().Add({"main"}, 1).Build());
  for (const uint32_t table : {1u, 2u, 3u, 5u, 6u, 7u}) {
    ASSERT_TRUE(received.dictionary().Has(table)) << table;
    EXPECT_EQ(received.dictionary().Texts(table)[0], "") << table;
  }
  const std::vector<ProtoMessage> links = received.dictionary().Messages(4);
  ASSERT_THAT(links, SizeIs(1));
  EXPECT_EQ(links[0].Text(1), std::string(16, '\0'));
  EXPECT_EQ(links[0].Text(2), std::string(8, '\0'));
}

TEST(OtlpRequest, NamesTheResourceAndTheScope) {
  const Received received = Sent(StackBuilder().Add({"main"}, 1).Build(),
                                 {{"k8s.pod.name", "cart-0"}, {"container.id", ""}});
  std::map<std::string, std::string> attributes;
  for (const ProtoMessage& pair : received.resources().at(0).Message(1).Messages(1))
    attributes[pair.Text(1)] = pair.Message(2).Text(1);
  EXPECT_THAT(attributes, ElementsAre(Pair("k8s.pod.name", "cart-0")));
  const ProtoMessage scope = received.resources().at(0).Message(2).Message(1);
  EXPECT_EQ(scope.Text(1), "firetower");
  EXPECT_EQ(scope.Text(2), "1.2.3");
}

TEST(OtlpRequest, CallsLabelsAsTheConventionsDo) {
  StackBuilder stacks;
  const uint32_t leaf = stacks.Frame("main");
  const std::array<int64_t, 2> values{1, 2};
  const std::array labels{stacks.builder().StringLabel("thread", "worker-1"),
                          stacks.builder().StringLabel("comm", "java"),
                          stacks.builder().StringLabel("request", "GET"),
                          stacks.builder().NumberLabel("cpu", 0, "")};
  stacks.builder().AddSample({&leaf, 1}, values, labels);
  const Received received = Sent(stacks.Build());
  const auto attributes =
      received.Attributes(received.profiles().at(0).Messages(2).at(0), /*attribute_indices*/ 2);
  ASSERT_THAT(attributes, SizeIs(4));
  EXPECT_EQ(attributes.at("thread.name").Text(1), "worker-1");
  EXPECT_EQ(attributes.at("process.executable.name").Text(1), "java");
  EXPECT_EQ(attributes.at("request").Text(1), "GET");
  ASSERT_TRUE(attributes.at("cpu.logical_number").Has(3)) << "0 is a number, too";
  EXPECT_EQ(attributes.at("cpu.logical_number").Number(3), 0u);
}

// Link { trace_id (1), span_id (2) }; Sample.link_index (3)
TEST(OtlpRequest, LinksASampleToTheSpanThatItsLabelsName) {
  StackBuilder stacks;
  ProfileBuilder& builder = stacks.builder();
  const uint32_t leaf = stacks.Frame("main");
  const std::array<int64_t, 2> values{1, 2};
  const std::array traced{builder.StringLabel("trace_id", "4bf92f3577b34da6a3ce929d0e0e4736"),
                          builder.StringLabel("span_id", "00f067aa0ba902b7"),
                          builder.StringLabel("thread", "io")};
  builder.AddSample({&leaf, 1}, values, traced);
  const std::array odd{builder.StringLabel("trace_id", "not hex"),
                       builder.StringLabel("span_id", "00f067aa0ba902b7")};
  builder.AddSample({&leaf, 1}, values, odd);
  const Received received = Sent(stacks.Build());
  const std::vector<ProtoMessage> samples = received.profiles().at(0).Messages(2);
  ASSERT_THAT(samples, SizeIs(2));
  const std::vector<ProtoMessage> links = received.dictionary().Messages(4);
  ASSERT_THAT(links, SizeIs(2));
  EXPECT_EQ(samples[0].Number(3), 1u);
  EXPECT_EQ(links[1].Text(1), "\x4b\xf9\x2f\x35\x77\xb3\x4d\xa6\xa3\xce\x92\x9d\x0e\x0e\x47\x36");
  EXPECT_EQ(links[1].Text(2), std::string("\x00\xf0\x67\xaa\x0b\xa9\x02\xb7", 8));
  EXPECT_EQ(received.Attributes(samples[0], 2).size(), 1u) << "the ids are no attributes";
  EXPECT_EQ(samples[1].Number(3), 0u);
  EXPECT_EQ(received.Attributes(samples[1], 2).size(), 2u) << "what is no id stays a label";
}

// AnyValue { array_value (5): ArrayValue { values (1): AnyValue… } }
TEST(OtlpRequest, LabelsOfOneKeyAreAnArray) {
  StackBuilder stacks;
  ProfileBuilder& builder = stacks.builder();
  const uint32_t leaf = stacks.Frame("main");
  const std::array<int64_t, 2> values{1, 2};
  const std::array labels{
      builder.StringLabel("request", "GET"),     builder.StringLabel("thread", "worker-1"),
      builder.StringLabel("request", "POST"),    builder.StringLabel("thread.name", "io"),
      builder.NumberLabel("size", 0, "bytes"),   builder.NumberLabel("size", 4096, "bytes"),
      builder.NumberLabel("wait", 5, "seconds"), builder.NumberLabel("wait", 7, "milliseconds"),
      builder.StringLabel("wait", "unknown"),    builder.NumberLabel("wait", 9, "")};
  builder.AddSample({&leaf, 1}, values, labels);
  const Received received = Sent(stacks.Build());
  const ProtoMessage sample = received.profiles().at(0).Messages(2).at(0);
  const auto attributes = received.Attributes(sample, 2);
  ASSERT_THAT(attributes, SizeIs(4));
  EXPECT_THAT(sample.Numbers(2), SizeIs(4)) << "keys are unique";
  const auto texts = [&](const char* key) {
    std::vector<std::string> all;
    for (const ProtoMessage& value : attributes.at(key).Message(5).Messages(1))
      all.push_back(value.Text(1));
    return all;
  };
  EXPECT_THAT(texts("request"), ElementsAre("GET", "POST"));
  EXPECT_THAT(texts("thread.name"), UnorderedElementsAre("worker-1", "io"));
  EXPECT_THAT(texts("wait"), ElementsAre("5 seconds", "7 milliseconds", "unknown", "9"));
  const std::vector<ProtoMessage> sizes = attributes.at("size").Message(5).Messages(1);
  ASSERT_THAT(sizes, SizeIs(2));
  EXPECT_TRUE(sizes[0].Has(3)) << "0 is a number, too";
  EXPECT_EQ(sizes[1].Number(3), 4096u);
  for (const uint64_t index : sample.Numbers(2)) {
    const ProtoMessage one = received.dictionary().Messages(6).at(index);
    EXPECT_EQ(received.Text(one.Number(3)), received.Text(one.Number(1)) == "size" ? "bytes" : "");
  }
}

TEST(OtlpRequest, TellsFilesBuildIdsAndTheKindOfAFrame) {
  StackBuilder stacks;
  ProfileBuilder& builder = stacks.builder();
  const uint32_t kernel = builder.AddMapping({.memory_start = 0xffffffff80000000,
                                              .memory_limit = 0xffffffffff000000,
                                              .filename = builder.AddString("[kernel.kallsyms]")});
  const uint32_t jit =
      builder.AddMapping({.memory_limit = 1, .filename = builder.AddString("[jit]")});
  const uint32_t stack[] = {builder.AddLocation(kernel, 0xffffffff80001000, {}),
                            builder.AddLocation(jit, 0x7000, {}), stacks.Frame("main")};
  const std::array<int64_t, 2> values{1, 2};
  builder.AddSample(stack, values);
  const Received received = Sent(stacks.Build());
  const std::vector<ProtoMessage> locations =
      received.LocationsOf(received.profiles().at(0).Messages(2).at(0));
  ASSERT_THAT(locations, SizeIs(3));
  EXPECT_EQ(received.Attributes(locations[0], 4).at("profile.frame.type").Text(1), "kernel");
  EXPECT_EQ(locations[0].Number(2), 0xffffffff80001000u);
  EXPECT_THAT(received.Attributes(locations[1], 4), IsEmpty());
  EXPECT_EQ(received.Attributes(locations[2], 4).at("profile.frame.type").Text(1), "native");
  const ProtoMessage mapping = received.dictionary().Messages(1).at(locations[2].Number(1));
  EXPECT_EQ(received.Text(mapping.Number(4)), "/usr/bin/app");
  EXPECT_EQ(mapping.Number(1), 0x400000u);
  EXPECT_EQ(mapping.Number(2), 0x500000u);
  EXPECT_EQ(received.Attributes(mapping, 5).at("process.executable.build_id.gnu").Text(1),
            "0123456789abcdef");
}

TEST(OtlpRequest, LeavesOutTypesAndSamplesWithoutAValue) {
  StackBuilder stacks;
  const uint32_t frames[] = {stacks.Frame("a"), stacks.Frame("b")};
  stacks.builder().AddSample({&frames[0], 1}, std::array<int64_t, 2>{0, 5});
  stacks.builder().AddSample({&frames[1], 1}, std::array<int64_t, 2>{0, 0});
  const Received received = Sent(stacks.Build());
  ASSERT_THAT(received.profiles(), SizeIs(1));
  EXPECT_THAT(received.Folded(received.profiles()[0]), ElementsAre(Pair("a", ElementsAre(5u))));
}

TEST(OtlpRequest, ProfilesShareTheirDictionary) {
  const Profile profile = StackBuilder().Add({"main", "serve"}, 1).Build();
  const Received once = Sent(profile);
  OtlpRequest request("firetower", "1.2.3");
  request.Add(profile, std::vector<OtlpAttribute>{{"k8s.pod.name", "a"}}, "a");
  const size_t bytes = request.bytes();
  EXPECT_GT(bytes, 0u);
  request.Add(profile, std::vector<OtlpAttribute>{{"k8s.pod.name", "b"}}, "b");
  EXPECT_GT(request.bytes(), bytes);
  const Received twice(request.Take());
  EXPECT_THAT(twice.resources(), SizeIs(2));
  for (uint32_t table = 1; table <= 7; ++table)
    EXPECT_EQ(twice.dictionary().Texts(table), once.dictionary().Texts(table)) << table;
  EXPECT_EQ(twice.Folded(twice.profiles(0)[0]), twice.Folded(twice.profiles(1)[0]));
}

TEST(OtlpRequest, BeginsAnewWhenItIsTaken) {
  const Profile profile = StackBuilder().Add({"main"}, 1).Build();
  OtlpRequest request("firetower", "1.2.3");
  request.Add(profile, {}, "one");
  const std::string first = request.Take();
  request.Add(profile, {}, "one");
  EXPECT_EQ(request.Take(), first);
}

TEST(OtlpRequest, IdsAreThoseOfTheIdentityAndTheType) {
  const auto ids = [](std::string_view identity) {
    OtlpRequest request("firetower", "1.2.3");
    request.Add(StackBuilder().Add({"main"}, 1).Build(), {}, identity);
    const Received received(request.Take());
    std::vector<std::string> all;
    for (const ProtoMessage& profile : received.profiles()) all.push_back(profile.Text(7));
    return all;
  };
  const std::vector<std::string> one = ids("one");
  ASSERT_THAT(one, SizeIs(2));
  EXPECT_EQ(one, ids("one"));
  EXPECT_NE(one[0], one[1]);
  EXPECT_NE(one[0], ids("two")[0]);
  EXPECT_THAT(one[0], SizeIs(16));
  EXPECT_NE(one[0].substr(0, 8), one[0].substr(8));
}

TEST(OtlpRequest, OfAnEmptyProfileSaysNothing) {
  const Received received = Sent(StackBuilder().Build());
  EXPECT_THAT(received.profiles(), IsEmpty());
}

// partial_success { rejected_profiles: 2, error_message: "too big" }, by hand.
constexpr std::string_view kPartial = "\x0a\x0b\x08\x02\x12\x07too big";

TEST(OtlpResponse, SaysWhatWasRejected) {
  const Result<OtlpResponse> response = DecodeOtlpResponse(kPartial);
  ASSERT_TRUE(response) << response.error().message();
  EXPECT_EQ(response->rejected_profiles, 2u);
  EXPECT_EQ(response->message, "too big");
}

TEST(OtlpResponse, AnEmptyOneRejectsNothing) {
  const Result<OtlpResponse> response = DecodeOtlpResponse("");
  ASSERT_TRUE(response);
  EXPECT_EQ(response->rejected_profiles, 0u);
  EXPECT_EQ(response->message, "");
}

TEST(OtlpResponse, PassesOverWhatItDoesNotKnow) {
  // A number in field 9 before the message, and one of 64 bits in it.
  const Result<OtlpResponse> response =
      DecodeOtlpResponse(std::string("\x48\x05\x0a\x0b\x39"
                                     "12345678"
                                     "\x08\x03",
                                     15));
  ASSERT_TRUE(response) << response.error().message();
  EXPECT_EQ(response->rejected_profiles, 3u);
}

TEST(OtlpResponse, TakesNoPartOfAMessageForOne) {
  for (size_t length = 1; length < kPartial.size(); ++length) {
    const Result<OtlpResponse> response = DecodeOtlpResponse(kPartial.substr(0, length));
    ASSERT_FALSE(response) << length;
    EXPECT_EQ(response.error().code(), ErrorCode::kCorrupt) << length;
  }
}

TEST(OtlpResponse, TakesNoNumberBelowZeroAndNoBrokenText) {
  // rejected_profiles: -1, error_message: "\xff".
  const Result<OtlpResponse> response =
      DecodeOtlpResponse("\x0a\x0e\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x12\x01\xff");
  ASSERT_TRUE(response) << response.error().message();
  EXPECT_EQ(response->rejected_profiles, 0u);
  EXPECT_EQ(response->message, "\uFFFD");
}

}  // namespace
}  // namespace firetower::profile
