#include <gtest/gtest.h>

#include "tools/simgpu/core/gpu_choice.h"
#include "tools/simgpu/core/size_text.h"

namespace simgpu {
namespace {

TEST(SizeText, AcceptsBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_size("80GiB"), 85'899'345'920u);
  EXPECT_EQ(parse_size("80GB"), 80'000'000'000u);
  EXPECT_EQ(parse_size("1.5gib"), 1'610'612'736u);
  EXPECT_EQ(parse_size("512MiB"), 536'870'912u);
  EXPECT_EQ(parse_size("3KiB"), 3'072u);
  EXPECT_EQ(parse_size("7B"), 7u);
  EXPECT_EQ(parse_size("0"), 0u);
  EXPECT_EQ(parse_size("2TiB"), 2'199'023'255'552u);
}

TEST(SizeText, RejectsEverythingElse) {
  for (const char* text : {"", "GiB", "80G", "80 GiB", "-1GiB", "1.2.3GiB", ".", "1e3", "80GiBx",
                           "0x10", "9000000000GiB", "nan", "inf"}) {
    EXPECT_EQ(parse_size(text), std::nullopt) << text;
  }
}

TEST(GpuChoice, NamesAProfile) {
  const auto result = parse_gpu_choice("H100");
  ASSERT_TRUE(result.choice) << result.error;
  EXPECT_EQ(result.choice->profile.capacity_bytes, 85'520'809'984u);  // 81,559 MiB
  EXPECT_EQ(result.choice->profile.compute_major, 9);
  EXPECT_EQ(result.choice->profile.sm_count, 132);
  EXPECT_EQ(result.choice->count, 1);
}

TEST(GpuChoice, CountsDevices) {
  EXPECT_EQ(parse_gpu_choice("h100x8").choice->count, 8);
  EXPECT_EQ(parse_gpu_choice("80GiBx2").choice->count, 2);
  EXPECT_EQ(parse_gpu_choice("rtx4090x2").choice->count, 2);
  EXPECT_EQ(parse_gpu_choice("rtx4090x2").choice->profile.name, "rtx4090");
}

TEST(GpuChoice, ANameWithAnXBeforeDigitsIsNoCount) {
  const auto result = parse_gpu_choice("rtx4090");
  ASSERT_TRUE(result.choice) << result.error;
  EXPECT_EQ(result.choice->profile.name, "rtx4090");
  EXPECT_EQ(result.choice->count, 1);
}

TEST(GpuChoice, ASizeIsExactlyThatTotalOnAnH100WithoutContextCost) {
  const auto result = parse_gpu_choice("80GiB");
  ASSERT_TRUE(result.choice) << result.error;
  EXPECT_EQ(result.choice->profile.capacity_bytes, 85'899'345'920u);
  EXPECT_EQ(result.choice->profile.context_bytes, 0u);
  EXPECT_EQ(result.choice->profile.marketing_name, "NVIDIA H100 80GB HBM3");
}

TEST(GpuChoice, SaysWhatIsWrong) {
  const auto unknown = parse_gpu_choice("h999");
  EXPECT_FALSE(unknown.choice);
  EXPECT_NE(unknown.error.find("'h999' is not a GPU: use one of h100, "), std::string::npos)
      << unknown.error;
  EXPECT_EQ(parse_gpu_choice("h100x0").error, "'h100x0' is not a GPU: the count must be 1 to 16");
  EXPECT_EQ(parse_gpu_choice("h100x17").error, "'h100x17' is not a GPU: the count must be 1 to 16");
  EXPECT_EQ(parse_gpu_choice("3TiB").error, "'3TiB' is not a GPU: a size must be 1MiB to 1TiB");
  for (const char* text : {"", "x2", "80", "80x2", "h100x", "h100xx2", "80GiBx2x2", "GiB"}) {
    EXPECT_FALSE(parse_gpu_choice(text).choice) << text;
  }
}

TEST(GpuProfiles, AllHaveTheirOwnArchitecture) {
  for (const GpuProfile& profile : gpu_profiles()) {
    const ArchitectureLimits& limits = architecture_limits(profile);
    EXPECT_EQ(limits.major, profile.compute_major) << profile.name;
    EXPECT_EQ(limits.minor, profile.compute_minor) << profile.name;
    EXPECT_EQ(find_gpu_profile(profile.name), &profile);
    EXPECT_LT(profile.context_bytes, profile.capacity_bytes);
  }
}

}  // namespace
}  // namespace simgpu
