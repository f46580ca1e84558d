#include "tools/analysis/allocator/settings.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <optional>
#include <vector>

#include "tools/model/user_error.h"

namespace vramscope {
namespace {

struct Option {
  std::string_view key;
  std::string_view value;
};

[[noreturn]] void refuse(const Option& option, const std::string& what) {
  throw UserError("allocator settings: " + std::string(option.key) + ":" +
                  std::string(option.value) + ": " + what);
}

bool as_bool(const Option& option) {
  if (option.value != "True" && option.value != "False") refuse(option, "True or False");
  return option.value == "True";
}

std::optional<uint64_t> as_number(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> as_real(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

uint64_t mebibytes(const Option& option, uint64_t at_least) {
  const auto number = as_number(option.value);
  if (!number || *number < at_least)
    refuse(option, "a whole number of MiB, at least " + std::to_string(at_least));
  return std::min(*number, std::numeric_limits<uint64_t>::max() / kMebibyte) * kMebibyte;
}

double fraction(const Option& option, bool ends_included) {
  const auto number = as_real(option.value);
  const bool inside =
      number && (ends_included ? *number >= 0 && *number <= 1 : *number > 0 && *number < 1);
  if (!inside) refuse(option, ends_included ? "a number from 0 to 1" : "a number between 0 and 1");
  return *number;
}

// Splits at `separator` outside of brackets.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (text[i] == '[' || text[i] == ']')) depth += text[i] == '[' ? 1 : -1;
    if (i < text.size() && (depth > 0 || text[i] != separator)) continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return parts;
}

uint64_t divisions_of(const Option& option, std::string_view text, bool zero_allowed) {
  const auto number = as_number(text);
  if (!number || !(std::has_single_bit(*number) || (zero_allowed && *number == 0)))
    refuse(option, "divisions are powers of two");
  return *number;
}

// "8", or by size "[256:1,512:2,>:4]": requests below 512 MiB, below 1 GiB, above.
void set_divisions(const Option& option, AllocatorSettings& settings) {
  auto& all = settings.roundup_power2_divisions;
  if (!option.value.starts_with('[')) return all.fill(divisions_of(option, option.value, false));
  if (!option.value.ends_with(']')) refuse(option, "] is missing");
  std::optional<size_t> last;
  for (const std::string_view entry : split(option.value.substr(1, option.value.size() - 2), ',')) {
    const size_t colon = entry.find(':');
    if (colon == std::string_view::npos) refuse(option, "entries are MiB:divisions or >:divisions");
    const uint64_t divisions = divisions_of(option, entry.substr(colon + 1), true);
    if (entry.substr(0, colon) == ">") {
      std::fill(all.begin() + static_cast<ptrdiff_t>(last ? *last + 1 : 1), all.end(), divisions);
      continue;
    }
    const auto boundary = as_number(entry.substr(0, colon));
    if (!boundary || !std::has_single_bit(*boundary))
      refuse(option, "sizes are powers of two, in MiB");
    const size_t index = std::min(static_cast<size_t>(std::countr_zero(*boundary)), all.size() - 1);
    if (!last) std::fill_n(all.begin(), index, divisions);
    all[index] = divisions;
    last = index;
  }
}

using Setter = void (*)(const Option&, AllocatorSettings&);

void ignore_bool(const Option& option, AllocatorSettings&) { as_bool(option); }

void ignore_number(const Option& option, AllocatorSettings&) {
  if (!as_number(option.value)) refuse(option, "a whole number");
}

void ignore(const Option& option, AllocatorSettings&) {
  if (option.value.empty()) refuse(option, "a value is missing");
}

struct KnownOption {
  std::string_view key;
  Setter set;
};

constexpr KnownOption kOptions[] = {
    {"expandable_segments",
     [](const Option& o, AllocatorSettings& s) { s.expandable_segments = as_bool(o); }},
    {"max_split_size_mb",
     [](const Option& o, AllocatorSettings& s) {
       s.max_split_bytes = mebibytes(o, s.large_segment_bytes / kMebibyte);
     }},
    {"max_non_split_rounding_mb",
     [](const Option& o, AllocatorSettings& s) {
       s.max_non_split_rounding_bytes = mebibytes(o, s.large_segment_bytes / kMebibyte);
     }},
    {"large_segment_size_mb",
     [](const Option& o, AllocatorSettings& s) { s.large_segment_bytes = mebibytes(o, 11); }},
    {"garbage_collection_threshold",
     [](const Option& o, AllocatorSettings& s) {
       s.garbage_collection_threshold = fraction(o, false);
     }},
    {"per_process_memory_fraction",
     [](const Option& o, AllocatorSettings& s) {
       s.per_process_memory_fraction = fraction(o, true);
     }},
    {"roundup_power2_divisions", set_divisions},
    {"backend",
     [](const Option& o, AllocatorSettings&) {
       if (o.value != "native") refuse(o, "only PyTorch's native allocator can be replayed");
     }},
    {"throw_on_cudamalloc_oom",
     [](const Option& o, AllocatorSettings&) {
       if (as_bool(o)) refuse(o, "cannot be replayed");
     }},
    {"release_lock_on_cudamalloc", ignore_bool},
    {"release_lock_on_hipmalloc", ignore_bool},
    {"graph_capture_record_stream_reuse", ignore_bool},
    {"expandable_segments_reserve", ignore},
    {"expandable_segments_reserve_by_class", ignore},
    {"pinned_use_cuda_host_register", ignore_bool},
    {"pinned_use_hip_host_register", ignore_bool},
    {"pinned_use_background_threads", ignore_bool},
    {"pinned_free_catch_all", ignore_bool},
    {"pinned_num_register_threads", ignore_number},
    {"pinned_reserve_segment_size_mb", ignore_number},
    {"pinned_max_round_threshold_mb", ignore_number},
    {"pinned_max_cached_size_mb", ignore_number},
};

}  // namespace

AllocatorSettings parse_allocator_settings(std::string_view text) {
  std::string dense;
  for (const char c : text)
    if (std::isspace(static_cast<unsigned char>(c)) == 0) dense += c;
  AllocatorSettings settings;
  if (dense.empty()) return settings;
  for (const std::string_view part : split(dense, ',')) {
    const size_t colon = part.find(':');
    if (colon == std::string_view::npos)
      throw UserError("allocator settings: '" + std::string(part) +
                      "': expected OPTION:VALUE, separated by commas");
    const Option option{part.substr(0, colon), part.substr(colon + 1)};
    const auto* known = std::ranges::find(kOptions, option.key, &KnownOption::key);
    if (known == std::end(kOptions))
      throw UserError("allocator settings: '" + std::string(option.key) +
                      "' is no option of PyTorch's allocator");
    known->set(option, settings);
  }
  return settings;
}

}  // namespace vramscope
