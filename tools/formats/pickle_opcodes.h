// The opcodes of pickles that hold plain values. Source: Python's pickletools documentation.
#pragma once

#include <cstdint>
#include <string_view>

namespace vramscope {

enum PickleOpcode : uint8_t {
  kProto = 0x80,
  kFrame = 0x95,
  kStop = '.',
  kMark = '(',

  kNone = 'N',
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kBinint = 'J',
  kBinint1 = 'K',
  kBinint2 = 'M',
  kLong1 = 0x8a,
  kBinfloat = 'G',
  kShortBinunicode = 0x8c,
  kBinunicode = 'X',
  kBinunicode8 = 0x8d,

  kEmptyList = ']',
  kList = 'l',
  kAppend = 'a',
  kAppends = 'e',
  kEmptyTuple = ')',
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kTuple = 't',
  kEmptyDict = '}',
  kDict = 'd',
  kSetitem = 's',
  kSetitems = 'u',

  kBinput = 'q',
  kLongBinput = 'r',
  kMemoize = 0x94,
  kBinget = 'h',
  kLongBinget = 'j',
};

// Opcodes that import a name or call something: GLOBAL, STACK_GLOBAL, REDUCE, BUILD, INST, OBJ,
// NEWOBJ, NEWOBJ_EX, EXT1, EXT2, EXT4, PERSID, BINPERSID.
constexpr bool executes(uint8_t opcode) {
  return std::string_view("c\x93Rbio\x81\x92\x82\x83\x84PQ").find(static_cast<char>(opcode)) !=
         std::string_view::npos;
}

}  // namespace vramscope
