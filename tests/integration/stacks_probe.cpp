// Loaded into real interpreters by python_stacks_test.py: captures the calling thread's stacks as
// the injected core does, and hands out what a reader of the recording would know.
#include <cstdint>
#include <string>

#include "recorder/python_lines.h"
#include "recorder/stacks/stack_capture.h"
#include "tests/unit/stacks_test_sink.h"

namespace {

struct ThreadProbe {
  std::unique_ptr<vramscope::StackCapture> capture = vramscope::make_stack_capture();
  vramscope::CollectingSink sink;
  std::string answer;
};

// Code definitions of all threads: an id may have been defined by another thread than the user's.
vramscope::CollectingSink& probe_sink() {
  static auto* sink = new vramscope::CollectingSink;
  return *sink;
}

ThreadProbe& thread_probe() {
  thread_local ThreadProbe probe;
  return probe;
}

void append_hex(std::string& out, std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (const char byte : bytes) {
    out += kDigits[static_cast<uint8_t>(byte) >> 4];
    out += kDigits[byte & 15];
  }
}

// One line per frame: name, qualified name, file, line table (hex), first line, instruction, minor
// version, line number.
void append_frame(std::string& out, const vramscope::PythonFrame& frame,
                  const vramscope::CollectedDefinition& code) {
  vramscope::PythonCodeDefinition header;
  std::memcpy(&header, code.payload.data(), sizeof header);
  std::string_view rest(code.payload);
  const std::string_view line_table = rest.substr(rest.size() - header.line_table_bytes);
  rest.remove_prefix(sizeof header);
  for (const size_t bytes : {size_t{header.name_bytes}, size_t{header.qualified_name_bytes},
                             size_t{header.filename_bytes}, size_t{header.line_table_bytes}}) {
    append_hex(out, rest.substr(0, bytes));
    out += ' ';
    rest.remove_prefix(bytes);
  }
  out += std::to_string(header.first_line) + ' ' + std::to_string(frame.instruction) + ' ' +
         std::to_string(header.python_minor) + ' ' +
         std::to_string(vramscope::python_line(line_table, header.python_minor, header.first_line,
                                               frame.instruction)) +
         '\n';
}

}  // namespace

#define PROBE extern "C" __attribute__((visibility("default")))

// The Python stack; "none" if there is none, "truncated" as the last line if it was cut. The result
// lives until the thread's next call. For threads that take turns (they hold the GIL).
PROBE const char* stacks_probe_python() {
  ThreadProbe& probe = thread_probe();
  vramscope::CollectingSink& sink = probe_sink();
  const uint32_t id = probe.capture->python(sink);
  probe.answer.clear();
  const auto* stack = sink.find(vramscope::RecordKind::kPythonStack, id);
  if (stack == nullptr) return "none";
  for (const auto& frame : stack->items<vramscope::PythonFrame>()) {
    const auto* code = sink.find(vramscope::RecordKind::kPythonCode, frame.code);
    if (code == nullptr) return "undefined code";
    append_frame(probe.answer, frame, *code);
  }
  if (stack->flags & vramscope::kTruncatedDefinition) probe.answer += "truncated\n";
  return probe.answer.c_str();
}

// The same with a sink of the thread's own, which no other thread sees: without the GIL the number
// of frames is all that is returned.
PROBE int stacks_probe_depth() {
  ThreadProbe& probe = thread_probe();
  const uint32_t id = probe.capture->python(probe.sink);
  const auto* stack = probe.sink.find(vramscope::RecordKind::kPythonStack, id);
  return stack == nullptr ? 0 : static_cast<int>(stack->items<vramscope::PythonFrame>().size());
}

// Bare captures, for timing.
PROBE uint32_t stacks_probe_repeat(int times) {
  ThreadProbe& probe = thread_probe();
  uint32_t id = 0;
  for (int i = 0; i < times; ++i) id = probe.capture->python(probe.sink);
  return id;
}
