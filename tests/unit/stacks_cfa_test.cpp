// The call frame interpreter and the reader of .eh_frame entries, on entries written by hand.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "recorder/stacks/cfa_interpreter.h"

namespace vramscope {
namespace {

using Bytes = std::vector<uint8_t>;
using Kind = UnwindRule::Kind;
using FramePointer = UnwindRule::FramePointer;

constexpr uint64_t kFunction = 0x1000;
const Bytes kUsualStart = {0x0c, 7, 8, 0x80 | 16, 1};  // CFA = rsp + 8, return address at CFA - 8

UnwindRule rule_at(const Bytes& instructions, uint64_t offset, const Bytes& initial = kUsualStart) {
  FrameDescription description;
  description.initial_instructions = initial;
  description.instructions = instructions;
  return unwind_rule_at(description, kFunction, kFunction + offset);
}

UnwindRule from_stack_pointer(int32_t offset) {
  return {.kind = Kind::kCfaFromStackPointer, .cfa_offset = offset};
}

// push rbp; mov rbp, rsp; ...; pop rbp; ret
TEST(CfaInterpreter, FollowsAFrameWithFramePointer) {
  const Bytes program = {0x41, 0x0e, 16, 0x80 | 6, 2,  // 1: CFA = rsp + 16, rbp at CFA - 16
                         0x43, 0x0d, 6,                // 4: CFA = rbp + 16
                         0x50, 0x0c, 7,  8};           // 20: CFA = rsp + 8
  EXPECT_EQ(rule_at(program, 0), from_stack_pointer(8));
  const UnwindRule pushed{Kind::kCfaFromStackPointer, FramePointer::kSavedAtCfa, -16, 16};
  EXPECT_EQ(rule_at(program, 1), pushed);
  EXPECT_EQ(rule_at(program, 3), pushed);
  const UnwindRule body{Kind::kCfaFromFramePointer, FramePointer::kSavedAtCfa, -16, 16};
  EXPECT_EQ(rule_at(program, 4), body);
  EXPECT_EQ(rule_at(program, 19), body);
  const UnwindRule popped{Kind::kCfaFromStackPointer, FramePointer::kSavedAtCfa, -16, 8};
  EXPECT_EQ(rule_at(program, 20), popped);
}

TEST(CfaInterpreter, AdvancesByOneTwoAndFourBytes) {
  const Bytes program = {0x02, 0xff, 0x0e, 0x90, 0x01,              // 255: CFA = rsp + 144
                         0x03, 0x01, 0x01, 0x0e, 0x98, 0x01,        // 512: 152
                         0x04, 0x00, 0x00, 0x01, 0x00, 0x0e, 0x08,  // 66048: 8
                         0x00};                                     // nothing
  EXPECT_EQ(rule_at(program, 254), from_stack_pointer(8));
  EXPECT_EQ(rule_at(program, 255), from_stack_pointer(144));
  EXPECT_EQ(rule_at(program, 511), from_stack_pointer(144));
  EXPECT_EQ(rule_at(program, 512), from_stack_pointer(152));
  EXPECT_EQ(rule_at(program, 66047), from_stack_pointer(152));
  EXPECT_EQ(rule_at(program, 66048), from_stack_pointer(8));
}

TEST(CfaInterpreter, RemembersAndRestoresRows) {
  const Bytes program = {0x41, 0x0e, 32, 0x80 | 6, 3,  // 1: CFA = rsp + 32, rbp at CFA - 24
                         0x0a,                         // remember
                         0x44, 0x0e, 8,  0xc0 | 6,     // 5: CFA = rsp + 8, rbp unchanged
                         0x42, 0x0b};                  // 7: as at 1
  const UnwindRule body{Kind::kCfaFromStackPointer, FramePointer::kSavedAtCfa, -24, 32};
  EXPECT_EQ(rule_at(program, 4), body);
  EXPECT_EQ(rule_at(program, 5), from_stack_pointer(8));
  EXPECT_EQ(rule_at(program, 7), body);
}

// A function that realigns its stack keeps where its CFA is behind rbp.
TEST(CfaInterpreter, ReadsTheExpressionsOfRealignedStacks) {
  const Bytes program = {0x41, 0x0c, 10, 0,               // 1: CFA = r10
                         0x41, 0x10, 6,  2,    0x76, 0,   // 2: rbp at rbp + 0
                         0x41, 0x0f, 3,  0x76, 0x78, 6};  // 3: CFA = word at rbp - 8
  EXPECT_EQ(rule_at(program, 1).kind, Kind::kUnsupported);
  EXPECT_EQ(rule_at(program, 3),
            (UnwindRule{Kind::kCfaBehindFramePointer, FramePointer::kSavedAtFramePointer, 0, -8}));
}

TEST(CfaInterpreter, TheOutermostFrameHasNoReturnAddress) {
  EXPECT_EQ(rule_at({0x07, 16}, 10).kind, Kind::kEnd);
}

TEST(CfaInterpreter, IgnoresRegistersThatAWalkDoesNotNeed) {
  const Bytes program = {0x80 | 3, 3, 0x80 | 12, 4,  0x05, 13, 5,    0x11, 14,   6, 0x09,
                         1,        2, 0x08,      15, 0x14, 3,  1,    0x15, 3,    1, 0x16,
                         3,        2, 0x76,      0,  0x06, 12, 0x2e, 16,   0x0e, 64};
  EXPECT_EQ(rule_at(program, 5), from_stack_pointer(64));
}

TEST(CfaInterpreter, SignedAndFactoredOffsets) {
  EXPECT_EQ(rule_at({0x12, 7, 0x7e}, 0), from_stack_pointer(16));  // -2 * -8
  EXPECT_EQ(rule_at({0x13, 0x7d}, 0), from_stack_pointer(24));     // -3 * -8
  EXPECT_EQ(rule_at({0x11, 6, 2}, 0).frame_pointer_offset, -16);   // 2 * -8
  EXPECT_EQ(rule_at({0x0e, 0x80, 0x80, 0x80, 0x01}, 0), from_stack_pointer(2 << 20));
}

TEST(CfaInterpreter, RefusesWhatARuleCannotSay) {
  const std::pair<const char*, Bytes> programs[] = {
      {"CFA from rbx", {0x0c, 3, 8}},
      {"return address in a register", {0x09, 16, 3}},
      {"return address elsewhere", {0x80 | 16, 2}},
      {"return address restored", {0xc0 | 16}},
      {"rsp saved", {0x80 | 7, 2}},
      {"rbp in a register", {0x09, 6, 3}},
      {"rbp a value", {0x14, 6, 1}},
      {"rbp by another expression", {0x10, 6, 2, 0x77, 8}},
      {"CFA by another expression", {0x0f, 3, 0x77, 8, 6}},
      {"CFA expression that is no address", {0x0f, 2, 0x76, 8}},
      {"expression with a tail", {0x0f, 4, 0x76, 8, 6, 0x96}},
      {"unknown instruction", {0x3f, 0}},
      {"cut operand", {0x0e}},
      {"cut expression", {0x0f, 9, 0x76}},
      {"restored but not remembered", {0x0b}},
      {"rbp too far away", {0x05, 6, 0x80, 0x80, 0x04}},
      {"remembered too often", Bytes(17, 0x0a)},
  };
  for (const auto& [what, program] : programs) {
    EXPECT_EQ(rule_at(program, 0).kind, Kind::kUnsupported) << what;
  }
}

TEST(CfaInterpreter, SignalFramesAreForLibgcc) {
  FrameDescription description;
  description.is_signal_frame = true;
  description.initial_instructions = kUsualStart;
  EXPECT_EQ(unwind_rule_at(description, 0, 0).kind, Kind::kUnsupported);
}

// An .eh_frame section of one CIE and one FDE.
class Section {
 public:
  Section(const std::string& augmentation, const Bytes& cie_data, const Bytes& fde_tail) {
    Bytes cie = {0, 0, 0, 0, 1};
    cie.insert(cie.end(), augmentation.begin(), augmentation.end());
    cie.insert(cie.end(), {0, 1, 0x78, 16});  // alignments 1 and -8, return column 16
    if (!augmentation.empty()) cie.push_back(static_cast<uint8_t>(cie_data.size()));
    cie.insert(cie.end(), cie_data.begin(), cie_data.end());
    cie.insert(cie.end(), kUsualStart.begin(), kUsualStart.end());
    append(cie);
    fde_ = bytes_.size();
    const auto to_cie = static_cast<uint32_t>(fde_ + 4);
    Bytes fde(4);
    std::memcpy(fde.data(), &to_cie, 4);
    fde.insert(fde.end(), fde_tail.begin(), fde_tail.end());
    append(fde);
  }
  const uint8_t* fde() const { return bytes_.data() + fde_; }
  uint8_t& cie_byte(size_t index) { return bytes_[4 + index]; }

 private:
  void append(const Bytes& entry) {
    const auto length = static_cast<uint32_t>(entry.size());
    const size_t at = bytes_.size();
    bytes_.resize(at + 4);
    std::memcpy(bytes_.data() + at, &length, 4);
    bytes_.insert(bytes_.end(), entry.begin(), entry.end());
  }

  Bytes bytes_;
  size_t fde_ = 0;
};

constexpr uint8_t kRelative4 = 0x1b;                         // DW_EH_PE_pcrel | sdata4
const Bytes kTail4 = {0, 0, 0, 0, 9, 0, 0, 0, 0, 0x0e, 48};  // address, length, no data, CFA

TEST(FrameDescription, AsGccWritesIt) {
  const Section section("zR", {kRelative4}, kTail4);
  const auto description = read_frame_description(section.fde());
  ASSERT_TRUE(description);
  EXPECT_EQ(description->code_alignment, 1u);
  EXPECT_EQ(description->data_alignment, -8);
  EXPECT_FALSE(description->is_signal_frame);
  EXPECT_EQ(unwind_rule_at(*description, kFunction, kFunction), from_stack_pointer(48));
}

TEST(FrameDescription, WithPersonalityAndLanguageData) {
  const Section section("zPLR", {kRelative4, 1, 2, 3, 4, kRelative4, kRelative4},
                        {0, 0, 0, 0, 9, 0, 0, 0, 4, 5, 6, 7, 8, 0x0e, 48});
  const auto description = read_frame_description(section.fde());
  ASSERT_TRUE(description);
  EXPECT_EQ(unwind_rule_at(*description, kFunction, kFunction), from_stack_pointer(48));
}

TEST(FrameDescription, WithoutAugmentationAddressesHaveEightBytes) {
  Bytes tail(16);
  tail.insert(tail.end(), {0x0e, 48});
  const Section section("", {}, tail);
  const auto description = read_frame_description(section.fde());
  ASSERT_TRUE(description);
  EXPECT_EQ(unwind_rule_at(*description, kFunction, kFunction), from_stack_pointer(48));
}

TEST(FrameDescription, OfASignalHandlersFrame) {
  const Section section("zRS", {kRelative4}, kTail4);
  EXPECT_TRUE(read_frame_description(section.fde()).value().is_signal_frame);
}

TEST(FrameDescription, RefusesWhatIsNotWrittenForThisArchitecture) {
  const std::pair<const char*, Section> sections[] = {
      {"unknown augmentation", Section("zRQ", {kRelative4}, kTail4)},
      {"augmentation of old", Section("eh", {}, kTail4)},
      {"addresses of variable size", Section("zR", {0x01}, kTail4)},
      {"personality of variable size", Section("zPR", {0x01, 0, kRelative4}, kTail4)},
      {"aligned personality", Section("zPR", {0x50, 0, 0, 0, 0, 0, 0, 0, 0, kRelative4}, kTail4)},
      {"data longer than the entry", Section("zR", {kRelative4}, {0, 0, 0, 0, 9, 0, 0, 0, 99})},
  };
  for (const auto& [what, section] : sections) {
    EXPECT_FALSE(read_frame_description(section.fde())) << what;
  }
  Section version("zR", {kRelative4}, kTail4);
  version.cie_byte(4) = 4;
  EXPECT_FALSE(read_frame_description(version.fde()));
  Section column("zR", {kRelative4}, kTail4);
  column.cie_byte(10) = 30;
  EXPECT_FALSE(read_frame_description(column.fde()));
  Section not_a_cie("zR", {kRelative4}, kTail4);
  not_a_cie.cie_byte(0) = 1;
  EXPECT_FALSE(read_frame_description(not_a_cie.fde()));
}

}  // namespace
}  // namespace vramscope
