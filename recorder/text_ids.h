// Ids of the texts that one thread's marks refer to.
//
// Remembers the texts used last, a fixed number of them, so that a program which names every step
// anew costs a definition for each and no memory.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "recorder/definition_sink.h"

namespace vramscope {

class TextIds {
 public:
  // Longer texts are cut.
  static constexpr size_t kMaxTextBytes = 1024;

  // The id of `text`, defined in `sink` if need be; 0 if it is empty or there is no room for it
  // now.
  uint32_t id_of(std::string_view text, DefinitionSink& sink);

 private:
  // A text is known by the hash of its bytes and its length.
  struct Known {
    uint64_t hash = 0;
    uint32_t bytes = 0;
    uint32_t id = 0;
  };
  static constexpr size_t kKnown = 256;

  std::array<Known, kKnown> known_{};
};

}  // namespace vramscope
