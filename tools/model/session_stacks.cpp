#include "tools/model/session_stacks.h"

#include "recorder/python_lines.h"
#include "tools/model/symbolizer.h"

namespace vramscope {
namespace {

std::string bytes_of_hex(const std::string& hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1])));
  return bytes;
}

}  // namespace

SessionStacks::SessionStacks(const Session& session, ProcessRecording& process, bool append_native)
    : session_(session), process_(process), append_native_(append_native) {}

bool SessionStacks::needs_native(const Event& event) const {
  return append_native_ || session_.python_stacks.find(event.python_stack).empty();
}

void SessionStacks::note(const Event& event) {
  if (event.native_stack != 0 && needs_native(event)) native_stacks_.insert(event.native_stack);
}

void SessionStacks::name_native_frames() {
  std::vector<CodeAddress> addresses;
  for (const uint32_t stack : native_stacks_) {
    for (const NativeFrame& frame : session_.native_stacks.find(stack))
      if (native_frames_.try_emplace(frame).second)
        addresses.push_back({frame.return_address, frame.module});
  }
  if (addresses.empty()) return;

  std::vector<SymbolModule> modules;
  for (const NativeModule& module : session_.modules)
    modules.push_back(
        {module.begin, module.end, module.bias, bytes_of_hex(module.build_id), module.path});
  const std::vector<SymbolizedFrame> named = symbolize(modules, addresses);
  for (size_t i = 0; i < named.size(); ++i) {
    const Frame frame{process_.strings.intern(named[i].function),
                      process_.strings.intern(named[i].file), static_cast<int32_t>(named[i].line)};
    native_frames_[{addresses[i].return_address, addresses[i].module}] =
        process_.stacks.intern(frame);
  }
}

FrameId SessionStacks::python_frame(const PythonFrame& frame) {
  const uint64_t key = uint64_t{frame.code} << 32 | frame.instruction;
  const auto known = python_frames_.find(key);
  if (known != python_frames_.end()) return known->second;
  Frame named;
  const auto code = session_.python_codes.find(frame.code);
  if (code == session_.python_codes.end()) {  // its definition was lost
    named.name = process_.strings.intern("??");
    named.filename = process_.strings.intern("??");
  } else {
    named.name = process_.strings.intern(code->second.name);
    named.filename = process_.strings.intern(code->second.filename);
    named.line = python_line(code->second.line_table, code->second.python_minor,
                             code->second.first_line, frame.instruction);
  }
  return python_frames_[key] = process_.stacks.intern(named);
}

StackId SessionStacks::of(const Event& event) {
  const uint64_t key = uint64_t{event.python_stack} << 32 | event.native_stack;
  const auto known = stacks_.find(key);
  if (known != stacks_.end()) return known->second;
  frames_.clear();
  for (const PythonFrame& frame : session_.python_stacks.find(event.python_stack))
    frames_.push_back(python_frame(frame));
  if (needs_native(event))
    for (const NativeFrame& frame : session_.native_stacks.find(event.native_stack)) {
      const auto named = native_frames_.find(frame);
      if (named != native_frames_.end()) frames_.push_back(named->second);
    }
  return stacks_[key] = process_.stacks.intern(frames_);
}

StackId SessionStacks::of(std::span<const PythonFrame> frames) {
  frames_.clear();
  for (const PythonFrame& frame : frames) frames_.push_back(python_frame(frame));
  return process_.stacks.intern(frames_);
}

}  // namespace vramscope
