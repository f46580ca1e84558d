#include "tools/simgpu/core/size_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "tools/simgpu/core/units.h"

namespace simgpu {
namespace {

struct Unit {
  std::string_view name;
  uint64_t bytes;
};

constexpr std::array kUnits = {
    Unit{"", 1},
    Unit{"b", 1},
    Unit{"kib", kKiB},
    Unit{"mib", kMiB},
    Unit{"gib", kGiB},
    Unit{"tib", kTiB},
    Unit{"kb", 1'000},
    Unit{"mb", 1'000'000},
    Unit{"gb", 1'000'000'000},
    Unit{"tb", 1'000'000'000'000},
};

std::optional<uint64_t> unit_bytes(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const Unit& unit : kUnits) {
    if (unit.name == lower) return unit.bytes;
  }
  return std::nullopt;
}

}  // namespace

std::optional<uint64_t> parse_size(std::string_view text) {
  const size_t number_end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string number(text.substr(0, number_end));
  const std::optional<uint64_t> unit = unit_bytes(text.substr(number_end));
  const bool has_digits = number.find_first_of("0123456789") != std::string::npos;
  const bool one_point = std::count(number.begin(), number.end(), '.') <= 1;
  if (!unit || !has_digits || !one_point) return std::nullopt;
  const long double bytes = std::stold(number) * static_cast<long double>(*unit);
  if (bytes >= 0x1p63L) return std::nullopt;
  return static_cast<uint64_t>(bytes);
}

}  // namespace simgpu
