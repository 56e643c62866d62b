// SPDX-License-Identifier: Apache-2.0
#include "daemon/runtimes/v8/v8_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/daemon/runtimes/v8_isolate.h"

namespace firetower::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::PositionTable;
using testing::V8Isolate;

std::vector<std::string> Said(const std::vector<RuntimePlace>& places) {
  std::vector<std::string> said;
  for (const RuntimePlace& place : places) {
    said.push_back(place.function->name + " " + place.function->file + ":" +
                   std::to_string(place.line));
  }
  return said;
}

// Both layouts that a ScopeInfo and a Code have had.
class V8NamesTest : public ::testing::TestWithParam<uint16_t> {
 protected:
  uint64_t Named(std::string_view name, int32_t start, int32_t variables = 0) {
    return v8_.Function(v8_.Scope(v8_.Text(name), 0, start, variables), script_);
  }
  std::vector<std::string> Find(const V8Frame& frame) {
    return Said(V8Names(v8_.build).Find(v8_.memory, frame));
  }

  // Code of `outer`, into which two calls were compiled, one in the other.
  V8Frame Compile(uint64_t outer, uint64_t middle, uint64_t inner, uint32_t offset, bool leaf,
                  bool weak_literals = true) {
    const uint64_t tag = weak_literals ? 3 : 1;
    PositionTable table(v8_.build.breakable_bit());
    table.Add(0x10, 1).Add(0x20, 9, 2).Add(0x40, 5, 1).Add(0x60, 2);
    struct Inlined {
      int64_t position;
      int32_t function;
      int32_t pad;
    } calls[] = {{PositionTable::Position(2, 0), 0, 0}, {PositionTable::Position(6, 1), 1, 0}};
    const uint64_t literals = v8_.Array({middle + tag, inner + tag});
    const uint64_t inlined = v8_.Bytes(std::as_bytes(std::span(calls)));
    const uint64_t none = V8Isolate::Small(0), text = V8Isolate::Tag(v8_.Bytes({}));
    const uint64_t of_literals = V8Isolate::Tag(literals), of_calls = V8Isolate::Tag(inlined);
    uint64_t shared = V8Isolate::Tag(outer);
    if (v8_.build.major > 12) {
      const uint64_t wrapper = v8_.Object(195, 16);
      v8_.memory.Put(wrapper + 8, shared);
      shared = V8Isolate::Tag(wrapper);
    }
    const uint64_t description =
        v8_.build.major > 12
            ? v8_.Array({text, none, text, of_literals, none, none, none, shared, of_calls, none})
            : v8_.Array({text, none, of_literals, none, none, none, shared, of_calls, none, none});
    code_ = v8_.Object(v8_.build.code_type, 96);
    v8_.memory.Put(code_ + v8_.build.code_description(), V8Isolate::Tag(description));
    v8_.memory.Put(code_ + v8_.build.code_positions(), V8Isolate::Tag(v8_.Bytes(table.bytes())));
    v8_.memory.Put(code_ + v8_.build.code_start, V8Isolate::kCode);
    v8_.memory.Put(code_ + v8_.build.code_size, uint32_t{0x100});
    V8Frame frame = v8_.Frame(outer, static_cast<uint32_t>(V8Isolate::kCode + offset));
    frame.word |= FT_WORD_COMPILED_SCRIPT;
    frame.code = code_ | (leaf ? FT_V8_LEAF : 0);
    frame.feedback = v8_.Object(160, 32);
    return frame;
  }

  V8Isolate v8_{GetParam()};
  uint64_t script_ = v8_.Script("file:///srv/shop/cart.js");
  uint64_t code_ = 0;
};

TEST_P(V8NamesTest, AFunctionHasItsNameItsFileAndItsFirstLine) {
  EXPECT_THAT(Find(v8_.Frame(Named("total", 5))), ElementsAre("total /srv/shop/cart.js:2"));
  EXPECT_THAT(Find(v8_.Frame(Named("busy", 9, 3))), ElementsAre("busy /srv/shop/cart.js:3"));
  EXPECT_THAT(Find(v8_.Frame(Named("module", 0, 80))), ElementsAre("module /srv/shop/cart.js:1"))
      << "the names of more than 75 variables lie elsewhere";
}

TEST_P(V8NamesTest, AFunctionWithoutANameHasTheInferredOneOrItsPlace) {
  const uint64_t empty = v8_.Text("");
  EXPECT_THAT(Find(v8_.Frame(v8_.Function(v8_.Scope(empty, v8_.Text("Cart.add"), 4), script_))),
              ElementsAre("Cart.add /srv/shop/cart.js:2"));
  EXPECT_THAT(Find(v8_.Frame(v8_.Function(v8_.Scope(empty, 0, 4), script_))),
              ElementsAre("(anonymous) cart.js:2 /srv/shop/cart.js:2"));
  EXPECT_THAT(Find(v8_.Frame(v8_.Function(v8_.Scope(0, 0, 8), script_))),
              ElementsAre("(anonymous) cart.js:3 /srv/shop/cart.js:3"));
}

TEST_P(V8NamesTest, ABuiltInFunctionHasItsNameAlone) {
  const uint64_t undefined = v8_.Object(V8Isolate::kUndefined, 16);
  EXPECT_THAT(Find(v8_.Frame(v8_.Function(v8_.Text("map"), undefined))), ElementsAre("map :0"));
}

TEST_P(V8NamesTest, TextsOfEveryKindAreNames) {
  const uint64_t wide = v8_.WideText(u"gr\u00f6\u00dfe\U0001f525");
  EXPECT_THAT(Find(v8_.Frame(v8_.Function(wide, script_))),
              ElementsAre("größe🔥 /srv/shop/cart.js:1"));
  const uint64_t joined = v8_.Joined(v8_.Text("get "), v8_.Text("size"), 8);
  EXPECT_THAT(Find(v8_.Frame(v8_.Function(joined, script_))),
              ElementsAre("get size /srv/shop/cart.js:1"));
  const uint64_t endless = v8_.Joined(joined, joined, 8);
  v8_.memory.Put(endless + 16, V8Isolate::Tag(endless));
  EXPECT_THAT(Find(v8_.Frame(v8_.Function(endless, script_))), IsEmpty());
  const uint64_t longer = v8_.Text(std::string(600, 'x'));
  EXPECT_THAT(Find(v8_.Frame(v8_.Function(longer, script_))),
              ElementsAre(std::string(V8Heap::kMaxText, 'x') + "… /srv/shop/cart.js:1"));
}

TEST_P(V8NamesTest, AnotherObjectInItsPlaceIsNoName) {
  const uint64_t total = Named("total", 5);
  V8Frame frame = v8_.Frame(total);
  frame.where ^= uint64_t{1} << 32;
  EXPECT_THAT(Find(frame), IsEmpty()) << "another cookie";
  frame = v8_.Frame(total);
  v8_.memory.Put(total + v8_.build.shared_name, V8Isolate::Tag(v8_.Text("other")));
  EXPECT_THAT(Find(frame), IsEmpty()) << "another name";
  const uint64_t array = v8_.Array({1, 2, 3, 4, 5, 6});
  EXPECT_THAT(Find(v8_.Frame(array)), IsEmpty()) << "another type";
  EXPECT_THAT(Find({.word = FT_WORD_SCRIPT | 0x10, .where = 1}), IsEmpty()) << "no memory";
}

TEST_P(V8NamesTest, WhatWasReadOutlivesItsProcess) {
  V8Names names(v8_.build);
  const V8Frame frame = v8_.Frame(Named("total", 5));
  EXPECT_THAT(names.Find(v8_.memory, frame), ::testing::SizeIs(1));
  EXPECT_THAT(Said(names.Find(testing::FakeMemory(), frame)),
              ElementsAre("total /srv/shop/cart.js:2"));
}

TEST_P(V8NamesTest, AnInterpretedFrameHasTheLineOfItsBytecode) {
  const uint64_t total = Named("total", 0);
  PositionTable table(v8_.build.breakable_bit());
  table.Add(0, 1).Add(7, 6).Add(200, 14);
  const uint64_t bytecodes = v8_.Object(v8_.build.bytecode_type, 64);
  v8_.memory.Put(bytecodes + v8_.build.source_positions(),
                 V8Isolate::Tag(v8_.Bytes(table.bytes())));
  v8_.memory.Put(total + 8, V8Isolate::Tag(bytecodes));
  const auto at = [&](uint32_t offset) { return Find(v8_.Frame(total, 64 + offset)); };
  EXPECT_THAT(at(0), ElementsAre("total /srv/shop/cart.js:1"));
  EXPECT_THAT(at(6), ElementsAre("total /srv/shop/cart.js:1"));
  EXPECT_THAT(at(7), ElementsAre("total /srv/shop/cart.js:2"));
  EXPECT_THAT(at(201), ElementsAre("total /srv/shop/cart.js:4"));
  EXPECT_THAT(Find(v8_.Frame(total)), ElementsAre("total /srv/shop/cart.js:1"));
}

TEST_P(V8NamesTest, CallsThatWereCompiledIntoTheirCallerAreFramesOfTheirOwn) {
  const uint64_t outer = Named("outer", 0), middle = Named("middle", 4), inner = Named("inner", 8);
  // The return address lies behind the call.
  EXPECT_THAT(Find(Compile(outer, middle, inner, 0x25, false)),
              ElementsAre("inner /srv/shop/cart.js:3", "middle /srv/shop/cart.js:2",
                          "outer /srv/shop/cart.js:1"));
  EXPECT_THAT(Find(Compile(outer, middle, inner, 0x40, false)),
              ElementsAre("inner /srv/shop/cart.js:3", "middle /srv/shop/cart.js:2",
                          "outer /srv/shop/cart.js:1"));
  EXPECT_THAT(Find(Compile(outer, middle, inner, 0x41, false, false)),
              ElementsAre("middle /srv/shop/cart.js:2", "outer /srv/shop/cart.js:1"));
}

TEST_P(V8NamesTest, ALeafBetweenTwoPlacesHasWhatTheyShare) {
  const uint64_t outer = Named("outer", 0), middle = Named("middle", 4), inner = Named("inner", 8);
  EXPECT_THAT(Find(Compile(outer, middle, inner, 0x20, true)),
              ElementsAre("inner /srv/shop/cart.js:3", "middle /srv/shop/cart.js:2",
                          "outer /srv/shop/cart.js:1"))
      << "exactly there";
  EXPECT_THAT(Find(Compile(outer, middle, inner, 0x2a, true)),
              ElementsAre("middle /srv/shop/cart.js:2", "outer /srv/shop/cart.js:1"));
  EXPECT_THAT(Find(Compile(outer, middle, inner, 0x4a, true)),
              ElementsAre("outer /srv/shop/cart.js:1"));
}

TEST_P(V8NamesTest, CodeThatIsNotTheFramesTellsTheFunctionAlone) {
  const uint64_t outer = Named("outer", 0), middle = Named("middle", 4), inner = Named("inner", 8);
  EXPECT_THAT(Find(Compile(outer, middle, inner, 0x101, false)),
              ElementsAre("outer /srv/shop/cart.js:1"))
      << "behind it";
  V8Frame frame = Compile(outer, middle, inner, 0x25, false);
  const V8Frame other = v8_.Frame(middle);
  frame.word = other.word | FT_WORD_COMPILED_SCRIPT;
  frame.where = (other.where & ~uint64_t{UINT32_MAX}) | static_cast<uint32_t>(frame.where);
  EXPECT_THAT(Find(frame), ElementsAre("middle /srv/shop/cart.js:2")) << "of another function";
}

TEST_P(V8NamesTest, ALoopsOwnCodeIsFoundInTheFeedback) {
  const uint64_t outer = Named("outer", 0), middle = Named("middle", 4), inner = Named("inner", 8);
  V8Frame frame = Compile(outer, middle, inner, 0x25, false);
  const uint64_t wrapper = v8_.Object(153, 16), vector = v8_.Object(250, 128);
  v8_.memory.Put(wrapper + 8, V8Isolate::Tag(code_));
  v8_.memory.Put(vector + 8, uint64_t{4});
  v8_.memory.Put(vector + 64, wrapper + FT_V8_TAG_MASK);
  v8_.memory.Put(frame.feedback + 8, V8Isolate::Tag(vector));
  frame.code = v8_.Object(v8_.build.code_type, 96);
  EXPECT_THAT(Find(frame), ElementsAre("inner /srv/shop/cart.js:3", "middle /srv/shop/cart.js:2",
                                       "outer /srv/shop/cart.js:1"));
}

INSTANTIATE_TEST_SUITE_P(Versions, V8NamesTest, ::testing::Values(12, 13, 14));

}  // namespace
}  // namespace firetower::daemon
