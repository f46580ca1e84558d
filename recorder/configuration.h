// What the environment asks of the recorder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recorder/log.h"
#include "recorder/ring_file.h"

namespace vramscope {

struct Configuration {
  std::string output = "vramscope-%h-%p";  // VRAMSCOPE_OUTPUT: session files without suffix
  bool python_stacks = true;               // VRAMSCOPE_STACKS
  bool native_stacks = true;
  uint64_t ring_bytes = kDefaultRingBytes;  // VRAMSCOPE_RING: for each thread
  bool verify_unwind = false;               // VRAMSCOPE_VERIFY_UNWIND
  LogLevel log_level = LogLevel::kWarn;     // VRAMSCOPE_LOG
  Overflow overflow = Overflow::kWait;      // VRAMSCOPE_OVERFLOW
  uint32_t drainer_pid = 0;           // VRAMSCOPE_DRAINER=PID[:NUMBER]: `vramscope run` drains
  int drainer_doorbell = -1;          // and has this doorbell (doorbell.h)
  std::vector<std::string> warnings;  // one line per unknown name or malformed value
};

// `environment` is terminated by a null pointer, like environ. Never fails: a malformed value is
// named in `warnings` and its default used. Names that other parts read are accepted.
Configuration read_configuration(const char* const* environment);

// "python,native" in any order, or one of the two, or "none". False: malformed.
bool parse_stacks(std::string_view text, bool& python, bool& native);

// "wait", "flight-recorder".
std::optional<Overflow> parse_overflow(std::string_view text);

// "64KiB", "1MiB", "3GiB", "512B", "4096" (bytes), in any case. nullopt: not a size.
std::optional<uint64_t> parse_size(std::string_view text);

// A power of two from kMinRingBytes to kMaxRingBytes.
std::optional<uint64_t> parse_ring_size(std::string_view text);

std::string format_size(uint64_t bytes);  // "1MiB": the largest unit that divides it

// Rank of this process among its job's: the first of RANK, OMPI_COMM_WORLD_RANK, PMI_RANK,
// SLURM_PROCID that is a number.
std::optional<uint32_t> detect_rank(const char* const* environment);

struct PatternValues {
  std::string host;
  uint32_t pid = 0;
  std::optional<uint32_t> rank;  // %r becomes "none" where there is no rank
};

// Expands %h, %p, %r and %%; any other % stays as it is.
std::string expand_pattern(std::string_view pattern, const PatternValues& values);

}  // namespace vramscope
