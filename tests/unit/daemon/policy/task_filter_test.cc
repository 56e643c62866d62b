// SPDX-License-Identifier: Apache-2.0
#include "daemon/policy/task_filter.h"

#include <gtest/gtest.h>

namespace firetower::daemon {
namespace {

using k8s::FilterSpec;
using k8s::ProcessFilter;

TaskFacts Java() {
  TaskFacts facts;
  facts.pid = 42;
  facts.comm = "java";
  facts.thread = "GC Thread#0";
  facts.executable = "/usr/bin/java";
  facts.command_line = "java -Xmx2g -jar /app/checkout.jar --port 8080";
  return facts;
}

FilterSpec Processes(std::vector<ProcessFilter> processes) {
  FilterSpec spec;
  spec.processes = std::move(processes);
  return spec;
}

ProcessFilter Comm(const std::string& comm) {
  ProcessFilter filter;
  filter.comm = comm;
  return filter;
}

bool Wants(const FilterSpec& spec, const TaskFacts& facts) {
  return PolicyFilter(spec).WantsTask(facts);
}

TEST(PolicyFilter, AnyProcessEntryAndEveryMemberOfIt) {
  EXPECT_TRUE(Wants(Processes({Comm("nginx"), Comm("java")}), Java()));
  EXPECT_FALSE(Wants(Processes({Comm("nginx"), Comm("jav")}), Java()));
  ProcessFilter both = Comm("java");
  both.executable = "/opt/java";
  EXPECT_FALSE(Wants(Processes({both}), Java()));
  both.executable = "/usr/bin/java";
  EXPECT_TRUE(Wants(Processes({both}), Java()));
  both.pid = 43;
  EXPECT_FALSE(Wants(Processes({both}), Java()));
  both.pid = 42;
  EXPECT_TRUE(Wants(Processes({both}), Java()));
}

TEST(PolicyFilter, CommandLineIsFoundAnywhere) {
  ProcessFilter filter;
  filter.command_line_regex = "-jar \\S*/checkout\\.jar";
  EXPECT_TRUE(Wants(Processes({filter}), Java()));
  filter.command_line_regex = "^checkout";
  EXPECT_FALSE(Wants(Processes({filter}), Java()));
}

TEST(PolicyFilter, WhatCouldNotBeReadMatchesNothing) {
  TaskFacts gone = Java();
  gone.executable.reset();
  gone.command_line.reset();
  ProcessFilter any;
  any.command_line_regex = ".*";
  EXPECT_FALSE(Wants(Processes({any}), gone));
  ProcessFilter path;
  path.executable = "/usr/bin/java";
  EXPECT_FALSE(Wants(Processes({path}), gone));
  EXPECT_TRUE(Wants(Processes({path, Comm("java")}), gone));
}

TEST(PolicyFilter, ThreadsNarrowTheProcesses) {
  FilterSpec spec = Processes({Comm("java")});
  spec.threads = {"http-nio", "GC Thread#0"};
  EXPECT_TRUE(Wants(spec, Java()));
  spec.threads = {"GC Thread"};
  EXPECT_FALSE(Wants(spec, Java()));
  spec.threads = {"GC Thread#0"};
  spec.processes = {Comm("nginx")};
  EXPECT_FALSE(Wants(spec, Java()));
  spec.processes.clear();
  EXPECT_TRUE(Wants(spec, Java()));
}

std::shared_ptr<const TaskFilter> Of(const std::vector<FilterSpec>& specs) {
  std::vector<std::shared_ptr<const PolicyFilter>> filters;
  for (const FilterSpec& spec : specs) filters.push_back(std::make_shared<PolicyFilter>(spec));
  return TaskFilter::Of(std::move(filters));
}

FilterSpec Cpus(const std::string& list) {
  FilterSpec spec;
  spec.cpus = list;
  return spec;
}

TEST(TaskFilter, EachFilterHasItsOwnCpus) {
  FilterSpec java = Processes({Comm("java")});
  java.cpus = "0-1";
  FilterSpec nginx = Processes({Comm("nginx")});
  nginx.cpus = "8";
  auto filter = Of({java, nginx});
  const uint64_t match = filter->Match(Java());
  EXPECT_NE(match, 0u);
  EXPECT_TRUE(filter->Accepts(match, 1));
  EXPECT_FALSE(filter->Accepts(match, 8)) << "the CPU of the other one";
  EXPECT_TRUE(filter->any_tasks());
  ASSERT_TRUE(filter->cpus());
  EXPECT_EQ(filter->cpus()->count(), 3u);
  TaskFacts other = Java();
  other.comm = "bash";
  EXPECT_EQ(filter->Match(other), 0u);
  EXPECT_FALSE(filter->Accepts(0, 0));
}

TEST(TaskFilter, OneThatTakesEveryTaskOrCpuDoesSoForAll) {
  auto filter = Of({Processes({Comm("java")}), Cpus("3")});
  EXPECT_FALSE(filter->cpus()) << "java is wanted everywhere";
  EXPECT_FALSE(filter->any_tasks()) << "everything is wanted on CPU 3";
  TaskFacts other = Java();
  other.comm = "bash";
  EXPECT_TRUE(filter->Accepts(filter->Match(other), 3));
  EXPECT_FALSE(filter->Accepts(filter->Match(other), 2));
  EXPECT_TRUE(filter->Accepts(filter->Match(Java()), 2));
}

TEST(TaskFilter, ReadsProcessesOnlyIfAsked) {
  EXPECT_FALSE(Of({Processes({Comm("java")}), Cpus("3")})->reads_process());
  ProcessFilter regex;
  regex.command_line_regex = "x";
  EXPECT_TRUE(Of({Processes({Comm("java")}), Processes({regex})})->reads_process());
}

TEST(TaskFilter, ACpuThatNoKernelHasIsNotThere) {
  auto filter = Of({Cpus("9000-9999")});
  ASSERT_TRUE(filter->cpus());
  EXPECT_TRUE(filter->cpus()->none());
  EXPECT_FALSE(filter->Accepts(filter->Match(Java()), 9000));
}

TEST(TaskFilter, BeyondItsBoundTheContainerIsProfiledWhole) {
  EXPECT_EQ(Of({}), nullptr);
  EXPECT_NE(Of(std::vector<FilterSpec>(64, Cpus("0"))), nullptr);
  EXPECT_EQ(Of(std::vector<FilterSpec>(65, Cpus("0"))), nullptr);
}

}  // namespace
}  // namespace firetower::daemon
