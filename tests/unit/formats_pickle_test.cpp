// Pickles: what is written is read back; what is damaged is an error with its place, never a crash.
#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "tools/formats/pickle_reader.h"
#include "tools/formats/pickle_writer.h"

namespace vramscope {
namespace {

using Kind = PickleDocument::Kind;
using namespace std::string_literals;

// The value as Python would print it: a check that does not share the reader's accessors' bugs.
std::string print(const PickleDocument& document, NodeId node) {
  std::string text;
  const auto items = [&](const char* open, const char* close) {
    text += open;
    for (const NodeId item : document.items(node)) text += print(document, item) + " ";
    text += close;
  };
  switch (document.kind(node)) {
    case Kind::kNone:
      return "None";
    case Kind::kBool:
      return document.integer(node) != 0 ? "True" : "False";
    case Kind::kInteger:
      return std::to_string(document.integer(node));
    case Kind::kReal:
      return std::to_string(document.real(node));
    case Kind::kText:
      return "'" + std::string(document.text(node)) + "'";
    case Kind::kList:
      items("[", "]");
      return text;
    case Kind::kTuple:
      items("(", ")");
      return text;
    case Kind::kDict:
      items("{", "}");
      return text;
  }
  return "?";
}

std::string print(const std::string& pickle) {
  const PickleDocument document(pickle);
  return print(document, document.root());
}

template <typename Write>
std::string written(Write write) {
  std::ostringstream out;
  PickleWriter pickle(out);
  write(pickle);
  pickle.finish();
  return out.str();
}

std::string error_of(const std::string& pickle) {
  try {
    const PickleDocument document(pickle);
  } catch (const PickleError& error) {
    return std::to_string(error.offset) + " " + error.what();
  }
  return "no error";
}

// Bytes that Python 3.11 wrote for {'a': [1, 300, -5, 2**40, 1.5, None, True], 'b': ('x', ())}.
const std::string kProtocol2 =
    "\x80\x02}q\x00(X\x01\x00\x00\x00\x61q\x01]q\x02(K\x01M,"
    "\x01J\xfb\xff\xff\xff\x8a\x06\x00\x00\x00"
    "\x00\x00\x01G?"
    "\xf8\x00\x00\x00\x00\x00\x00N\x88\x65X\x01\x00\x00\x00\x62q\x03X\x01\x00\x00\x00xq"
    "\x04)\x86q\x05u."s;
const std::string kProtocol4 =
    "\x80\x04\x95\x35\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01\x61\x94]\x94(K\x01M,"
    "\x01J\xfb\xff\xff\xff"
    "\x8a\x06\x00\x00\x00\x00\x00\x01G?"
    "\xf8\x00\x00\x00\x00\x00\x00N\x88\x65\x8c\x01\x62\x94\x8c\x01x"
    "\x94)\x86\x94u."s;

TEST(PickleReader, ReadsWhatPythonWrote) {
  const std::string expected = "{'a' [1 300 -5 1099511627776 1.500000 None True ] 'b' ('x' () ) }";
  EXPECT_EQ(print(kProtocol2), expected);
  EXPECT_EQ(print(kProtocol4), expected);
}

TEST(PickleReader, SharedValuesAreOneNode) {
  const PickleDocument document("\x80\x02]q\x00(]q\x01h\x01\x65."s);  // [x := [], x]
  const auto items = document.items(document.root());
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0], items[1]);
}

TEST(PickleReader, AListMayHoldItself) {
  const PickleDocument document("\x80\x02]q\x00h\x00\x61."s);
  EXPECT_EQ(document.items(document.root())[0], document.root());
}

TEST(PickleReader, NeverExecutes) {
  EXPECT_EQ(error_of("\x80\x02\x63posix\nsystem\n."s),
            "2 pickle opcode 0x63 would import or call something");
  EXPECT_EQ(error_of("\x80\x04N\x93."s), "3 pickle opcode 0x93 would import or call something");
  EXPECT_EQ(error_of("\x80\x04N)R."s), "4 pickle opcode 0x52 would import or call something");
  EXPECT_EQ(error_of("\x80\x05\x96."s), "2 pickle opcode 0x96 is not one of a snapshot's");
}

TEST(PickleReader, SaysWhereAFileIsDamaged) {
  EXPECT_EQ(error_of(""), "0 the file is empty");
  EXPECT_EQ(error_of("hello"), "0 not a pickle of protocol 2 or later");
  EXPECT_EQ(error_of("\x80\x06."s), "0 pickle protocol above 5");
  EXPECT_EQ(error_of("\x80\x02X\xff\xff\xff\xffzz"s), "2 cut off");
  EXPECT_EQ(error_of("\x80\x02K\x01"s), "4 cut off");
  EXPECT_EQ(error_of("\x80\x02."s), "2 a damaged pickle: no single value at its end");
  EXPECT_EQ(error_of("\x80\x02q\x01."s), "2 a damaged pickle: nothing on the stack");
  EXPECT_EQ(error_of("\x80\x02h\x01."s), "2 a damaged pickle: memo entry 1 is missing");
  EXPECT_EQ(error_of("\x80\x02\x65."s), "2 a damaged pickle: no mark");
  EXPECT_EQ(error_of("\x80\x02(\x65."s), "3 a damaged pickle: items for no container");
  EXPECT_EQ(error_of("\x80\x02N(N\x65."s), "5 a damaged pickle: items for a value of another kind");
  EXPECT_EQ(error_of("\x80\x02}(Nu."s), "5 a damaged pickle: a key without a value");
  EXPECT_EQ(error_of("\x80\x02]N(\x61."s), "5 a damaged pickle: too little on the stack");
  EXPECT_EQ(error_of("\x80\x02\x8a\x09\x01\x01\x01\x01\x01\x01\x01\x01\x01."s),
            "2 an integer of more than 64 bits");
}

TEST(PickleReader, SurvivesEveryCutAndEveryFlippedByte) {
  for (size_t length = 0; length < kProtocol4.size(); ++length)
    EXPECT_NE(error_of(kProtocol4.substr(0, length)), "no error") << length;
  std::mt19937 random(7);
  for (int round = 0; round < 100'000; ++round) {
    std::string damaged = kProtocol2;
    for (int flips = 1 + static_cast<int>(random() % 4); flips > 0; --flips)
      damaged[2 + random() % (damaged.size() - 2)] = static_cast<char>(random());
    try {
      const PickleDocument document(damaged);
      ASSERT_LT(document.root(), document.node_count());
    } catch (const PickleError& error) {
      ASSERT_LE(error.offset, damaged.size());
    }
  }
}

TEST(PickleWriter, IntegersComeBackFromEveryWidth) {
  for (const int64_t value :
       {int64_t{0}, int64_t{255}, int64_t{256}, int64_t{65535}, int64_t{65536}, int64_t{-1},
        int64_t{INT32_MAX}, int64_t{INT32_MAX} + 1, int64_t{INT32_MIN}, int64_t{INT32_MIN} - 1,
        int64_t{1} << 39, int64_t{1} << 40, -(int64_t{1} << 39), INT64_MAX, INT64_MIN})
    EXPECT_EQ(print(written([value](PickleWriter& pickle) { pickle.integer(value); })),
              std::to_string(value));
}

TEST(PickleWriter, AppendsInBatchesOfAThousand) {
  const std::string pickle = written(
      [](PickleWriter& writer) { writer.list(2500, [&writer](size_t) { writer.none(); }); });
  EXPECT_EQ(std::count(pickle.begin(), pickle.end(), 'e'), 3);
  EXPECT_EQ(std::count(pickle.begin(), pickle.end(), 'N'), 2500);
  const PickleDocument document(pickle);
  EXPECT_EQ(document.items(document.root()).size(), 2500u);
}

TEST(PickleWriter, WritesEachTextOnceAndMendsUtf8) {
  const std::string pickle = written([](PickleWriter& writer) {
    writer.list(
        4, [&writer](size_t i) { writer.text(i == 3 ? "a\xff\xc3\xa9\xed\xa0\x80" : "word"); });
  });
  EXPECT_EQ(print(pickle),
            "['word' 'word' 'word' 'a\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd' ]");
  EXPECT_EQ(pickle.find("word"), pickle.rfind("word"));
}

}  // namespace
}  // namespace vramscope
