// Whether this test runs in a build with a sanitizer: `scripts/test --sanitizer`.
#pragma once

namespace vramscope {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

}  // namespace vramscope
