// Inputs that are almost right: records as a process might write them, and damage to any bytes.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>

namespace vramscope {

// The same numbers on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  uint64_t number() { return engine_(); }
  uint64_t below(uint64_t limit) { return engine_() % limit; }
  bool one_in(uint64_t count) { return below(count) == 0; }
  uint64_t one_of(std::span<const uint64_t> values) { return values[below(values.size())]; }

 private:
  std::mt19937_64 engine_;
};

// Definitions and events of one thread. Ids, addresses and sizes come from small sets, so that they
// meet; some are extreme.
std::string random_records(Random& random);

// A few bytes changed, removed, repeated or cut off.
std::string damaged(std::string bytes, Random& random);

}  // namespace vramscope
