// Making and destroying graphs, and the objects of the program that live as long as graphs need
// them.
#include <algorithm>

#include "tools/simgpu/driver/call.h"

namespace simgpu {
namespace {

void release_user_object(Driver& state, UserObject* object, std::vector<UserObject>* dead) {
  if (--object->references > 0) return;
  dead->push_back(std::move(*object));
  state.user_objects.remove(object);
}

// Runs body(state, dead) locked, and the destructors of what died without the lock.
CUresult releasing_user_objects(auto body) {
  std::vector<UserObject> dead;
  const CUresult result = with_driver([&](Driver& state) { return body(state, &dead); });
  for (const UserObject& object : dead) object.destroy();
  return result;
}

}  // namespace
}  // namespace simgpu

using namespace simgpu;

CUresult cuGraphCreate(CUgraph* handle, unsigned flags) {
  if (!handle || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    *handle = handle_of<CUgraph>(state.graphs.create(state.next_id()));
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphDestroy(CUgraph handle) {
  return releasing_user_objects([&](Driver& state, std::vector<UserObject>* dead) {
    const std::unique_ptr<Graph> graph = state.graphs.remove(handle);
    if (!graph) return CUDA_ERROR_INVALID_VALUE;
    for (UserObject* object : graph->user_objects) release_user_object(state, object, dead);
    return CUDA_SUCCESS;
  });
}

CUresult cuUserObjectCreate(CUuserObject* handle, void* argument, CUhostFn destroy,
                            unsigned references, unsigned) {
  if (!handle || !destroy || references == 0) return CUDA_ERROR_INVALID_VALUE;
  return with_driver([&](Driver& state) {
    UserObject* object = state.user_objects.create(
        UserObject{[destroy, argument] { destroy(argument); }, references});
    *handle = handle_of<CUuserObject>(object);
    return CUDA_SUCCESS;
  });
}

CUresult cuUserObjectRetain(CUuserObject handle, unsigned count) {
  return with_driver([&](Driver& state) {
    UserObject* object = state.user_objects.find(handle);
    if (!object) return CUDA_ERROR_INVALID_VALUE;
    object->references += count;
    return CUDA_SUCCESS;
  });
}

CUresult cuUserObjectRelease(CUuserObject handle, unsigned count) {
  return releasing_user_objects([&](Driver& state, std::vector<UserObject>* dead) {
    UserObject* object = state.user_objects.find(handle);
    if (!object || count > object->references) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; ++i) release_user_object(state, object, dead);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphRetainUserObject(CUgraph handle, CUuserObject object_handle, unsigned count,
                                 unsigned flags) {
  return with_driver([&](Driver& state) {
    Graph* graph = state.graphs.find(handle);
    UserObject* object = state.user_objects.find(object_handle);
    if (!graph || !object) return CUDA_ERROR_INVALID_VALUE;
    // With the flag, the caller's references become the graph's.
    if (!(flags & CU_GRAPH_USER_OBJECT_MOVE)) object->references += count;
    graph->user_objects.insert(graph->user_objects.end(), count, object);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphReleaseUserObject(CUgraph handle, CUuserObject object_handle, unsigned count) {
  return releasing_user_objects([&](Driver& state, std::vector<UserObject>* dead) {
    Graph* graph = state.graphs.find(handle);
    UserObject* object = state.user_objects.find(object_handle);
    if (!graph || !object) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; ++i) {
      auto& owned = graph->user_objects;
      const auto it = std::find(owned.begin(), owned.end(), object);
      if (it == owned.end()) return CUDA_ERROR_INVALID_VALUE;
      owned.erase(it);
      release_user_object(state, object, dead);
    }
    return CUDA_SUCCESS;
  });
}
