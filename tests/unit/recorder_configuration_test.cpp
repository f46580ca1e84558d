#include <gtest/gtest.h>

#include "recorder/configuration.h"
#include "recorder/info_text.h"
#include "recorder/process_info.h"

namespace vramscope {
namespace {

Configuration configured_by(std::initializer_list<const char*> assignments) {
  std::vector<const char*> environment(assignments);
  environment.push_back(nullptr);
  return read_configuration(environment.data());
}

TEST(Configuration, DefaultsWithoutVariables) {
  const Configuration configuration = configured_by({"HOME=/root", "VRAMSCOPE=1"});
  EXPECT_EQ(configuration.output, "vramscope-%h-%p");
  EXPECT_TRUE(configuration.python_stacks);
  EXPECT_TRUE(configuration.native_stacks);
  EXPECT_EQ(configuration.ring_bytes, 1048576u);
  EXPECT_EQ(configuration.log_level, LogLevel::kWarn);
  EXPECT_EQ(configuration.drainer_pid, 0u);
  EXPECT_TRUE(configuration.warnings.empty());
}

TEST(Configuration, EveryVariableIsTakenOver) {
  const Configuration configuration = configured_by(
      {"VRAMSCOPE_OUTPUT=out/x", "VRAMSCOPE_STACKS=native", "VRAMSCOPE_RING=64KiB",
       "VRAMSCOPE_OVERFLOW=wait", "VRAMSCOPE_LOG=info", "VRAMSCOPE_DRAINER=77",
       "VRAMSCOPE_OOM=dump", "VRAMSCOPE_POOL=1", "VRAMSCOPE_POOL_SIZE=2GiB", "VRAMSCOPE_SIM_GPU=t4",
       "VRAMSCOPE_DISABLE=0", "VRAMSCOPE_CUPTI=1", "VRAMSCOPE_VERIFY_UNWIND=1"});
  EXPECT_EQ(configuration.output, "out/x");
  EXPECT_FALSE(configuration.python_stacks);
  EXPECT_TRUE(configuration.native_stacks);
  EXPECT_EQ(configuration.ring_bytes, 65536u);
  EXPECT_TRUE(configuration.verify_unwind);
  EXPECT_EQ(configuration.log_level, LogLevel::kInfo);
  EXPECT_EQ(configuration.drainer_pid, 77u);
  EXPECT_TRUE(configuration.warnings.empty());
}

TEST(Configuration, MalformedValuesAreNamedInOneLineEach) {
  const Configuration configuration =
      configured_by({"VRAMSCOPE_RING=abc", "VRAMSCOPE_STACKS=perl", "VRAMSCOPE_LOG=loud",
                     "VRAMSCOPE_OVERFLOW=never", "VRAMSCOPE_DRAINER=me", "VRAMSCOPE_OUTPUT="});
  const std::vector<std::string> expected = {
      "VRAMSCOPE_RING=abc: not a size (example: 1MiB); using 1MiB",
      "VRAMSCOPE_STACKS=perl: not one of python,native, python, native, none; using python,native",
      "VRAMSCOPE_LOG=loud: not one of off, warn, info; using warn",
      "VRAMSCOPE_OVERFLOW=never: not one of wait, flight-recorder; using wait",
      "VRAMSCOPE_DRAINER=me: not a process id; using a thread of this process",
      "VRAMSCOPE_OUTPUT=: empty (example: out/%h-%p); using vramscope-%h-%p",
  };
  EXPECT_EQ(configuration.warnings, expected);
  EXPECT_EQ(configuration.ring_bytes, kDefaultRingBytes);
}

TEST(Configuration, UnknownNameIsNamed) {
  const Configuration configuration = configured_by({"VRAMSCOPE_RINGS=1MiB"});
  ASSERT_EQ(configuration.warnings.size(), 1u);
  EXPECT_TRUE(configuration.warnings[0].starts_with(
      "VRAMSCOPE_RINGS=1MiB: unknown name (known: VRAMSCOPE_OUTPUT, VRAMSCOPE_STACKS,"))
      << configuration.warnings[0];
}

TEST(Configuration, Sizes) {
  EXPECT_EQ(parse_size("512"), 512u);
  EXPECT_EQ(parse_size("512B"), 512u);
  EXPECT_EQ(parse_size("64KiB"), 65536u);
  EXPECT_EQ(parse_size("64kib"), 65536u);
  EXPECT_EQ(parse_size("3MiB"), 3145728u);
  EXPECT_EQ(parse_size("80GiB"), 85899345920u);
  for (const char* wrong : {"", "MiB", "1MB", "1.5MiB", "-1", " 1MiB", "1 MiB", "1MiBx",
                            "18446744073709551616", "17179869184GiB"}) {
    EXPECT_FALSE(parse_size(wrong)) << wrong;
  }
  EXPECT_EQ(parse_ring_size("64MiB"), 67108864u);
  for (const char* wrong : {"32KiB", "128MiB", "3MiB", "0"}) {
    EXPECT_FALSE(parse_ring_size(wrong)) << wrong;
  }
  EXPECT_EQ(format_size(1048576), "1MiB");
  EXPECT_EQ(format_size(1536), "1536B");
  EXPECT_EQ(format_size(65536), "64KiB");
}

TEST(Configuration, Patterns) {
  const PatternValues values{"node1", 42, 3};
  EXPECT_EQ(expand_pattern("out/%h-%p-%r", values), "out/node1-42-3");
  EXPECT_EQ(expand_pattern("100%%p%", values), "100%p%");
  EXPECT_EQ(expand_pattern("%x%", values), "%x%");
  EXPECT_EQ(expand_pattern("rank%r", {"node1", 42, std::nullopt}), "ranknone");
}

TEST(Configuration, RankIsTheFirstNumberInTheKnownVariables) {
  const auto rank = [](std::initializer_list<const char*> assignments) {
    std::vector<const char*> environment(assignments);
    environment.push_back(nullptr);
    return detect_rank(environment.data());
  };
  EXPECT_EQ(rank({"A=1"}), std::nullopt);
  EXPECT_EQ(rank({"SLURM_PROCID=5", "RANK=3"}), 3u);
  EXPECT_EQ(rank({"SLURM_PROCID=5", "RANK=x", "RANKS=1"}), 5u);
  EXPECT_EQ(rank({"PMI_RANK=6", "OMPI_COMM_WORLD_RANK=7"}), 7u);
}

TEST(InfoText, TwinsAgreeOnEveryCharacter) {
  const InfoMap info = {{"a", "plain"},
                        {"b", "two\nlines \\ and \\n"},
                        {"c", ""},
                        {"d", "x=y=z\\"},
                        {"e", "\xc3\xa4"}};
  const std::string text = format_info(info);
  EXPECT_EQ(text, "a=plain\nb=two\\nlines \\\\ and \\\\n\nc=\nd=x=y=z\\\\\ne=\xc3\xa4\n");
  InfoMap parsed = {{"a", "older"}};
  parse_info(text, parsed);
  EXPECT_EQ(parsed, info);
}

TEST(InfoText, LinesWithoutKeyAreSkippedAndNulEnds) {
  InfoMap parsed;
  parse_info(std::string_view("junk\n=x\nk=v\nrest=1\0z=2\n", 22), parsed);
  EXPECT_EQ(parsed, (InfoMap{{"k", "v"}, {"rest", "1"}}));
}

TEST(ProcessInfo, CommandsAreQuotedForAShell) {
  using namespace std::string_view_literals;
  EXPECT_EQ(quote_command("python\0-c\0print('x y')\0\0"sv), "python -c 'print('\\''x y'\\'')' ''");
  EXPECT_EQ(quote_command("a\0"sv), "a");
}

TEST(ProcessInfo, FitsItsPage) {
  Configuration configuration;
  setenv("LD_PRELOAD", std::string(3000, '\\').c_str(), 1);
  const InfoMap info = describe_process(configuration, ClockKind::kMonotonicNs, {5, 7});
  unsetenv("LD_PRELOAD");
  EXPECT_EQ(info.at("pid"), std::to_string(getpid()));
  EXPECT_EQ(info.at("start_ticks"), "5");
  EXPECT_EQ(info.at("start_unix_ns"), "7");
  EXPECT_EQ(info.at("preload").size(), 1000u);
  EXPECT_LT(format_info(info).size(), kProcessInfoBytes);
}

}  // namespace
}  // namespace vramscope
