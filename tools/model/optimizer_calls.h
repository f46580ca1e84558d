// Calls of PyTorch optimizers, recognised in Python stacks.
//
// Every class derived from torch.optim.Optimizer has its step() wrapped by one function of
// torch/optim/optimizer.py, `wrapper` in profile_hook_step, which enters a record_function scope
// first of all; zero_grad() enters one too. Entering any scope is an event of the session, kScope,
// with the Python stack:
//
//   torch/_ops.py              __call__
//   torch/autograd/profiler.py __enter__
//   torch/optim/optimizer.py   wrapper                      <- the call, once
//   train.py                   <module>                     <- its caller
//
// So a call is seen once, whatever the optimizer allocates, whether it is a loop, foreach or fused.
// A wrapper further out makes it a part of that call (an optimizer that calls another's step()).
//
// Not seen: what runs without that function: replays of CUDA graphs, steps that torch.compile has
// traced through, optimizers of other libraries that are not derived from PyTorch's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#include "recorder/session.h"
#include "tools/model/recording.h"

namespace vramscope {

// A scope that was entered by an optimizer.
struct OptimizerCall {
  RangeKind kind = RangeKind::kOptimizerStep;
  PythonFrame frame;                     // of step()'s wrapper or zero_grad()
  std::span<const PythonFrame> callers;  // from its caller outwards; valid as long as the session
};

class OptimizerCalls {
 public:
  explicit OptimizerCalls(const Session& session) : session_(session) {}

  // What the scope is, given its Python stack; nullopt: of no optimizer, or a part of another call.
  std::optional<OptimizerCall> find(uint32_t python_stack);

  // Whether the thread is still inside `call` where it has this stack.
  bool is_inside(const OptimizerCall& call, uint32_t python_stack) const;

 private:
  // What a code object is, as far as optimizers are concerned.
  enum class Code : uint8_t { kOther, kScopeEntry, kStep, kZeroGrad };
  Code code_of(const PythonFrame& frame);

  const Session& session_;
  std::unordered_map<uint32_t, Code> codes_;
};

}  // namespace vramscope
