// Optimizer steps: the moments at which PyTorch enters a record_function scope.
//
// torch.optim wraps every optimizer's step() in such a scope. libtorch_cpu asks itself, through the
// PLT, which callbacks a scope has: once for each scope that Python enters, never for an operator.
// That call is hooked and recorded with the Python stack; which scope it is, tools/model reads from
// the stack (optimizer_calls.h). Nothing is recorded before the session's first CUDA event.
#pragma once

namespace vramscope {

void attach_step_hooks(void** wrappers);

}  // namespace vramscope
