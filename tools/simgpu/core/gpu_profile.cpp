#include "tools/simgpu/core/gpu_profile.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "tools/simgpu/core/units.h"

namespace simgpu {
namespace {

// Reports give 287 to 426 MiB for an idle context, plus the kernels that a framework loads into it:
// about 0.5 GiB in a PyTorch job. It varies with driver and board, so that one round number stands
// for all.
constexpr uint64_t kContextBytes = 512 * kMiB;

constexpr int kMiBInt = 1 << 20;

// What PyTorch prints as "79.15 GiB", given as 79'15, in whole MiB.
constexpr uint64_t gib_hundredths(uint64_t hundredths) { return hundredths * 1024 / 100 * kMiB; }

// Capacity: what the CUDA driver reports, which is less than what is printed on the box. Each row
// names the public report (GitHub repository and number) that its capacity was read from:
// nvidia-smi's total, deviceQuery's, or the "total capacity" in an out-of-memory text of PyTorch.
// The other columns: NVIDIA's data sheets and architecture whitepapers; clock: boost.
//
// clang-format off
constexpr std::array kProfiles = {
    //         name       marketing name             capacity                context        CC    SMs   L2                 clock kHz   memory kHz bus     capacity: source
    GpuProfile{"h100",    "NVIDIA H100 80GB HBM3",   81'559 * kMiB,          kContextBytes,  9, 0, 132,  50 * kMiBInt,      1'980'000,  2'619'000, 5120},  // modal-labs/modal-client#2797
    GpuProfile{"h200",    "NVIDIA H200",             143'771 * kMiB,         kContextBytes,  9, 0, 132,  60 * kMiBInt,      1'980'000,  3'201'000, 6144},  // nvidia-smi of one board, driver 580.159.03
    GpuProfile{"b200",    "NVIDIA B200",             gib_hundredths(178'35), kContextBytes, 10, 0, 148, 253 * kMiBInt / 2,  1'965'000,  3'996'000, 7680},  // pytorch/ao#4002 (L2, bus and SMs too)
    GpuProfile{"a100-40", "NVIDIA A100-SXM4-40GB",   42'298'834'944,         kContextBytes,  8, 0, 108,  40 * kMiBInt,      1'410'000,  1'215'000, 5120},  // bottlerocket-os/bottlerocket#3873
    GpuProfile{"a100-80", "NVIDIA A100-SXM4-80GB",   gib_hundredths(79'25),  kContextBytes,  8, 0, 108,  40 * kMiBInt,      1'410'000,  1'593'000, 5120},  // levihsu/OOTDiffusion#235
    GpuProfile{"l4",      "NVIDIA L4",               23'034 * kMiB,          kContextBytes,  8, 9,  58,  48 * kMiBInt,      2'040'000,  6'251'000,  192},  // modal-labs/modal-client#2797
    GpuProfile{"l40s",    "NVIDIA L40S",             gib_hundredths(44'42),  kContextBytes,  8, 9, 142,  96 * kMiBInt,      2'520'000,  9'001'000,  384},  // stepfun-ai/Step-Video-T2V#8
    GpuProfile{"t4",      "Tesla T4",                gib_hundredths(14'75),  kContextBytes,  7, 5,  40,   4 * kMiBInt,      1'590'000,  5'001'000,  256},  // hpcaitech/Open-Sora#697
    GpuProfile{"v100-16", "Tesla V100-SXM2-16GB",    gib_hundredths(15'78),  kContextBytes,  7, 0,  80,   6 * kMiBInt,      1'530'000,    877'000, 4096},  // kchengiva/Shift-GCN#34
    GpuProfile{"v100-32", "Tesla V100-SXM2-32GB",    gib_hundredths(31'74),  kContextBytes,  7, 0,  80,   6 * kMiBInt,      1'530'000,    877'000, 4096},  // liucongg/ChatGLM-Finetuning#73
    GpuProfile{"rtx3090", "NVIDIA GeForce RTX 3090", gib_hundredths(23'68),  kContextBytes,  8, 6,  82,   6 * kMiBInt,      1'695'000,  9'751'000,  384},  // wutong16/HyperDreamer#4
    GpuProfile{"rtx4090", "NVIDIA GeForce RTX 4090", gib_hundredths(23'64),  kContextBytes,  8, 9, 128,  72 * kMiBInt,      2'520'000, 10'501'000,  384},  // 3DTopia/Phidias-Diffusion#8
    GpuProfile{"rtx5090", "NVIDIA GeForce RTX 5090", gib_hundredths(31'37),  kContextBytes, 12, 0, 170,  96 * kMiBInt,      2'407'000, 14'001'000,  512},  // Wan-Video/Wan2.1#465
};
// clang-format on

// CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability".
constexpr std::array kArchitectures = {
    ArchitectureLimits{7, 0, 96 * 1024, 96 * 1024, 2048, 32},
    ArchitectureLimits{7, 5, 64 * 1024, 64 * 1024, 1024, 16},
    ArchitectureLimits{8, 0, 164 * 1024, 163 * 1024, 2048, 32},
    ArchitectureLimits{8, 6, 100 * 1024, 99 * 1024, 1536, 16},
    ArchitectureLimits{8, 9, 100 * 1024, 99 * 1024, 1536, 24},
    ArchitectureLimits{9, 0, 228 * 1024, 227 * 1024, 2048, 32},
    ArchitectureLimits{10, 0, 228 * 1024, 227 * 1024, 2048, 32},
    ArchitectureLimits{12, 0, 100 * 1024, 99 * 1024, 1536, 24},
};

bool is_limits_of(const ArchitectureLimits& limits, const GpuProfile& profile) {
  return limits.major == profile.compute_major && limits.minor == profile.compute_minor;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

}  // namespace

std::span<const GpuProfile> gpu_profiles() { return kProfiles; }

const GpuProfile* find_gpu_profile(std::string_view name) {
  for (const GpuProfile& profile : kProfiles) {
    if (equal_ignoring_case(profile.name, name)) return &profile;
  }
  return nullptr;
}

const ArchitectureLimits& architecture_limits(const GpuProfile& profile) {
  for (const ArchitectureLimits& limits : kArchitectures) {
    if (is_limits_of(limits, profile)) return limits;
  }
  return kArchitectures.back();  // a unit test makes sure that no profile gets here
}

}  // namespace simgpu
