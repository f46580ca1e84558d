// Text of CPython's str objects, read in place: no call into Python, no GIL.
#pragma once

#include <cstddef>
#include <string>

#include "recorder/stacks/python_layout.h"

namespace vramscope {

// UTF-8 of the str object at `object` (a reference to it must be held by somebody), at most
// `limit_bytes` long and cut between characters. Lone surrogates become U+FFFD, as UTF-8 cannot
// hold them; a null pointer or a string that is not compact (only extension modules of 3.11 and
// older can make one) gives "". Sets `truncated` if something was cut. May throw std::bad_alloc.
std::string read_python_string(const PythonLayout& layout, const void* object, size_t limit_bytes,
                               bool& truncated);

// Whether the memory at `object` looks like a str: used to check a layout, not to read strings.
bool looks_like_python_string(const PythonLayout& layout, const void* object);

}  // namespace vramscope
