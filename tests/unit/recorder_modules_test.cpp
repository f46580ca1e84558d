// Which module a native frame lies in, also where one library was loaded over another one.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "recorder/module_ranges.h"
#include "recorder/record_decoder.h"

namespace vramscope {
namespace {

TEST(ModuleRanges, LaterModulesCoverEarlierOnes) {
  ModuleRanges ranges;
  ranges.add(100, 200, 0);
  ranges.add(150, 160, 1);
  ranges.add(190, 250, 2);
  ranges.add(7, 7, 3);
  EXPECT_EQ(ranges.find(100), kNoModule);  // the call lies before the return address
  EXPECT_EQ(ranges.find(101), 0u);
  EXPECT_EQ(ranges.find(151), 1u);
  EXPECT_EQ(ranges.find(160), 1u);
  EXPECT_EQ(ranges.find(161), 0u);
  EXPECT_EQ(ranges.find(190), 0u);
  EXPECT_EQ(ranges.find(191), 2u);
  EXPECT_EQ(ranges.find(250), 2u);
  EXPECT_EQ(ranges.find(251), kNoModule);
}

template <typename T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

// The stream of one thread, record by record.
struct Stream {
  void define(RecordKind kind, uint32_t id, std::string payload) {
    payload.resize((payload.size() + 7) / 8 * 8, '\0');
    bytes += bytes_of(DefinitionHeader{kind, 0, static_cast<uint16_t>(payload.size() / 8 + 1), id});
    bytes += payload;
  }
  void thread(uint32_t id) { define(RecordKind::kThread, id, "thread"); }
  void module(uint64_t begin, const std::string& path) {
    const auto length = static_cast<uint32_t>(path.size());
    define(RecordKind::kModule, 1,
           bytes_of(ModuleDefinition{begin, begin + 0x1000, begin, 0, length}) + path);
  }
  void stack(uint32_t id, uint64_t return_address) {
    define(RecordKind::kNativeStack, id, bytes_of(return_address));
  }

  std::string bytes;
};

TEST(RecordDecoder, AStackLiesInWhatItsOwnThreadSawThere) {
  Stream first;
  first.thread(10);
  first.stack(1, 0x5100);  // before anything is known of that address
  first.module(0x5000, "closed.so");
  first.stack(2, 0x5100);
  first.module(0x5000, "reloaded.so");
  first.stack(3, 0x5100);
  first.thread(11);  // another thread uses the ring: it knows nothing yet
  first.stack(4, 0x5100);
  Stream second;
  second.thread(12);
  second.module(0x5000, "closed.so");
  second.stack(5, 0x5100);

  Session session;
  RecordDecoder decoder(session);
  std::vector<SessionEvent> events;
  decoder.decode(0, 0, std::as_bytes(std::span(first.bytes)), events);
  decoder.decode(1, 0, std::as_bytes(std::span(second.bytes)), events);
  const auto path_of_stack = [&session](uint32_t id) {
    const NativeFrame frame = session.native_stacks.find(id)[0];
    return frame.module == kNoModule ? "none" : session.modules.at(frame.module).path;
  };
  EXPECT_EQ(path_of_stack(1), "none");
  EXPECT_EQ(path_of_stack(2), "closed.so");
  EXPECT_EQ(path_of_stack(3), "reloaded.so");
  EXPECT_EQ(path_of_stack(4), "none");
  EXPECT_EQ(path_of_stack(5), "closed.so");
}

}  // namespace
}  // namespace vramscope
