// Lines of Python code objects: by hand-worked tables, and as real interpreters say.
#include <glob.h>

#include <cstdio>
#include <sstream>

#include "recorder/python_lines.h"
#include "tests/unit/recorder_support.h"

namespace vramscope {
namespace {

using namespace std::string_view_literals;

TEST(PythonLines, Lnotab) {
  // Example of Objects/lnotab_notes.txt: bytes 0 6 50 350 361 begin lines 1 2 7 207 208.
  constexpr auto kTable = "\x06\x01\x2c\x05\xff\x00\x2d\x7f\x00\x49\x0b\x01"sv;
  const auto line = [&](uint32_t at) { return python_line(kTable, 9, 1, at); };
  EXPECT_EQ(line(0), 1);
  EXPECT_EQ(line(5), 1);
  EXPECT_EQ(line(6), 2);
  EXPECT_EQ(line(49), 2);
  EXPECT_EQ(line(50), 7);
  EXPECT_EQ(line(349), 7);
  EXPECT_EQ(line(350), 207);
  EXPECT_EQ(line(360), 207);
  EXPECT_EQ(line(361), 208);
  EXPECT_EQ(line(10'000), 208);
}

TEST(PythonLines, LnotabGoesBack) {
  constexpr auto kTable = "\x04\x02\x04\xff"sv;  // +4 bytes, +2 lines; +4 bytes, -1 line
  EXPECT_EQ(python_line(kTable, 8, 10, 2), 10);
  EXPECT_EQ(python_line(kTable, 8, 10, 4), 12);
  EXPECT_EQ(python_line(kTable, 8, 10, 8), 11);
}

TEST(PythonLines, Pep626) {
  // 6 bytes at +1; 44 bytes at +1; 4 bytes without line; 10 bytes at -3.
  constexpr auto kTable = "\x06\x01\x2c\x01\x04\x80\x0a\xfd"sv;
  const auto line = [&](uint32_t at) { return python_line(kTable, 10, 100, at); };
  EXPECT_EQ(line(0), 101);
  EXPECT_EQ(line(5), 101);
  EXPECT_EQ(line(6), 102);
  EXPECT_EQ(line(49), 102);
  EXPECT_EQ(line(50), -1);
  EXPECT_EQ(line(53), -1);
  EXPECT_EQ(line(54), 99);
  EXPECT_EQ(line(63), 99);
  EXPECT_EQ(line(64), -1);
}

TEST(PythonLines, LocationTable) {
  constexpr auto kTable =
      "\x80\x11"                  // short form, 1 unit: same line
      "\xd9\x05\x06"              // one line form 11 (+1), 2 units
      "\xe8\x13"                  // no columns, 1 unit: svarint 19 = -9
      "\xf0\x42\x05\x01\x02\x03"  // long, 1 unit: svarint 2 | 5 << 6 = 322 = +161
      "\xfb"                      // no line, 4 units
      "\x87\x00"sv;               // short form, 8 units
  const auto line = [&](uint32_t at) { return python_line(kTable, 11, 50, at); };
  EXPECT_EQ(line(0), 50);
  EXPECT_EQ(line(2), 51);
  EXPECT_EQ(line(5), 51);
  EXPECT_EQ(line(6), 42);
  EXPECT_EQ(line(8), 203);
  EXPECT_EQ(line(10), -1);
  EXPECT_EQ(line(17), -1);
  EXPECT_EQ(line(18), 203);
  EXPECT_EQ(line(33), 203);
  EXPECT_EQ(line(34), -1);
}

TEST(PythonLines, FrameThatHasNotBegunIsAtTheFirstLine) {
  for (const uint16_t minor : {8, 9, 10, 11, 14}) {
    EXPECT_EQ(python_line("", minor, 33, static_cast<uint32_t>(-1)), 33);
  }
}

TEST(PythonLines, DamagedTablesAreSurvived) {
  std::string table;
  uint32_t state = 1;
  for (int i = 0; i < 2000; ++i) {
    state = state * 1664525 + 1013904223;
    table += static_cast<char>(state >> 24);
    for (const uint16_t minor : {9, 10, 11}) python_line(table, minor, 0x7fffffff, 1'000'000);
  }
}

// Prints "minor first_line table_in_hex", then "begin end line" for each range, then an empty line,
// for code objects of the standard library and for generated ones with lines in any order.
constexpr char kOracle[] = R"python(
import ast, dis, random, sys, types

def ranges(code):
    if hasattr(code, "co_lines"):
        return list(code.co_lines())
    starts = list(dis.findlinestarts(code)) or [(0, code.co_firstlineno)]
    ends = [s[0] for s in starts[1:]] + [len(code.co_code)]
    return [(s, e, line) for (s, line), e in zip(starts, ends)]

def show(code):
    table = code.co_linetable if hasattr(code, "co_linetable") else code.co_lnotab
    print(sys.version_info[1], code.co_firstlineno, table.hex() or "-")
    for begin, end, line in ranges(code):
        print(begin, end, -1 if line is None else line)
    print()
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            show(constant)

import argparse, asyncio.base_events, collections, dataclasses, decimal, enum, functools, inspect, typing
for module in (argparse, asyncio.base_events, ast, collections, dataclasses, dis, enum, functools, inspect, typing):
    show(compile(open(module.__file__).read(), module.__file__, "exec"))

random.seed(7)
source = "\n".join("def f%d(x):\n  y = [x, x + 1, g(x,\n    x)]\n  for i in y:\n    try: h(i)\n    finally: k(y)\n  return y" % i for i in range(20))
for spread in (3, 60, 130, 300, 5000, 100000):
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = random.randrange(1, spread)
            node.end_lineno = node.lineno
            node.col_offset = node.end_col_offset = 0
    show(compile(tree, "generated", "exec"))
for count in (1, 127, 128, 129, 255, 256, 257, 1000):
    show(compile("a = 1" + "\n" * count + "b = f(" + "\n" * count + "a, " + "c, " * count + ")", "gaps", "exec"))
)python";

std::string bytes_of_hex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

std::string output_of(const std::string& command) {
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  char buffer[65536];
  while (const size_t n = fread(buffer, 1, sizeof(buffer), pipe)) output.append(buffer, n);
  return pclose(pipe) == 0 ? output : std::string();
}

// python3, and what other versions this machine has.
std::vector<std::string> interpreters() {
  std::vector<std::string> found = {"python3"};
  const char* home = getenv("HOME");
  const std::string pattern = std::string(home ? home : "") + "/.pyenv/versions/3.*/bin/python3";
  glob_t matches{};
  if (glob(pattern.c_str(), 0, nullptr, &matches) == 0) {
    for (size_t i = 0; i < matches.gl_pathc; ++i) found.emplace_back(matches.gl_pathv[i]);
  }
  globfree(&matches);
  return found;
}

struct Comparison {
  size_t codes = 0;
  size_t offsets = 0;
  size_t differences = 0;
};

void compare_code(const std::string& table, uint16_t minor, int first_line, std::istream& oracle,
                  Comparison& comparison) {
  ++comparison.codes;
  std::string range;
  std::getline(oracle, range);
  while (std::getline(oracle, range) && !range.empty()) {
    uint32_t begin = 0;
    uint32_t end = 0;
    int line = 0;
    ASSERT_EQ(std::sscanf(range.c_str(), "%u %u %d", &begin, &end, &line), 3);
    for (uint32_t at = begin; at < end; at += 2) {
      const int answer = python_line(table, minor, first_line, at);
      ++comparison.offsets;
      if (answer != line && ++comparison.differences <= 5) {
        ADD_FAILURE() << "3." << minor << ": code at line " << first_line << ", offset " << at
                      << ": " << answer << ", not " << line;
      }
    }
  }
}

TEST(PythonLines, AgreeWithInterpreters) {
  const TemporaryFolder folder;
  write_file(folder.file("oracle.py"), kOracle);
  for (const std::string& python : interpreters()) {
    const std::string version = output_of(python + " -c 'import sys; print(sys.version_info[1])'");
    if (!version.empty() && std::stoi(version) < 8) continue;  // not recorded
    std::istringstream oracle(output_of(python + " " + folder.file("oracle.py")));
    Comparison comparison;
    uint16_t minor = 0;
    int first_line = 0;
    std::string hex;
    while (oracle >> minor >> first_line >> hex) {
      compare_code(bytes_of_hex(hex), minor, first_line, oracle, comparison);
    }
    EXPECT_EQ(comparison.differences, 0u) << python;
    EXPECT_GT(comparison.codes, 500u) << python;
    EXPECT_GT(comparison.offsets, 50'000u) << python;
    std::printf("%s (3.%d): %zu code objects, %zu offsets\n", python.c_str(), minor,
                comparison.codes, comparison.offsets);
  }
}

}  // namespace
}  // namespace vramscope
