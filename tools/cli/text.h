// How figures and places are shown to people. Lines fit 100 columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope {

constexpr size_t kTextColumns = 100;

std::string with_commas(uint64_t value);  // 2,000,200,000
std::string binary_size(uint64_t bytes);  // 1.86 GiB, 512.00 KiB, 17 B
std::string exact_size(uint64_t bytes);   // 1.86 GiB (2,000,200,000 B)
// "1 block", "2,000 blocks"; `many` where an s does not make the plural.
std::string plural(uint64_t count, std::string_view noun, std::string_view many = {});

// What a terminal would obey (control characters) becomes '?'; cut in the middle with "..." to
// `columns` characters.
std::string shown(std::string_view text, size_t columns);

// One line on stderr for each file of a folder that could not be read.
void warn_of_unreadable(const std::vector<std::string>& problems);

}  // namespace vramscope
