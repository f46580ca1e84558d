#include "tools/simgpu/core/gpu_choice.h"

#include <charconv>

#include "tools/simgpu/core/size_text.h"

namespace simgpu {
namespace {

GpuChoiceResult failure(std::string_view text, const std::string& reason) {
  return {std::nullopt, "'" + std::string(text) + "' is not a GPU: " + reason};
}

std::string possible_names() {
  std::string names;
  for (const GpuProfile& profile : gpu_profiles()) names += std::string(profile.name) + ", ";
  return names + "or a size such as 80GiB, each optionally with xN";
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

GpuChoiceResult parse_gpu_choice(std::string_view text) {
  std::string_view device = text;
  int count = 1;
  // "rtx4090" also has an x before digits: a whole name wins over NAMExN.
  const size_t x = text.find_last_of("xX");
  if (!find_gpu_profile(text) && x != std::string_view::npos && is_digits(text.substr(x + 1))) {
    const std::string_view digits = text.substr(x + 1);
    device = text.substr(0, x);
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    if (parsed.ec != std::errc() || count < 1 || count > kMaxDevices) {
      return failure(text, "the count must be 1 to " + std::to_string(kMaxDevices));
    }
  }
  if (const GpuProfile* profile = find_gpu_profile(device)) return {GpuChoice{*profile, count}, ""};
  const std::optional<uint64_t> capacity = parse_size(device);
  if (!capacity || is_digits(device)) return failure(text, "use one of " + possible_names());
  if (*capacity < (1ull << 20) || *capacity > (1ull << 40)) {
    return failure(text, "a size must be 1MiB to 1TiB");
  }
  GpuProfile sized = *find_gpu_profile("h100");
  sized.capacity_bytes = *capacity;
  sized.context_bytes = 0;
  return {GpuChoice{sized, count}, ""};
}

}  // namespace simgpu
