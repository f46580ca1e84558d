// How CPython's structures are read, on hand-made ones: tests/integration/python_stacks_test.py
// does it in real interpreters.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "recorder/stacks/python_codes.h"
#include "recorder/stacks/python_frames.h"
#include "recorder/stacks/python_layout.h"
#include "recorder/stacks/python_strings.h"
#include "tests/unit/stacks_test_sink.h"

namespace vramscope {
namespace {

// A zeroed structure of CPython's, fields set by their offset.
class Structure {
 public:
  template <typename Value>
  Structure& set(uint16_t offset, Value value) {
    std::memcpy(memory_.get() + offset, &value, sizeof value);
    return *this;
  }
  Structure& set_bytes(uint16_t offset, const std::string& bytes) {
    std::memcpy(memory_.get() + offset, bytes.data(), bytes.size());
    return *this;
  }
  const void* address() const { return memory_.get(); }
  uint64_t word() const { return reinterpret_cast<uint64_t>(address()); }

 private:
  static constexpr size_t kBytes = 1024;
  std::unique_ptr<std::byte[]> memory_ = std::make_unique<std::byte[]>(kBytes);
};

// ---- strings

enum Kind : uint32_t { kAscii = 0, kOneByte = 1, kTwoBytes = 2, kFourBytes = 4 };

template <typename Char>
Structure make_string(const PythonLayout& layout, Kind kind, const std::vector<Char>& characters) {
  const bool is_ascii = kind == kAscii;
  const uint32_t state = (is_ascii ? 1u : kind) << layout.string_kind_shift |
                         1u << layout.string_compact_bit |
                         (is_ascii ? 1u : 0u) << layout.string_ascii_bit;
  Structure string;
  string.set(layout.string_state, state)
      .set(layout.string_length, static_cast<int64_t>(characters.size()))
      .set_bytes(is_ascii ? layout.string_ascii_data : layout.string_compact_data,
                 std::string(reinterpret_cast<const char*>(characters.data()),
                             characters.size() * sizeof(Char)));
  return string;
}

Structure make_ascii(const PythonLayout& layout, const std::string& text) {
  return make_string(layout, kAscii, std::vector<char>(text.begin(), text.end()));
}

class EveryVersion : public testing::TestWithParam<unsigned> {
 protected:
  const PythonLayout& layout = *find_python_layout(GetParam());

  std::string read(const Structure& string, size_t limit = 100) {
    truncated = false;
    return read_python_string(layout, string.address(), limit, truncated);
  }
  bool truncated = false;
};
INSTANTIATE_TEST_SUITE_P(Python3, EveryVersion, testing::Values(9, 10, 11, 12, 13, 14));

TEST_P(EveryVersion, ReadsStringsOfEveryWidth) {
  EXPECT_EQ(read(make_ascii(layout, "forward")), "forward");
  EXPECT_EQ(read(make_string<uint8_t>(layout, kOneByte, {'g', 0xfc})), "g\xc3\xbc");
  EXPECT_EQ(read(make_string<uint16_t>(layout, kTwoBytes, {0x41, 0x7ff, 0x800, 0xffff})),
            "A\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf");
  EXPECT_EQ(read(make_string<uint32_t>(layout, kFourBytes, {0x1f525, 0x10ffff})),
            "\xf0\x9f\x94\xa5\xf4\x8f\xbf\xbf");
  EXPECT_FALSE(truncated);
}

TEST_P(EveryVersion, SurrogatesAndGarbageBecomeTheReplacementCharacter) {
  EXPECT_EQ(read(make_string<uint16_t>(layout, kTwoBytes, {0xd800, 0xdfff, 0x61})),
            "\xef\xbf\xbd\xef\xbf\xbd"
            "a");
  EXPECT_EQ(read(make_string<uint32_t>(layout, kFourBytes, {0x110000})), "\xef\xbf\xbd");
}

TEST_P(EveryVersion, LongStringsAreCutBetweenCharacters) {
  EXPECT_EQ(read(make_ascii(layout, "abcdef"), 4), "abcd");
  EXPECT_TRUE(truncated);
  EXPECT_EQ(read(make_string<uint8_t>(layout, kOneByte, {0xe9, 0xe9, 0xe9}), 5),
            "\xc3\xa9\xc3\xa9");
  EXPECT_TRUE(truncated);
  EXPECT_EQ(read(make_ascii(layout, "abcd"), 4), "abcd");
  EXPECT_FALSE(truncated);
}

TEST_P(EveryVersion, WhatIsNoCompactStringIsEmpty) {
  Structure legacy = make_ascii(layout, "x");
  legacy.set(layout.string_state, uint32_t{0});
  EXPECT_EQ(read(legacy), "");
  EXPECT_FALSE(looks_like_python_string(layout, legacy.address()));
  EXPECT_EQ(read_python_string(layout, nullptr, 10, truncated), "");
}

// ---- code objects

struct FakeCode {
  explicit FakeCode(const PythonLayout& layout, const std::string& function, int line)
      : name(make_ascii(layout, function)),
        qualified_name(make_ascii(layout, "Outer." + function)),
        filename(make_ascii(layout, "/src/" + function + ".py")) {
    lines.set(layout.variable_size, int64_t{3}).set_bytes(layout.bytes_data, {"\x01\x00\x02", 3});
    object.set(layout.code_name, name.address())
        .set(layout.code_filename, filename.address())
        .set(layout.code_line_table, lines.address())
        .set(layout.code_first_line, int32_t{line});
    if (layout.code_qualified_name != kAbsent) {
      object.set(layout.code_qualified_name, qualified_name.address());
    }
  }
  Structure name, qualified_name, filename, lines, object;
};

TEST_P(EveryVersion, CodeDefinitionHoldsNamesLineAndTable) {
  const FakeCode fake(layout, "step", 17);
  CollectingSink sink;
  KnownPythonCode* code = find_or_add_python_code(fake.object.address());
  ASSERT_NE(code, nullptr);
  ASSERT_TRUE(define_python_code(*code, layout, sink));
  ASSERT_TRUE(define_python_code(*code, layout, sink));
  ASSERT_EQ(sink.definitions.size(), 1u);
  const CollectedDefinition& definition = sink.definitions[0];
  EXPECT_EQ(definition.kind, RecordKind::kPythonCode);
  EXPECT_EQ(definition.id, code->id);
  EXPECT_EQ(definition.flags, 0);
  const std::string qualified_name = layout.minor >= 11 ? "Outer.step" : "step";
  PythonCodeDefinition header{.first_line = 17,
                              .python_minor = static_cast<uint16_t>(GetParam()),
                              .name_bytes = 4,
                              .qualified_name_bytes = static_cast<uint16_t>(qualified_name.size()),
                              .filename_bytes = 12,
                              .line_table_bytes = 3};
  const std::string expected = std::string(reinterpret_cast<const char*>(&header), sizeof header) +
                               "step" + qualified_name + "/src/step.py" +
                               std::string("\x01\x00\x02", 3);
  EXPECT_EQ(definition.payload, expected);
  bury_python_code(fake.object.address());
}

TEST(PythonCodes, DeadAddressGetsANewId) {
  const PythonLayout& layout = *find_python_layout(11);
  const FakeCode fake(layout, "f", 1);
  CollectingSink sink;
  const void* address = fake.object.address();
  KnownPythonCode* code = find_or_add_python_code(address);
  const uint32_t first_id = code->id;
  ASSERT_TRUE(define_python_code(*code, layout, sink));
  EXPECT_EQ(find_or_add_python_code(address), code);

  const uint64_t deaths = python_code_deaths.load();
  bury_python_code(address);
  EXPECT_EQ(python_code_deaths.load(), deaths + 1);
  EXPECT_EQ(code->id, 0u);
  bury_python_code(address);  // a code object that no stack had: not counted
  EXPECT_EQ(python_code_deaths.load(), deaths + 1);

  KnownPythonCode* again = find_or_add_python_code(address);
  EXPECT_NE(again->id, 0u);
  EXPECT_NE(again->id, first_id);
  EXPECT_FALSE(again->is_defined);
  bury_python_code(address);
}

TEST(PythonCodes, FullRingLeavesTheCodeUndefined) {
  const PythonLayout& layout = *find_python_layout(12);
  const FakeCode fake(layout, "f", 1);
  CollectingSink sink;
  sink.room = 0;
  KnownPythonCode* code = find_or_add_python_code(fake.object.address());
  EXPECT_FALSE(define_python_code(*code, layout, sink));
  sink.room = 1;
  EXPECT_TRUE(define_python_code(*code, layout, sink));
  bury_python_code(fake.object.address());
}

TEST(PythonCodes, ManyCodesKeepTheirIds) {
  std::vector<char> addresses(20000);
  std::vector<uint32_t> ids;
  ids.reserve(addresses.size());
  for (const char& address : addresses) ids.push_back(find_or_add_python_code(&address)->id);
  std::vector<uint32_t> sorted = ids;
  std::ranges::sort(sorted);
  EXPECT_EQ(std::ranges::adjacent_find(sorted), sorted.end());
  for (size_t i = 0; i < addresses.size(); ++i) {
    ASSERT_EQ(find_or_add_python_code(&addresses[i])->id, ids[i]);
  }
  forget_python_codes_after_fork();
  EXPECT_GT(find_or_add_python_code(&addresses[0])->id, sorted.back());
  bury_python_code(&addresses[0]);
}

// ---- frames

// thread -> inner -> outer, as the version links them.
struct FakeFrames {
  explicit FakeFrames(const PythonLayout& layout) {
    inner.set(layout.frame_code, code_of_inner.word()).set(layout.frame_previous, outer.address());
    outer.set(layout.frame_code, code_of_outer.word());
    if (layout.cframe_frame == kAbsent) {
      thread.set(layout.thread_frame, inner.address());
    } else {
      cframe.set(layout.cframe_frame, inner.address());
      thread.set(layout.thread_frame, cframe.address());
    }
  }
  Structure code_of_inner, code_of_outer, inner, outer, cframe, thread;
};

TEST_P(EveryVersion, WalksFromTheInnermostFrameOut) {
  const FakeFrames fake(layout);
  PythonFrameKey keys[8];
  const PythonWalk walk =
      walk_python_frames(layout, innermost_python_frame(layout, fake.thread.address()), keys);
  ASSERT_EQ(walk.count, 2u);
  EXPECT_FALSE(walk.truncated);
  EXPECT_EQ(keys[0].code, fake.code_of_inner.word());
  EXPECT_EQ(keys[1].code, fake.code_of_outer.word());
}

TEST_P(EveryVersion, DeepStacksAreCutAtTheOutside) {
  const FakeFrames fake(layout);
  PythonFrameKey keys[1];
  const PythonWalk walk =
      walk_python_frames(layout, innermost_python_frame(layout, fake.thread.address()), keys);
  EXPECT_EQ(walk.count, 1u);
  EXPECT_TRUE(walk.truncated);
  EXPECT_EQ(keys[0].code, fake.code_of_inner.word());
}

TEST_P(EveryVersion, ThreadWithoutFramesHasNone) {
  const Structure thread;
  PythonFrameKey keys[8];
  EXPECT_EQ(
      walk_python_frames(layout, innermost_python_frame(layout, thread.address()), keys).count, 0u);
  EXPECT_EQ(innermost_globals(layout, thread.address()), nullptr);
}

class From312 : public EveryVersion {};
INSTANTIATE_TEST_SUITE_P(Python3, From312, testing::Values(12, 13, 14));

TEST_P(From312, FramesOfTheInterpreterAreLeftOut) {
  FakeFrames fake(layout);
  fake.inner.set(layout.frame_owner, uint8_t{3});
  PythonFrameKey keys[8];
  ASSERT_EQ(
      walk_python_frames(layout, innermost_python_frame(layout, fake.thread.address()), keys).count,
      1u);
  EXPECT_EQ(keys[0].code, fake.code_of_outer.word());
}

TEST_P(EveryVersion, InstructionIsAnOffsetInBytes) {
  Structure code;
  Structure frame;
  Structure thread;
  Structure cframe;
  frame.set(layout.frame_code, code.word());
  if (layout.cframe_frame != kAbsent) cframe.set(layout.cframe_frame, frame.address());
  thread.set(layout.thread_frame, layout.cframe_frame == kAbsent ? frame.word() : cframe.word());
  const auto offset_at = [&](int64_t position) {
    if (layout.minor <= 10) {
      frame.set(layout.frame_position, static_cast<int32_t>(position));
    } else {
      frame.set(layout.frame_position, code.word() + layout.code_bytecode + position);
    }
    PythonFrameKey key[1];
    walk_python_frames(layout, innermost_python_frame(layout, thread.address()), key);
    return instruction_offset(layout, key[0]);
  };
  EXPECT_EQ(offset_at(0), 0u);
  EXPECT_EQ(offset_at(24), layout.minor == 10 ? 48u : 24u);
  EXPECT_EQ(offset_at(-2), kBeforeFirstInstruction);
}

class From311 : public EveryVersion {};
INSTANTIATE_TEST_SUITE_P(Python3, From311, testing::Values(11, 12, 13, 14));

TEST_P(From311, FramesBeingSetUpAreIncompleteUnlessAGeneratorOwnsThem) {
  FakeFrames fake(layout);
  fake.code_of_inner.set(layout.code_first_traceable, int32_t{4});
  const uint64_t bytecode = fake.code_of_inner.word() + layout.code_bytecode;
  PythonFrameKey keys[8];
  const auto inner_is_incomplete = [&](uint64_t position, uint8_t owner) {
    fake.inner.set(layout.frame_position, bytecode + position).set(layout.frame_owner, owner);
    walk_python_frames(layout, innermost_python_frame(layout, fake.thread.address()), keys);
    return is_incomplete(layout, keys[0]);
  };
  EXPECT_TRUE(inner_is_incomplete(6, 0));  // unit 3 of 4
  EXPECT_FALSE(inner_is_incomplete(8, 0));
  EXPECT_FALSE(inner_is_incomplete(6, 1));
  EXPECT_EQ(instruction_offset(layout, keys[0]), 6u);  // the owner is no part of the offset
}

TEST(PythonFrames, TagsOfReferencesAreNoPartOfTheAddress) {
  const PythonLayout& layout = *find_python_layout(14);
  FakeFrames fake(layout);
  fake.inner.set(layout.frame_code, fake.code_of_inner.word() | 1);
  PythonFrameKey keys[8];
  walk_python_frames(layout, innermost_python_frame(layout, fake.thread.address()), keys);
  EXPECT_EQ(keys[0].code, fake.code_of_inner.word());
}

// ---- layouts

TEST(PythonLayouts, OnlySupportedVersionsHaveOne) {
  EXPECT_EQ(find_python_layout(8), nullptr);
  EXPECT_EQ(find_python_layout(15), nullptr);
  EXPECT_EQ(find_python_layout(9)->minor, 9);
  EXPECT_EQ(find_python_layout(14)->minor, 14);
}

// _Py_DebugOffsets of 3.13: cookie, version, free_threaded, then offsets.
Structure published_by_313() {
  Structure runtime;
  runtime.set_bytes(0, "xdebugpy").set(8, uint64_t{0x030d00f0});
  const struct {
    unsigned place;
    uint64_t value;
  } kPublished[] = {{23, 72},  {29, 8},   {30, 0},   {31, 56}, {33, 70}, {35, 112},
                    {36, 121}, {37, 128}, {38, 136}, {39, 68}, {43, 232}};
  for (const auto& [place, value] : kPublished) {
    runtime.set(static_cast<uint16_t>(place * 8), value);
  }
  return runtime;
}

DebugOffsetsError apply(const Structure& runtime, PythonLayout& layout) {
  return apply_debug_offsets(static_cast<const std::byte*>(runtime.address()), layout);
}

TEST(PythonLayouts, PublishedOffsetsWin) {
  PythonLayout layout = *find_python_layout(13);
  ASSERT_EQ(apply(published_by_313(), layout), DebugOffsetsError::kNone);
  EXPECT_EQ(layout.code_name, 121);
  EXPECT_EQ(layout.code_bytecode, 232);
  EXPECT_EQ(layout.code_first_traceable, 232 - 16);
}

TEST(PythonLayouts, UnreadableOffsetsLeaveTheLayoutAlone) {
  const PythonLayout& original = *find_python_layout(13);
  const auto check = [&](const Structure& runtime, DebugOffsetsError expected) {
    PythonLayout layout = original;
    EXPECT_EQ(apply(runtime, layout), expected);
    EXPECT_EQ(std::memcmp(&layout, &original, sizeof layout), 0);
  };
  check(published_by_313().set(16, uint64_t{1}), DebugOffsetsError::kFreeThreaded);
  check(published_by_313().set_bytes(0, "xdebugpx"), DebugOffsetsError::kUnreadable);
  check(published_by_313().set(8, uint64_t{0x030e00f0}), DebugOffsetsError::kUnreadable);
  check(published_by_313().set(33 * 8, uint64_t{0x10000}), DebugOffsetsError::kUnreadable);
  PythonLayout layout = original;
  EXPECT_EQ(apply_debug_offsets(nullptr, layout), DebugOffsetsError::kUnreadable);
}

}  // namespace
}  // namespace vramscope
