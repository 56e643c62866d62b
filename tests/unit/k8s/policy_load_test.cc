// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "k8s/policy/load.h"
#include "k8s/policy/served.h"

namespace firetower::k8s {
namespace {

using ::testing::HasSubstr;

const std::string kMinimal =
    "apiVersion: firetower.dev/v1alpha1\n"
    "kind: ProfilingPolicy\n"
    "metadata: {name: all}\n"
    "spec:\n"
    "  mode: General\n"
    "  targets: {podSelector: {matchLabels: {}}}\n";

PolicyFileResult Parse(const std::string& text) { return ParsePolicies(text, "p.yaml"); }

// The minimal policy with more fields in its spec.
PolicyFileResult ParseSpec(const std::string& more) { return Parse(kMinimal + more); }

std::vector<std::string> Errors(const PolicyFileResult& result) {
  std::vector<std::string> all;
  for (const PolicyError& error : result.errors) all.push_back(error.ToString());
  return all;
}

std::string OnlyError(const std::string& text) {
  const PolicyFileResult result = Parse(text);
  EXPECT_TRUE(result.policies.empty());
  EXPECT_EQ(result.errors.size(), 1u) << ::testing::PrintToString(Errors(result));
  return result.errors.empty() ? "" : result.errors[0].ToString();
}

TEST(PolicyLoad, FillsTheSchemasDefaults) {
  const PolicyFileResult result = Parse(kMinimal);
  ASSERT_EQ(Errors(result), std::vector<std::string>{});
  ASSERT_EQ(result.policies.size(), 1u);
  const ProfilingPolicy& policy = result.policies[0];
  EXPECT_EQ(DisplayName(policy), "ProfilingPolicy default/all");
  EXPECT_EQ(policy.source, "p.yaml:1");
  EXPECT_EQ(policy.spec.mode, Mode::kGeneral);
  EXPECT_TRUE(policy.spec.targets.pod_selector);
  EXPECT_EQ(policy.spec.targets.pod_percent, 100);
  EXPECT_FALSE(policy.spec.general);
  EXPECT_EQ(EffectiveGeneral(policy.spec).period_seconds, 300);
  EXPECT_EQ(EffectiveGeneral(policy.spec).duration_seconds, 60);
  EXPECT_EQ(CpuFrequencyHertz(policy.spec), 49);
  EXPECT_EQ(policy.spec.export_spec.metrics.top_functions, 5);
  EXPECT_EQ(policy.spec.export_spec.object_store.mode, ObjectStoreMode::kEnabled);
  EXPECT_EQ(policy.spec.stacks, Stacks::kUserAndKernel);
  EXPECT_FALSE(policy.spec.suspend);
}

TEST(PolicyLoad, ReadsEveryMember) {
  const PolicyFileResult result = Parse(R"yaml(
apiVersion: firetower.dev/v1alpha1
kind: ClusterProfilingPolicy
metadata:
  name: nodes
  labels: {team: a}
  annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}"}
  uid: 97f1ae73-7ad9-11ec-b4a7-9a35488b4fab
  generation: 3
spec:
  mode: Trigger
  targets:
    podSelector:
      matchLabels: {app: checkout}
      matchExpressions:
        - {key: tier, operator: NotIn, values: [cache, "2"]}
    workloadRefs: [{kind: Deployment, name: checkout}]
    containers: {include: [app], exclude: [istio-proxy]}
    podPercent: 25
    namespaceSelector: {matchExpressions: [{key: example.com/env, operator: Exists}]}
    hostProcesses: Include
  nodeSelector: {matchLabels: {kubernetes.io/arch: amd64}}
  profiles:
    - {type: CPU, frequencyHertz: 97}
    - {type: OffCPU, minBlockMicroseconds: 500}
    - {type: Memory, sampleBytes: 1048576}
    - {type: Event, events: [{name: cache-misses, period: 10007}, {name: page-faults, frequencyHertz: 9}]}
  stacks: User
  trigger:
    rules:
      - {name: hot, metric: NodeCPUSystem, operator: GreaterThan, forSeconds: 5, cpus: Any,
         target: {type: Utilization, utilizationPercent: 80}}
      - {name: big, metric: ContainerMemory, operator: GreaterThan, target: {type: Value, value: 1.5Gi}}
    combine: AllOf
    armedFrequencyHertz: 9
    capture: {preTriggerSeconds: 10, durationSeconds: 20, frequencyHertz: 199, scope: Node}
    cooldownSeconds: 60
    resetPercent: 5
    maxCapturesPerHour: 2
  filter:
    processes: [{comm: java, executable: /usr/bin/java, commandLineRegex: "-Dapp=(a|b)", pid: 7}]
    threads: [main]
    cpus: 0-3,8
  limits: {
cpu:
  100m
}
  export:
    metrics: {mode: Disabled, topFunctions: 9}
    objectStore: {retentionClass: Long, isolation: Namespace}
  suspend: true
  priority: 10
  activeDeadlineSeconds: 3600
  ttlSecondsAfterFinished: 60
status: {anything: goes}
)yaml");
  ASSERT_EQ(Errors(result), std::vector<std::string>{});
  const ProfilingPolicy& policy = result.policies.at(0);
  const PolicySpec& spec = policy.spec;
  EXPECT_TRUE(policy.cluster);
  EXPECT_EQ(policy.namespace_name, "");
  EXPECT_EQ(policy.labels.at("team"), "a");
  EXPECT_EQ(spec.targets.pod_selector->match_expressions->at(0).op, SelectorOperator::kNotIn);
  EXPECT_EQ(spec.targets.pod_selector->match_expressions->at(0).values,
            (std::vector<std::string>{"cache", "2"}));
  EXPECT_EQ(spec.targets.workload_refs.at(0).name, "checkout");
  EXPECT_EQ(spec.targets.containers->exclude.at(0), "istio-proxy");
  EXPECT_EQ(spec.targets.pod_percent, 25);
  EXPECT_EQ(spec.targets.host_processes, HostProcesses::kInclude);
  EXPECT_EQ(CpuFrequencyHertz(spec), 97);
  EXPECT_EQ(FindProfile(spec, ProfileType::kMemory)->sample_bytes, 1048576);
  EXPECT_EQ(FindProfile(spec, ProfileType::kEvent)->events.at(1).frequency_hertz, 9);
  EXPECT_EQ(spec.trigger->rules.at(0).cpus, CpuScope::kAny);
  EXPECT_EQ(spec.trigger->rules.at(1).target->value->RoundedUp(), 1610612736);
  EXPECT_EQ(spec.trigger->capture.scope, CaptureScope::kNode);
  EXPECT_EQ(spec.filter->processes.at(0).pid, 7);
  EXPECT_EQ(spec.filter->cpus, "0-3,8");
  EXPECT_EQ(spec.limits->cpu.MilliRoundedUp(), 100);
  EXPECT_EQ(spec.export_spec.metrics.mode, MetricsMode::kDisabled);
  EXPECT_EQ(spec.export_spec.object_store.retention_class, RetentionClass::kLong);
  EXPECT_TRUE(spec.suspend);
  EXPECT_EQ(spec.ttl_seconds_after_finished, 60);
}

TEST(PolicyLoad, CollectsEveryErrorWithFileLineFieldAndWhatIsAllowed) {
  const PolicyFileResult result = ParseSpec(
      "  profiles:\n"
      "    - type: CPU\n"
      "      frequncyHertz: 97\n"
      "    - type: Cpu\n"
      "  general: {periodSeconds: 5}\n"
      "  suspend: \"true\"\n"
      "  stacks: [User]\n");
  EXPECT_THAT(
      Errors(result),
      ::testing::UnorderedElementsAre(
          "p.yaml:9: spec.profiles[0].frequncyHertz: unknown field; did you mean "
          "'frequencyHertz'?; allowed here: type, frequencyHertz, minBlockMicroseconds, "
          "sampleBytes, inUse or events",
          "p.yaml:10: spec.profiles[1].type: must be CPU, OffCPU, Lock, Memory or Event, not the "
          "string \"Cpu\"; did you mean 'CPU'?",
          "p.yaml:11: spec.general.periodSeconds: must be from 60 to 86400, not 5",
          "p.yaml:12: spec.suspend: must be true or false, not the string \"true\"",
          "p.yaml:13: spec.stacks: must be UserAndKernel, User or Kernel, not a list"));
  EXPECT_TRUE(result.policies.empty());
}

TEST(PolicyLoad, NamesRequiredFieldsThatAreMissing) {
  EXPECT_THAT(Errors(Parse("apiVersion: firetower.dev/v1alpha1\nkind: ProfilingPolicy\n"
                           "metadata: {}\nspec: {targets: {workloadRefs: [{kind: Pod}]}}\n")),
              ::testing::UnorderedElementsAre(
                  "p.yaml:3: metadata.name: is required, and missing",
                  "p.yaml:4: spec.targets.workloadRefs[0].name: is required, and missing",
                  "p.yaml:4: spec.mode: is required, and missing"));
  EXPECT_THAT(OnlyError("kind: Pod\napiVersion: firetower.dev/v1alpha1\n"),
              HasSubstr("p.yaml:1: kind: must be ProfilingPolicy or ClusterProfilingPolicy"));
  EXPECT_THAT(OnlyError("- a\n"), HasSubstr("p.yaml:1: a policy is a map of fields, not a list"));
  EXPECT_THAT(Errors(Parse("kind: ProfilingPolicy\napiVersion: firetower.dev/v1\n")),
              ::testing::Contains("p.yaml:2: apiVersion: must be firetower.dev/v1alpha1, not the "
                                  "string \"firetower.dev/v1\""));
}

TEST(PolicyLoad, RefusesTheSpellingsThatTwoYamlsReadDifferently) {
  const auto message = [](const std::string& line) {
    const PolicyFileResult result = ParseSpec("  " + line + "\n");
    return result.errors.empty() ? "accepted" : result.errors[0].message;
  };
  EXPECT_EQ(message("priority: 10"), "accepted");
  EXPECT_EQ(message("priority: 1e3"),
            "must be an integer from 0 to 1000, not the number 1e3; write it in plain decimal "
            "digits");
  EXPECT_EQ(message("priority: \"10\""),
            "must be an integer from 0 to 1000, not the string \"10\"; remove the quotes");
  for (const char* odd : {"010", "0x10", "0o10", "0b1", "1_0", "+5", "1:30", "-0", "1.0"})
    EXPECT_THAT(message(std::string("priority: ") + odd), HasSubstr("plain decimal digits")) << odd;
  EXPECT_EQ(message("priority: 99999999999999999999"),
            "must be from 0 to 1000, not 99999999999999999999");
  EXPECT_EQ(message("priority: -1"), "must be from 0 to 1000, not -1");
  for (const char* loose : {"yes", "no", "on", "off", "y", "N", "True", "FALSE"}) {
    EXPECT_EQ(message(std::string("suspend: ") + loose),
              std::string("must be true or false, not the boolean ") + loose);
  }
  EXPECT_EQ(message("suspend: true"), "accepted");
  EXPECT_EQ(message("suspend: 1"), "must be true or false, not the number 1");
  // kubectl would send a boolean or a number here, so it is no string here either.
  EXPECT_EQ(message("nodeSelector: {matchLabels: {a: yes}}"),
            "must be a string, not the boolean yes; put it in quotes");
  EXPECT_EQ(message("nodeSelector: {matchLabels: {a: 1.10}}"),
            "must be a string, not the number 1.10; put it in quotes");
  EXPECT_EQ(message("nodeSelector: {matchLabels: {a: \"yes\"}}"), "accepted");
  // null is absent, as the API server prunes it.
  EXPECT_EQ(message("general:"), "accepted");
  EXPECT_EQ(message("limits: {cpu: }"), "accepted");
}

TEST(PolicyLoad, RefusesAmbiguousYaml) {
  const auto message = [](const std::string& text) { return Errors(Parse(text)).at(0); };
  EXPECT_THAT(message(kMinimal + "  mode: Filter\n"), HasSubstr("p.yaml:7: the key \"mode\" is"));
  EXPECT_THAT(message(kMinimal + "  a: &x [1]\n  b: *x\n"), HasSubstr("p.yaml:8: aliases"));
  EXPECT_THAT(message(kMinimal + "  priority: !!int \"5\"\n"), HasSubstr("p.yaml:7: tags"));
  EXPECT_THAT(message(kMinimal + "  <<: {suspend: true}\n"), HasSubstr("p.yaml:7: merge keys"));
  EXPECT_THAT(message("%YAML 1.1\n---\n" + kMinimal), HasSubstr("p.yaml:1: directives"));
  EXPECT_THAT(message(kMinimal + "  limits:\n\t\tcpu: 50m\n"),
              HasSubstr("p.yaml:8: indented by a tab"));
  EXPECT_THAT(message(kMinimal + "  [a]: b\n"), HasSubstr("a key must be plain text"));
  EXPECT_THAT(message(kMinimal + "  stacks: {User\n"), HasSubstr("not valid YAML"));
  EXPECT_THAT(message("a: \xff\n"), HasSubstr("p.yaml:1: not UTF-8"));
  EXPECT_THAT(message("\xff\xfe" + kMinimal), HasSubstr("not UTF-8"));
  EXPECT_THAT(message("a: b\nc: \x01\n"), HasSubstr("p.yaml:2: a control character"));
  EXPECT_THAT(message(std::string((1 << 20) + 1, '#')), HasSubstr("larger than 1048576 bytes"));
}

TEST(PolicyLoad, RefusesBombs) {
  std::string billion_laughs = "a: &a [x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    const std::string before = std::string("*") + static_cast<char>(c - 1);
    billion_laughs += std::string(1, c) + ": &" + c + " [" + before;
    for (int i = 0; i < 8; ++i) billion_laughs += ", " + before;
    billion_laughs += "]\n";
  }
  EXPECT_THAT(OnlyError(billion_laughs), HasSubstr("aliases"));
  EXPECT_THAT(OnlyError("a: " + std::string(100, '[') + std::string(100, ']')),
              HasSubstr("nested more than 64 deep"));
  std::string many = "a: [";
  for (int i = 0; i < 200000; ++i) many += "1, ";
  EXPECT_THAT(OnlyError(many + "]"), HasSubstr("more than 50000 values"));
  std::string keys;
  for (int i = 0; i < 3000; ++i) keys += "k" + std::to_string(i) + ": 1\n";
  EXPECT_THAT(OnlyError(keys), HasSubstr("more than 2000 keys"));
  std::string documents;
  for (int i = 0; i < 1000; ++i) documents += "---\nx: 1\n";
  EXPECT_LE(Parse(documents).errors.size(), 2 * 257u);
  std::string typos = kMinimal;
  for (int i = 0; i < 100; ++i) typos += "  typo" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(Parse(typos).errors.size(), kMaxErrorsPerDocument + 1);
}

TEST(PolicyLoad, TakesByteOrderMarksCarriageReturnsAndJson) {
  EXPECT_EQ(Errors(Parse("\xef\xbb\xbf" + kMinimal)), std::vector<std::string>{});
  std::string crlf;
  for (const char c : kMinimal) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(Parse(crlf).policies.size(), 1u) << ::testing::PrintToString(Errors(Parse(crlf)));
  EXPECT_EQ(Parse(crlf + "---\r\n" + crlf).errors.at(0).line, 8);  // given twice
  const PolicyFileResult json = Parse(
      "{\n\t\"apiVersion\": \"firetower.dev/v1alpha1\", \"kind\":\"ProfilingPolicy\",\n"
      "\t\"metadata\": {\"name\": \"j\"},\n\t\"spec\": {\"mode\": \"General\", \"suspend\": "
      "true,\n"
      "\t\t\"targets\": {\"podSelector\": {\"matchLabels\": {\"a\\u0062\": \"1\"}}}}\n}\n");
  ASSERT_EQ(Errors(json), std::vector<std::string>{});
  EXPECT_EQ(json.policies.at(0).spec.targets.pod_selector->match_labels->count("ab"), 1u);
}

// In the form of `kubectl get profilingpolicies -o json`.
TEST(PolicyLoad, ReadsTheItemsOfAList) {
  const auto item = [](const std::string& name, const std::string& mode) {
    return R"({"apiVersion":"firetower.dev/v1alpha1","kind":"ProfilingPolicy","metadata":{"name":")" +
           name + R"("},"spec":{"mode":")" + mode +
           R"(","targets":{"podSelector":{"matchLabels":{}}}}})";
  };
  const auto list = [](const std::string& items) {
    return R"({"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":""},"items":[)" +
           items + "]}";
  };
  const PolicyFileResult both = Parse(list(item("a", "General") + "," + item("b", "General")));
  EXPECT_EQ(Errors(both), std::vector<std::string>{});
  ASSERT_EQ(both.policies.size(), 2u);
  EXPECT_EQ(DisplayName(both.policies[1]), "ProfilingPolicy default/b");
  EXPECT_TRUE(Parse(list("")).errors.empty());

  const PolicyFileResult bad = Parse(list(item("a", "General") + "," + item("b", "Wrong") + ",3," +
                                          list("") + "," + item("a", "General")));
  EXPECT_EQ(bad.policies.size(), 1u);
  EXPECT_EQ(bad.refused, 4u);
  ASSERT_EQ(bad.errors.size(), 5u) << ::testing::PrintToString(Errors(bad));
  EXPECT_EQ(bad.errors[0].field, "items[1].spec.mode");
  EXPECT_EQ(bad.errors[1].field, "items[2]");
  EXPECT_EQ(bad.errors[2].field, "items[3].apiVersion");
  EXPECT_EQ(bad.errors[3].field, "items[3].kind");
  EXPECT_THAT(bad.errors[4].message, HasSubstr("given twice"));

  EXPECT_THAT(OnlyError(R"({"apiVersion":"v1","kind":"List","items":{}})"),
              HasSubstr("items: must be a list of policies"));
  EXPECT_THAT(OnlyError(R"({"apiVersion":"v1","kind":"List"})"), HasSubstr("items"));
}

// In the form of `curl .../profilingpolicies`: items have no kind of their own, and kubectl gives
// them that of the list.
TEST(PolicyLoad, ReadsTheItemsOfAListOfPolicies) {
  const std::string body =
      R"("metadata":{"name":"a"},"spec":{"mode":"General","targets":{"podSelector":{"matchLabels":{}}}}})";
  const std::string own = R"({"apiVersion":"firetower.dev/v1alpha1","kind":"ProfilingPolicy",)";
  const auto list = [](const std::string& kind, const std::string& items) {
    return R"({"apiVersion":"firetower.dev/v1alpha1","kind":")" + kind +
           R"(","metadata":{"continue":"","resourceVersion":"7"},"items":[)" + items + "]}";
  };
  const PolicyFileResult bare = Parse(list("ProfilingPolicyList", "{" + body));
  EXPECT_EQ(Errors(bare), std::vector<std::string>{});
  ASSERT_EQ(bare.policies.size(), 1u);
  EXPECT_EQ(DisplayName(bare.policies[0]), "ProfilingPolicy default/a");
  const PolicyFileResult both =
      Parse(list("ClusterProfilingPolicyList", "{" + body + "," + own + body));
  EXPECT_EQ(Errors(both), std::vector<std::string>{});
  ASSERT_EQ(both.policies.size(), 2u);
  EXPECT_EQ(DisplayName(both.policies[0]), "ClusterProfilingPolicy a");
  EXPECT_EQ(DisplayName(both.policies[1]), "ProfilingPolicy default/a");

  EXPECT_THAT(OnlyError(R"({"apiVersion":"v1","kind":"ProfilingPolicyList","items":[]})"),
              HasSubstr("must be firetower.dev/v1alpha1 for a ProfilingPolicyList"));
  EXPECT_THAT(OnlyError(R"({"apiVersion":"firetower.dev/v1alpha1","kind":"PodList","items":[]})"),
              HasSubstr("kind"));
  // A kind of its own without a version is a mistake, which kubectl does not mend either.
  const PolicyFileResult half =
      Parse(list("ProfilingPolicyList", R"({"kind":"ProfilingPolicy",)" + body));
  ASSERT_EQ(half.errors.size(), 1u);
  EXPECT_EQ(half.errors[0].field, "items[0].apiVersion");
}

TEST(PolicyLoad, FindsNothingInEmptyDocuments) {
  for (const char* text :
       {"", "\n", "---", "---\n", "---\n---\n...\n", "# only a comment\n", "--- \n \n"}) {
    const PolicyFileResult result = Parse(text);
    EXPECT_TRUE(result.policies.empty());
    EXPECT_EQ(Errors(result), std::vector<std::string>{}) << text;
  }
}

TEST(PolicyLoad, KeepsTheGoodDocumentsBesideTheBad) {
  std::string second = kMinimal;
  second.replace(second.find("all"), 3, "two");
  for (const char* bad :
       {"a: [", "kind: Pod", "x: \"unended", "\tx: 1", "{", "- &a [*a]", "a: b: c"}) {
    const PolicyFileResult result = Parse(kMinimal + "---\n" + bad + "\n---\n" + second);
    EXPECT_EQ(result.policies.size(), 2u) << bad;
    EXPECT_FALSE(result.errors.empty()) << bad;
    for (const PolicyError& error : result.errors) EXPECT_EQ(error.line, 8) << error.ToString();
  }
}

// Cut anywhere, a file gives the policy it still has in full, or an error, or nothing.
TEST(PolicyLoad, SurvivesTruncation) {
  for (size_t length = 0; length < kMinimal.size(); ++length) {
    const PolicyFileResult result = Parse(kMinimal.substr(0, length));
    EXPECT_LE(result.policies.size(), 1u);
    for (const PolicyError& error : result.errors) EXPECT_FALSE(error.message.empty());
  }
}

TEST(PolicyLoad, TellsTracepointsFromModifiers) {
  EXPECT_TRUE(IsTracepoint("sched:sched_switch"));
  EXPECT_TRUE(IsTracepoint("a:b:u")) << "no event of a CPU";
  EXPECT_FALSE(IsTracepoint("cycles:u"));
  EXPECT_FALSE(IsTracepoint("cycles:uk"));
  EXPECT_FALSE(IsTracepoint("page-faults"));
  EXPECT_TRUE(IsTracepoint("cycles:uu")) << "no modifier of perf's";
}

TEST(PolicyLoad, SaysWhatIsNotServedYet) {
  const auto served = [](const std::string& more) {
    const PolicyFileResult result = ParseSpec(more);
    EXPECT_EQ(Errors(result), std::vector<std::string>{});
    return Served(result.policies.at(0));
  };
  EXPECT_EQ(served(""), (ServedReport{true, {}}));
  EXPECT_EQ(served("  profiles: [{type: CPU}, {type: Lock}]\n"), (ServedReport{true, {}}));
  EXPECT_EQ(served("  profiles: [{type: OffCPU}]\n"), (ServedReport{true, {}}));
  EXPECT_EQ(served("  profiles: [{type: Memory}]\n"), (ServedReport{true, {}}));
  EXPECT_THAT(
      served("  profiles: [{type: Event, events: [{name: cs, period: 1}, {name: \"sched:x\", "
             "period: 1}]}]\n")
          .messages,
      ElementsAre(HasSubstr("event sched:x is left out")));
  EXPECT_FALSE(
      served("  profiles: [{type: Event, events: [{name: \"sched:x\", period: 1}]}]\n").served);
  EXPECT_EQ(served("  limits: {cpu: 100m}\n"), (ServedReport{true, {}}));
  EXPECT_THAT(served("  export: {objectStore: {isolation: Namespace}}\n").messages,
              ElementsAre(HasSubstr("isolation Namespace is not supported by this version yet")));
  EXPECT_EQ(served("  filter: {cpus: \"0\"}\n"), (ServedReport{true, {}}));
  std::string trigger = kMinimal + "  trigger: {rules: [{name: killed, metric: OOMKill}]}\n";
  trigger.replace(trigger.find("General"), 7, "Trigger");
  EXPECT_EQ(Served(Parse(trigger).policies.at(0)), (ServedReport{true, {}}));
}

class PolicyFolder : public ::testing::Test {
 protected:
  PolicyFolder() {
    char pattern[] = "/tmp/firetower-policy-XXXXXX";
    dir_ = mkdtemp(pattern);
  }
  ~PolicyFolder() override { std::filesystem::remove_all(dir_); }
  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomic(dir_ + "/" + name, text));
  }
  std::string dir_;
};

TEST_F(PolicyFolder, ReadsYamlAndJsonInOrderAndReportsTheBadOnes) {
  std::string named = kMinimal;
  const size_t at = named.find("all");
  Write("b.yml", named.replace(at, 3, "bbb"));
  Write("a.yaml", named.replace(at, 3, "aaa"));
  Write("c.json", "{\"kind\": \"ProfilingPolicy\"");
  Write("d.yaml", named.replace(at, 3, "aaa"));
  Write("notes.txt", "not a policy");
  Write(".hidden.yaml", "not a policy");
  std::filesystem::create_directory(dir_ + "/..data");
  std::filesystem::create_directory(dir_ + "/x.yaml");
  const PolicyFileResult result = LoadPolicies(dir_);
  ASSERT_EQ(result.policies.size(), 2u);
  EXPECT_EQ(result.policies[0].name, "aaa");
  EXPECT_EQ(result.policies[0].source, dir_ + "/a.yaml:1");
  EXPECT_EQ(result.policies[1].name, "bbb");
  const std::vector<std::string> errors = Errors(result);
  ASSERT_EQ(errors.size(), 3u) << ::testing::PrintToString(errors);
  EXPECT_THAT(errors, ::testing::Contains(HasSubstr(dir_ + "/c.json:1: ")));
  EXPECT_THAT(errors, ::testing::Contains(HasSubstr(dir_ + "/x.yaml")));
  EXPECT_THAT(errors,
              ::testing::Contains(dir_ + "/d.yaml:1: metadata.name: ProfilingPolicy "
                                         "default/aaa is given twice: the first one counts"));
}

// However much there is to say of each.
TEST_F(PolicyFolder, CountsPoliciesThatAreRefusedNotComplaints) {
  EXPECT_EQ(Parse(kMinimal).refused, 0u);
  const PolicyFileResult three = Parse(kMinimal + "  priority: high\n  modes: 1\n  suspend: 3\n");
  EXPECT_GE(three.errors.size(), 3u);
  EXPECT_EQ(three.refused, 1u);
  EXPECT_EQ(Parse(kMinimal + "---\nkind: [\n---\n" + kMinimal).refused, 2u)
      << "one that is no YAML, and one whose name is taken";
  std::string named = kMinimal;
  Write("a.yaml", kMinimal);
  Write("b.yaml", named.replace(named.find("all"), 3, "bbb") + "  priority: high\n  modes: 1\n");
  Write("c.yaml", kMinimal);
  std::filesystem::create_directory(dir_ + "/x.yaml");
  const PolicyFileResult folder = LoadPolicies(dir_);
  EXPECT_EQ(folder.policies.size(), 1u);
  EXPECT_EQ(folder.refused, 3u) << ::testing::PrintToString(Errors(folder));
  EXPECT_EQ(LoadPolicies(dir_ + "/none.yaml").refused, 1u);
}

TEST_F(PolicyFolder, CountsTheFilesBeyondThoseItReads) {
  for (size_t i = 0; i < kMaxPolicyFiles + 3; ++i) Write("p" + std::to_string(i) + ".json", "");
  const PolicyFileResult folder = LoadPolicies(dir_);
  EXPECT_EQ(folder.refused, 3u);
  EXPECT_EQ(folder.errors.size(), 1u) << "is said once";
}

TEST_F(PolicyFolder, NamesAFileThatIsNotThereOrTooLarge) {
  EXPECT_THAT(Errors(LoadPolicies(dir_ + "/none.yaml")).at(0), HasSubstr(dir_ + "/none.yaml"));
  Write("big.yaml", std::string(2 << 20, '#'));
  EXPECT_THAT(Errors(LoadPolicyFile(dir_ + "/big.yaml")).at(0), HasSubstr(dir_ + "/big.yaml"));
  EXPECT_EQ(LoadPolicies(dir_ + "/big.yaml").errors.size(), 1u);
}

}  // namespace
}  // namespace firetower::k8s
