#include "recorder/stacks/module_map.h"

#include "recorder/stacks/stack_ids.h"

namespace vramscope {
namespace {

bool define_module(const LoadedObject& object, DefinitionSink& sink) {
  const std::span<const std::byte> build_id = build_id_of(object);
  const std::string path = path_of(object);
  const ModuleDefinition definition{
      .begin = object.begin,
      .end = object.end,
      .bias = object.bias,
      .build_id_bytes = static_cast<uint32_t>(build_id.size()),
      .path_bytes = static_cast<uint32_t>(path.size()),
  };
  return sink.define(RecordKind::kModule, next_id(stack_ids.last_module),
                     {std::as_bytes(std::span(&definition, 1)), build_id,
                      std::as_bytes(std::span(path.data(), path.size()))});
}

}  // namespace

bool ModuleMap::is_same(const Module& module, const LoadedObject& object) {
  return !module.is_replaced && module.object.begin == object.begin &&
         module.object.end == object.end && module.object.handle == object.handle &&
         module.name == object.name;
}

bool ModuleMap::find_or_define(uintptr_t address, DefinitionSink& sink, uint32_t& index) {
  index = kNone;
  LoadedObject object;
  if (!find_loaded_object(address, object)) return true;
  if (last_found_ < modules_.size() && is_same(modules_[last_found_], object)) {
    index = last_found_;
    return true;
  }
  for (uint32_t i = 0; i < modules_.size(); ++i) {
    Module& module = modules_[i];
    if (is_same(module, object)) {
      index = last_found_ = i;
      return true;
    }
    module.is_replaced |= module.object.begin < object.end && object.begin < module.object.end;
  }
  if (!define_module(object, sink)) return false;
  index = last_found_ = static_cast<uint32_t>(modules_.size());
  modules_.push_back({object, object.name});
  return true;
}

bool ModuleMap::is_loaded(uint32_t index) const {
  const Module& module = modules_[index];
  LoadedObject object;
  return find_loaded_object(module.object.begin, object) && is_same(module, object);
}

}  // namespace vramscope
