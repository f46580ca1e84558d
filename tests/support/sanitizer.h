// Whether this test runs in a build with a sanitizer: `scripts/test --sanitizer`.
#pragma once

namespace vramscope {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

// ThreadSanitizer ends a forked child that starts a thread at the address of one of its parent's
// ("dup thread").
#ifdef __SANITIZE_THREAD__
constexpr bool kIsThreadSanitized = true;
#else
constexpr bool kIsThreadSanitized = false;
#endif

}  // namespace vramscope
