// Where definitions of ids (stacks, code objects, modules) go: the calling thread's ring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "recorder/record.h"

namespace vramscope {

class DefinitionSink {
 public:
  // Writes one definition record whose payload is `parts`, one after the other, zero-padded to 8
  // bytes. False: there is no room now (the ring is full); then the id must not be used, and the
  // definition is tried again when it is next needed. Never blocks for longer than the overflow
  // policy allows, never allocates, takes no lock.
  virtual bool define(RecordKind kind, uint32_t id,
                      std::initializer_list<std::span<const std::byte>> parts,
                      uint8_t flags = 0) = 0;

 protected:
  ~DefinitionSink() = default;
};

}  // namespace vramscope
