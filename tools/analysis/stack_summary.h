// The few frames of a stack that tell a person where he is.
#pragma once

#include <string_view>
#include <vector>

#include "tools/model/recording.h"

namespace vramscope {

struct StackSummary {
  // The innermost frame of the user's own code; without one the innermost Python frame. In stacks
  // without Python: the step of the backward pass, else the innermost native frame that is not the
  // allocator's or the dispatcher's. False: the stack is empty.
  bool known = false;
  FrameId place = 0;
  // The innermost frame of all, where it is another one: inside which library call it happened.
  bool has_inside = false;
  FrameId inside = 0;
  // Further out: the user's own frames that led to `place` (without such, whatever frames did).
  std::vector<FrameId> callers;
};

StackSummary summarize_stack(const ProcessRecording& process, StackId stack, size_t max_callers);

// Python's library and installed packages, as opposed to the user's own files.
bool is_library_file(std::string_view filename);

// "torch/nn/modules/linear.py" for a file of an installed package, else the name as it is.
std::string_view short_filename(std::string_view filename);

// A C++ name without its arguments: "at::native::mm(at::Tensor const&)" -> "at::native::mm".
std::string_view short_function_name(std::string_view name);

}  // namespace vramscope
