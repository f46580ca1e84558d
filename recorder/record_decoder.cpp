#include "recorder/record_decoder.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "recorder/record_walk.h"

namespace vramscope {
namespace {

// Takes structs and bytes off a payload; behind its end there are only zeros and empty strings.
class PayloadCursor {
 public:
  explicit PayloadCursor(std::span<const std::byte> payload) : rest_(payload) {}

  template <typename T>
  T take() {
    T value{};
    const size_t bytes = std::min(sizeof(T), rest_.size());
    std::memcpy(&value, rest_.data(), bytes);
    rest_ = rest_.subspan(bytes);
    return value;
  }

  std::string take_string(size_t bytes) {
    bytes = std::min(bytes, rest_.size());
    std::string text(reinterpret_cast<const char*>(rest_.data()), bytes);
    rest_ = rest_.subspan(bytes);
    return text;
  }

 private:
  std::span<const std::byte> rest_;
};

std::string text_until_nul(std::span<const std::byte> bytes) {
  const auto end = std::find(bytes.begin(), bytes.end(), std::byte{0});
  return {reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(end - bytes.begin())};
}

std::string hexadecimal(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += kDigits[static_cast<uint8_t>(c) >> 4];
    text += kDigits[static_cast<uint8_t>(c) & 15];
  }
  return text;
}

template <typename Frame>
std::vector<Frame> frames_of(std::span<const std::byte> payload) {
  std::vector<Frame> frames(payload.size() / sizeof(Frame));
  if (!frames.empty()) std::memcpy(frames.data(), payload.data(), frames.size() * sizeof(Frame));
  return frames;
}

}  // namespace

void RecordDecoder::start_over() {
  rings_.clear();
  dropped_events_ = 0;
  overwritten_events_ = 0;
  session_.threads.clear();
  session_.modules.clear();
}

bool RecordDecoder::decode(uint32_t ring, uint64_t begin_position,
                           std::span<const std::byte> records, std::vector<SessionEvent>& events) {
  RingState& state = rings_[ring];
  const bool nothing_missing = begin_position <= state.next_position;
  uint64_t position = begin_position;
  while (const size_t length = record_bytes(records)) {
    const auto record = records.first(length);
    records = records.subspan(length);
    if (position >= state.next_position) {
      if (is_event(static_cast<RecordKind>(record[0]))) {
        events.push_back(event_of(record, state));
      } else {
        add_definition(record, state);
      }
    }
    position += length;
  }
  state.next_position = std::max(state.next_position, position);
  return nothing_missing;
}

void RecordDecoder::decode_window(uint32_t ring, uint64_t begin_position,
                                  std::span<const std::byte> records,
                                  std::vector<SessionEvent>& events) {
  RingState& state = rings_[ring];
  if (begin_position > state.next_position) {
    overwritten_events_ += (begin_position - state.next_position) / sizeof(Event);
  }
  uint64_t position = begin_position;
  for (; records.size() >= sizeof(Event); records = records.subspan(sizeof(Event))) {
    if (position >= state.next_position && is_event(static_cast<RecordKind>(records[0]))) {
      state.thread = thread_at(state, position);
      events.push_back(event_of(records.first(sizeof(Event)), state));
    }
    position += sizeof(Event);
  }
  state.next_position = std::max(state.next_position, position);
}

uint32_t RecordDecoder::thread_at(const RingState& window, uint64_t position) {
  const auto behind = window.window_threads.upper_bound(position);
  return behind == window.window_threads.begin() ? kUnknownThread : std::prev(behind)->second;
}

SessionEvent RecordDecoder::event_of(std::span<const std::byte> record, RingState& ring) {
  if (ring.thread == kUnknownThread) ring.thread = add_thread(0, {});
  SessionEvent event;
  std::memcpy(&event.event, record.data(), sizeof(Event));
  event.thread = ring.thread;
  return event;
}

void RecordDecoder::add_definition(std::span<const std::byte> record, RingState& ring) {
  DefinitionHeader header;
  std::memcpy(&header, record.data(), sizeof(header));
  const auto payload = record.subspan(sizeof(header));
  switch (header.kind) {
    case RecordKind::kThread:
      ring.thread = add_thread(header.id, payload);
      ring.modules.clear();
      break;
    case RecordKind::kApi:
      session_.api_names.emplace(header.id, text_until_nul(payload));
      break;
    case RecordKind::kText:
      session_.texts.emplace(header.id, text_until_nul(payload));
      break;
    case RecordKind::kModule:
      add_module(payload, ring);
      break;
    case RecordKind::kNativeStack:
      add_native_stack(header.id, payload, ring);
      break;
    case RecordKind::kPythonCode:
      add_python_code(header.id, payload);
      break;
    case RecordKind::kPythonStack:
      session_.python_stacks.add(header.id, frames_of<PythonFrame>(payload));
      break;
    case RecordKind::kWindow:
      rings_[header.id].window_threads[PayloadCursor(payload).take<uint64_t>()] = ring.thread;
      break;
    case RecordKind::kDropped:
      dropped_events_ += PayloadCursor(payload).take<DroppedDefinition>().events;
      break;
    default:  // padding, and what later versions add
      break;
  }
}

uint32_t RecordDecoder::add_thread(uint32_t thread_id, std::span<const std::byte> payload) {
  const size_t name_bytes = std::min(payload.size(), sizeof(ThreadDefinition));
  session_.threads.push_back({thread_id, text_until_nul(payload.first(name_bytes))});
  return static_cast<uint32_t>(session_.threads.size() - 1);
}

void RecordDecoder::add_module(std::span<const std::byte> payload, RingState& ring) {
  PayloadCursor cursor(payload);
  const auto definition = cursor.take<ModuleDefinition>();
  NativeModule module{};
  module.begin = definition.begin;
  module.end = definition.end;
  module.bias = definition.bias;
  module.build_id = hexadecimal(cursor.take_string(definition.build_id_bytes));
  module.path = cursor.take_string(definition.path_bytes);
  ring.modules.add(module.begin, module.end, static_cast<uint32_t>(session_.modules.size()));
  session_.modules.push_back(std::move(module));
}

void RecordDecoder::add_native_stack(uint32_t id, std::span<const std::byte> payload,
                                     const RingState& ring) {
  std::vector<NativeFrame> frames;
  for (const uint64_t address : frames_of<uint64_t>(payload))
    frames.push_back({address, ring.modules.find(address)});
  session_.native_stacks.add(id, frames);
}

void RecordDecoder::add_python_code(uint32_t id, std::span<const std::byte> payload) {
  PayloadCursor cursor(payload);
  const auto definition = cursor.take<PythonCodeDefinition>();
  PythonCode code{};
  code.first_line = definition.first_line;
  code.python_minor = definition.python_minor;
  code.name = cursor.take_string(definition.name_bytes);
  code.qualified_name = cursor.take_string(definition.qualified_name_bytes);
  code.filename = cursor.take_string(definition.filename_bytes);
  code.line_table = cursor.take_string(definition.line_table_bytes);
  session_.python_codes.emplace(id, std::move(code));
}

}  // namespace vramscope
