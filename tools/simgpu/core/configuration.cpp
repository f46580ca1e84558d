#include "tools/simgpu/core/configuration.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "tools/simgpu/core/size_text.h"

namespace simgpu {
namespace {

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

void warn(const char* name, const char* value, const std::string& problem) {
  std::fprintf(stderr, "simgpu: %s=%s: %s\n", name, value, problem.c_str());
}

std::optional<uint64_t> parse_number(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

GpuChoice read_gpus() {
  const GpuChoice fallback = *parse_gpu_choice("h100").choice;
  const char* value = environment("VRAMSCOPE_SIM_GPU");
  if (!value) return fallback;
  const GpuChoiceResult result = parse_gpu_choice(value);
  if (!result.choice) warn("VRAMSCOPE_SIM_GPU", value, result.error + "; using h100");
  return result.choice.value_or(fallback);
}

void read_count(GpuChoice& gpus) {
  const char* value = environment("VRAMSCOPE_SIM_COUNT");
  if (!value) return;
  const auto count = parse_number(value);
  if (count && *count >= 1 && *count <= kMaxDevices) {
    gpus.count = static_cast<int>(*count);
  } else {
    warn("VRAMSCOPE_SIM_COUNT", value,
         "not a number from 1 to " + std::to_string(kMaxDevices) + "; using " +
             std::to_string(gpus.count));
  }
}

void read_context(GpuChoice& gpus) {
  const char* value = environment("VRAMSCOPE_SIM_CONTEXT");
  if (!value) return;
  const auto bytes = parse_size(value);
  if (bytes && *bytes <= gpus.profile.capacity_bytes) {
    gpus.profile.context_bytes = *bytes;
  } else {
    warn("VRAMSCOPE_SIM_CONTEXT", value,
         "not a size within the device's memory (example: 512MiB); using " +
             std::to_string(gpus.profile.context_bytes) + " bytes");
  }
}

uint64_t read_lag() {
  const char* value = environment("VRAMSCOPE_SIM_LAG");
  if (!value) return 0;
  if (const auto calls = parse_lag(value)) return *calls;
  warn("VRAMSCOPE_SIM_LAG", value, "not a number of driver calls (example: 100); using 0");
  return 0;
}

// "GPU-" and at least the first digits of a UUID.
int board_by_uuid(std::string_view entry, int board_count) {
  if (entry.substr(0, 4) != "GPU-" || entry.size() < 5) return -1;
  const std::string_view wanted = entry.substr(4);
  for (int board = 0; board < board_count; ++board) {
    if (std::string_view(uuid_text(board)).substr(0, wanted.size()) == wanted) return board;
  }
  return -1;
}

int board_of(std::string_view entry, int board_count) {
  const auto ordinal = parse_number(entry);
  if (!ordinal) return board_by_uuid(entry, board_count);
  return *ordinal < static_cast<uint64_t>(board_count) ? static_cast<int>(*ordinal) : -1;
}

}  // namespace

std::optional<uint64_t> parse_lag(std::string_view text) {
  const auto calls = parse_number(text);
  return calls && *calls <= kMaxLagCalls ? calls : std::nullopt;
}

void uuid_bytes(int board, char bytes[16]) {
  constexpr std::string_view kPattern = "vramscope-simgpu";
  static_assert(kPattern.size() == 16);
  std::copy(kPattern.begin(), kPattern.end(), bytes);
  // The board's number first, so that a short prefix tells boards apart.
  bytes[0] = static_cast<char>(board);
}

std::string uuid_text(int board) {
  char bytes[16];
  uuid_bytes(board, bytes);
  std::string text;
  for (int i = 0; i < 16; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(bytes[i]));
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits;
  }
  return text;
}

std::vector<int> parse_visible_devices(const std::string& text, int board_count) {
  std::vector<int> boards;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find(',', begin), text.size());
    std::string_view entry = std::string_view(text).substr(begin, end - begin);
    while (!entry.empty() && entry.front() == ' ') entry.remove_prefix(1);
    while (!entry.empty() && entry.back() == ' ') entry.remove_suffix(1);
    const int board = board_of(entry, board_count);
    if (board < 0) break;
    if (std::find(boards.begin(), boards.end(), board) != boards.end()) return {};
    boards.push_back(board);
    begin = end + 1;
  }
  return boards;
}

Configuration read_configuration() {
  Configuration configuration;
  configuration.gpus = read_gpus();
  read_count(configuration.gpus);
  read_context(configuration.gpus);
  configuration.lag_calls = read_lag();
  if (const char* path = environment("VRAMSCOPE_SIM_LOG")) configuration.log_path = path;
  if (const char* job = environment("VRAMSCOPE_SIM_JOB")) configuration.job = job;
  configuration.verbose = environment("VRAMSCOPE_SIM_VERBOSE") != nullptr;
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
    configuration.visible_boards = parse_visible_devices(visible, configuration.gpus.count);
  } else {
    configuration.visible_boards.resize(configuration.gpus.count);
    std::iota(configuration.visible_boards.begin(), configuration.visible_boards.end(), 0);
  }
  return configuration;
}

}  // namespace simgpu
