// What the recorder keeps for one thread: its ring, its stacks, and which ids its stream has
// defined. Owned and used by that thread alone.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>

#include "recorder/definition_sink.h"
#include "recorder/recorder.h"
#include "recorder/ring_writer.h"
#include "recorder/stacks/stack_capture.h"
#include "recorder/text_ids.h"
#include "recorder/window_writer.h"

namespace vramscope {

struct ApiNames {
  const char* const* names = nullptr;
  uint16_t count = 0;
};

// What an event needs comes first, so that it is few cache lines.
class alignas(64) ThreadLog final : public DefinitionSink {
 public:
  struct Setup {
    Ring ring;
    ApiNames api_names;
    bool python_stacks;
    bool native_stacks;
    // Of a flight recorder; then `ring` is for definitions alone.
    std::optional<Ring> window = std::nullopt;
    UnwindCheck* unwind_check = nullptr;  // to compare each native stack with _Unwind_Backtrace's
  };

  explicit ThreadLog(const Setup& setup);

  // The event's stacks are captured here and filled in. False: dropped and counted.
  bool record(Event& event, const CallSite& site);

  bool record_mark(const Mark& mark);
  bool record_scope(uint64_t ticks);
  bool record_plain(const Event& event);

  bool define(RecordKind kind, uint32_t id, std::initializer_list<std::span<const std::byte>> parts,
              uint8_t flags) override;

  void count_dropped_event() { writer_.count_dropped_event(); }

  // The thread ends.
  void close();

 private:
  // Entry points with larger ids are recorded without a name.
  static constexpr size_t kMaxApis = 1024;

  void begin_event() {
    writer_.begin_event();
    undefined_ = false;
  }
  void begin_mark();
  bool define_thread();
  bool append_if_defined(const Event& event);
  bool append(const Event& event);
  void define_api(uint16_t api);

  const std::unique_ptr<StackCapture> stacks_;
  uint64_t last_ticks_ = 0;
  const bool python_stacks_;
  const bool native_stacks_;
  bool undefined_ = false;  // of the event at hand: something found no room
  bool thread_defined_ = false;
  UnwindCheck* const unwind_check_;
  const std::unique_ptr<WindowWriter> window_;  // of a flight recorder
  RingWriter writer_;
  std::bitset<kMaxApis> defined_apis_;
  const ApiNames api_names_;
  TextIds texts_;
};

}  // namespace vramscope
