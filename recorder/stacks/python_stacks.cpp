#include "recorder/stacks/python_stacks.h"

#include "recorder/stacks/stack_ids.h"

namespace vramscope {
namespace {

std::span<const uint64_t> words_of(std::span<const PythonFrameKey> keys) {
  constexpr size_t kWordsPerKey = sizeof(PythonFrameKey) / sizeof(uint64_t);
  return {reinterpret_cast<const uint64_t*>(keys.data()), keys.size() * kWordsPerKey};
}

}  // namespace

[[gnu::hot]] uint32_t PythonStacks::capture(DefinitionSink& sink) {
  const PythonRuntime* runtime = PythonRuntime::find();
  if (runtime == nullptr) return 0;
  const void* thread_state = runtime->thread_state();
  if (thread_state == nullptr) return 0;
  const void* innermost = innermost_python_frame(runtime->layout(), thread_state);
  if (innermost == nullptr) return 0;
  PythonTraceCache::Trace* known = traces_.find(runtime->layout(), innermost);
  if (known != nullptr && is_current(*known)) return known->id;
  return capture_by_walking(*runtime, thread_state, innermost, sink);
}

uint32_t PythonStacks::capture_by_walking(const PythonRuntime& runtime, const void* thread_state,
                                          const void* innermost, DefinitionSink& sink) {
  const PythonWalk walk =
      walk_python_frames(runtime.layout(), innermost, walked_->keys, walked_->states);
  if (walk.count == 0) return 0;
  InternedStacks::Stack* stack =
      intern(runtime, thread_state, {walked_->keys, walk.count}, walk.truncated, sink);
  if (stack == nullptr) return 0;
  if (walk.state_count != 0) {
    traces_.remember(innermost, {walked_->states, walk.state_count}, stack, stack->notes()[0]);
  }
  return stack->id;
}

// nullptr: the stack is not to be had.
InternedStacks::Stack* PythonStacks::intern(const PythonRuntime& runtime, const void* thread_state,
                                            std::span<const PythonFrameKey> keys, bool truncated,
                                            DefinitionSink& sink) {
  const uint64_t hash = InternedStacks::hash(words_of(keys));
  if (InternedStacks::Stack* known = table_.find(words_of(keys), hash)) {
    if (is_current(*known)) return known;
    table_.erase(known);
  }
  if (!runtime.verify(thread_state, keys)) return nullptr;
  const uint32_t id = define(runtime.layout(), keys, truncated, sink);
  if (id == 0) return nullptr;
  const size_t size_before = table_.size();
  InternedStacks::Stack* stack = table_.insert(words_of(keys), notes_, hash, id);
  if (table_.size() <= size_before) traces_.clear();  // the table has forgotten what it held
  return stack;
}

bool PythonStacks::is_current(PythonTraceCache::Trace& trace) const {
  if (trace.deaths == python_code_deaths.load(std::memory_order_relaxed)) [[likely]]
    return true;
  if (!is_current(*trace.stack)) return false;
  trace.deaths = trace.stack->notes()[0];
  return true;
}

// A code object of the stack may have died and another one may live at its address. The deaths that
// matter here happened before the calling thread began to run the newer object, so it sees them.
bool PythonStacks::is_current(InternedStacks::Stack& stack) const {
  const std::span<uint64_t> notes = stack.notes();
  const uint64_t deaths = python_code_deaths.load(std::memory_order_relaxed);
  if (notes[0] == deaths) [[likely]] {
    return true;
  }
  for (size_t i = 1; i < notes.size(); i += 2) {
    const auto* code = reinterpret_cast<const KnownPythonCode*>(notes[i]);
    if (code->id.load(std::memory_order_relaxed) != notes[i + 1]) return false;
  }
  notes[0] = deaths;
  return true;
}

// 0 if the ring has no room for a definition or the stack holds no complete frame. Leaves the
// stack's notes in notes_.
uint32_t PythonStacks::define(const PythonLayout& layout, std::span<const PythonFrameKey> keys,
                              bool truncated, DefinitionSink& sink) {
  notes_.assign(1, python_code_deaths.load(std::memory_order_relaxed));
  frames_.clear();
  for (const PythonFrameKey& key : keys) {
    KnownPythonCode* code = find_or_add_python_code(reinterpret_cast<const void*>(key.code));
    if (code == nullptr) return 0;
    const uint32_t code_id = code->id.load(std::memory_order_relaxed);
    // Incomplete frames stay in the notes: whether a frame is complete hangs on its code object
    // too.
    notes_.push_back(reinterpret_cast<uint64_t>(code));
    notes_.push_back(code_id);
    if (is_incomplete(layout, key)) continue;
    if (!define_python_code(*code, layout, sink)) return 0;
    frames_.push_back({code_id, instruction_offset(layout, key)});
  }
  if (frames_.empty()) return 0;
  const uint32_t id = next_id(stack_ids.last_python_stack);
  const bool written =
      sink.define(RecordKind::kPythonStack, id, {std::as_bytes(std::span(frames_))},
                  truncated ? kTruncatedDefinition : uint8_t{0});
  return written ? id : 0;
}

}  // namespace vramscope
