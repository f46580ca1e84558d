// A DefinitionSink that keeps what it is given, for tests of recorder/stacks.
#pragma once

#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "recorder/definition_sink.h"

namespace vramscope {

struct CollectedDefinition {
  RecordKind kind;
  uint32_t id;
  uint8_t flags;
  std::string payload;  // not padded

  // The payload as an array of `Item`s.
  template <typename Item>
  std::vector<Item> items() const {
    std::vector<Item> result(payload.size() / sizeof(Item));
    std::memcpy(result.data(), payload.data(), result.size() * sizeof(Item));
    return result;
  }
};

class CollectingSink final : public DefinitionSink {
 public:
  bool define(RecordKind kind, uint32_t id, std::initializer_list<std::span<const std::byte>> parts,
              uint8_t flags = 0) override {
    if (room == 0) return false;
    --room;
    CollectedDefinition definition{kind, id, flags, {}};
    for (const auto part : parts) {
      definition.payload.append(reinterpret_cast<const char*>(part.data()), part.size());
    }
    index_[{kind, id}] = definitions.size();
    definitions.push_back(std::move(definition));
    return true;
  }

  // nullptr if the id was not defined.
  const CollectedDefinition* find(RecordKind kind, uint32_t id) const {
    const auto found = index_.find({kind, id});
    return found == index_.end() ? nullptr : &definitions[found->second];
  }

  std::vector<CollectedDefinition> of_kind(RecordKind kind) const {
    std::vector<CollectedDefinition> result;
    for (const auto& definition : definitions) {
      if (definition.kind == kind) result.push_back(definition);
    }
    return result;
  }

  std::vector<CollectedDefinition> definitions;  // in the order in which they came
  size_t room = SIZE_MAX;                        // definitions that still fit

 private:
  std::map<std::pair<RecordKind, uint32_t>, size_t> index_;
};

}  // namespace vramscope
