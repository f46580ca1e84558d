// The modules that the native stacks of one thread lie in, as kModule definitions of its stream.
//
// Each thread defines the modules that it needs itself: then the order of its stream says which of
// two libraries that were loaded at the same addresses, one after the other, a stack belongs to,
// and no thread waits for another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recorder/definition_sink.h"
#include "recorder/stacks/loaded_object.h"

namespace vramscope {

class ModuleMap {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Index of the module that holds `address`, defined now if it is new: kNone if there is none.
  // False: there is no room for the definition now. May throw std::bad_alloc.
  bool find_or_define(uintptr_t address, DefinitionSink& sink, uint32_t& index);

  // Whether the address lies where the module lay when it was last looked up.
  bool holds(uint32_t index, uintptr_t address) const {
    return modules_[index].object.contains(address);
  }

  // Whether the module is still what the process has at its addresses.
  bool is_loaded(uint32_t index) const;

  void forget() {
    modules_.clear();
    last_found_ = kNone;
  }

 private:
  struct Module {
    LoadedObject object;  // name: not used, the loader frees it
    std::string name;
    bool is_replaced = false;  // something else was seen at its addresses
  };

  static bool is_same(const Module& module, const LoadedObject& object);

  std::vector<Module> modules_;  // only grows: indexes stay valid
  uint32_t last_found_ = kNone;  // neighbouring frames mostly share a module
};

}  // namespace vramscope
