// SPDX-License-Identifier: Apache-2.0
// The enumerations of a policy and their spelling in the CRDs, in the order of the schema.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "k8s/selector.h"

namespace firetower::k8s {

enum class Mode : uint8_t { kGeneral, kTrigger, kFilter };
enum class ProfileType : uint8_t { kCpu, kOffCpu, kLock, kMemory, kEvent };
enum class Stacks : uint8_t { kUserAndKernel, kUser, kKernel };
enum class Schedule : uint8_t { kPeriodic, kContinuous };
enum class WorkloadKind : uint8_t {
  kDeployment,
  kStatefulSet,
  kDaemonSet,
  kReplicaSet,
  kJob,
  kCronJob,
  kPod
};
enum class HostProcesses : uint8_t { kExclude, kInclude };
enum class Operator : uint8_t { kGreaterThan, kLessThan };
enum class TargetType : uint8_t { kUtilization, kValue };
enum class Metric : uint8_t {
  kContainerCpu,
  kContainerCpuThrottled,
  kContainerMemory,
  kContainerCpuPressure,
  kContainerMemoryPressure,
  kContainerIoPressure,
  kOomKill,  // the last that the namespaced kind has
  kNodeCpuUser,
  kNodeCpuSystem,
  kNodeLoad,
  kNodeCpuPressure,
  kNodeMemoryPressure,
  kNodeIoPressure,
  kRunQueueDelay
};
enum class CpuScope : uint8_t { kAny, kAll };
enum class Combine : uint8_t { kAnyOf, kAllOf };
enum class CaptureScope : uint8_t { kContainer, kPod, kNode };  // kNode: cluster kind only
enum class MetricsMode : uint8_t { kTopFunctions, kDisabled };
enum class ObjectStoreMode : uint8_t { kEnabled, kDisabled };
enum class RetentionClass : uint8_t { kShort, kStandard, kLong };
enum class Isolation : uint8_t { kNode, kNamespace };

// Indexed by the value.
template <typename E>
inline constexpr std::array<std::string_view, 0> kEnumNames{};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<Mode> = {"General", "Trigger",
                                                                     "Filter"};
template <>
inline constexpr std::array<std::string_view, 5> kEnumNames<ProfileType> = {"CPU", "OffCPU", "Lock",
                                                                            "Memory", "Event"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<Stacks> = {"UserAndKernel", "User",
                                                                       "Kernel"};
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<Schedule> = {"Periodic", "Continuous"};
template <>
inline constexpr std::array<std::string_view, 7> kEnumNames<WorkloadKind> = {
    "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob", "Pod"};
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<HostProcesses> = {"Exclude", "Include"};
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<Operator> = {"GreaterThan", "LessThan"};
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<TargetType> = {"Utilization", "Value"};
template <>
inline constexpr std::array<std::string_view, 14> kEnumNames<Metric> = {"ContainerCPU",
                                                                        "ContainerCPUThrottled",
                                                                        "ContainerMemory",
                                                                        "ContainerCPUPressure",
                                                                        "ContainerMemoryPressure",
                                                                        "ContainerIOPressure",
                                                                        "OOMKill",
                                                                        "NodeCPUUser",
                                                                        "NodeCPUSystem",
                                                                        "NodeLoad",
                                                                        "NodeCPUPressure",
                                                                        "NodeMemoryPressure",
                                                                        "NodeIOPressure",
                                                                        "RunQueueDelay"};
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<CpuScope> = {"Any", "All"};
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<Combine> = {"AnyOf", "AllOf"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<CaptureScope> = {"Container", "Pod",
                                                                             "Node"};
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<MetricsMode> = {"TopFunctions",
                                                                            "Disabled"};
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<ObjectStoreMode> = {"Enabled",
                                                                                "Disabled"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<RetentionClass> = {"Short", "Standard",
                                                                               "Long"};
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<Isolation> = {"Node", "Namespace"};
template <>
inline constexpr std::array<std::string_view, 4> kEnumNames<SelectorOperator> = {
    "In", "NotIn", "Exists", "DoesNotExist"};

template <typename E>
constexpr std::string_view EnumName(E value) {
  return kEnumNames<E>[static_cast<size_t>(value)];
}

}  // namespace firetower::k8s
