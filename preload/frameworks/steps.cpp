#include "preload/frameworks/steps.h"

#include <cerrno>
#include <cstdint>

#include "api.h"
#include "preload/hooks/driver_call.h"
#include "recorder/recorder.h"

namespace vramscope {
namespace {

constexpr Api kApi = Api::_ZN2at16getStepCallbacksENS_11RecordScopeE;

// at::RecordScope::USER_SCOPE, in the low byte of the argument's register.
constexpr uint8_t kUserScope = 7;

// at::StepCallbacks at::getStepCallbacks(at::RecordScope): the result has a destructor, so the
// caller passes the place for it, which on x86-64 is the first argument and what is returned.
using GetStepCallbacks = void*(void* result, uint64_t scope);

void* get_step_callbacks(void* result, uint64_t scope) {
  auto* real = reinterpret_cast<GetStepCallbacks*>(
      shim_services().real_function(static_cast<uint32_t>(kApi)));
  if (static_cast<uint8_t>(scope) == kUserScope) {
    const int saved_errno = errno;
    record_scope(now_ticks());
    errno = saved_errno;
  }
  return real(result, scope);
}

}  // namespace

void attach_step_hooks(void** wrappers) {
  wrappers[static_cast<uint16_t>(kApi)] = reinterpret_cast<void*>(get_step_callbacks);
}

}  // namespace vramscope
