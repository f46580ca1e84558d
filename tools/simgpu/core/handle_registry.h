// Owns the objects behind the handles that a program holds, and tells live handles from dead ones.
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>

namespace simgpu {

// The handle is the object's address, as the driver API's opaque pointers are. Not thread-safe.
template <typename Object>
class HandleRegistry {
 public:
  template <typename... Arguments>
  Object* create(Arguments&&... arguments) {
    auto object = std::make_unique<Object>(std::forward<Arguments>(arguments)...);
    const void* handle = object.get();
    return objects_.emplace(handle, std::move(object)).first->second.get();
  }

  // Null for a handle that is not alive.
  Object* find(const void* handle) const {
    const auto it = objects_.find(handle);
    return it == objects_.end() ? nullptr : it->second.get();
  }

  // Takes the object out; the caller decides when it dies. Null for a handle that is not alive.
  std::unique_ptr<Object> remove(const void* handle) {
    auto node = objects_.extract(handle);
    return node.empty() ? nullptr : std::move(node.mapped());
  }

  template <typename Predicate>
  void remove_if(Predicate predicate) {
    std::erase_if(objects_, [&](const auto& entry) { return predicate(*entry.second); });
  }

  size_t size() const { return objects_.size(); }

 private:
  std::unordered_map<const void*, std::unique_ptr<Object>> objects_;
};

}  // namespace simgpu
