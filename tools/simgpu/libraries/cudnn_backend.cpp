// cuDNN's backend (graph) API: descriptors are stores of attributes. For every graph of operations
// the heuristic offers one engine, whose plan needs no workspace and launches one empty kernel.
//
//   handle --> Descriptor --> shared Content { type, attribute -> values or other Contents }
//
// An attribute that holds descriptors keeps their contents, so the program may destroy its
// descriptors in any order.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "tools/simgpu/libraries/common/export.h"
#include "tools/simgpu/libraries/common/stand_in.h"
#include "tools/simgpu/libraries/cudnn_facts.h"
#include "tools/simgpu/libraries/cudnn_workspace_warning.h"

using namespace simgpu::libraries::cudnn;
using simgpu::libraries::Object;

namespace {

// cudnnBackendAttributeType_t
constexpr int kTypeHandle = 0;
constexpr int kTypeBoolean = 2;
constexpr int kTypeInt64 = 3;
constexpr int kTypeDouble = 5;
constexpr int kTypeVoidPointer = 6;
constexpr int kTypeDescriptor = 15;
constexpr int kTypeInt32 = 23;
constexpr int kTypeChar = 24;
constexpr int kTypeFraction = 26;

// cudnnBackendAttributeName_t
constexpr int kHeuristicOperationGraph = 201;
constexpr int kHeuristicResults = 202;
constexpr int kEngineConfigEngine = 300;
constexpr int kPlanWorkspaceSize = 402;
constexpr int kOperationGraphEngineCount = 802;
constexpr int kEngineOperationGraph = 1300;
constexpr int kEngineGlobalIndex = 1301;

// cudnnBackendDescriptorType_t
constexpr int kEngineDescriptor = 2;

/// Operations whose real plans need workspace: convolutions (forward, filter, data), matrix
/// products (of which attention is made) and attention itself (forward, backward).
constexpr std::array kWorkspaceOperations = {10, 11, 12, 19, 41, 43};

size_t type_bytes(int type) {
  switch (type) {
    case kTypeBoolean:
    case kTypeChar:
      return 1;
    case kTypeHandle:
    case kTypeInt64:
    case kTypeDouble:
    case kTypeVoidPointer:
    case kTypeDescriptor:
    case kTypeFraction:
      return 8;
    default:  // enumerations, 32-bit integers, float
      return 4;
  }
}

struct Content;

struct Attribute {
  int type = 0;
  int64_t count = 0;
  std::vector<std::byte> values;                         // of all types but descriptors
  std::vector<std::shared_ptr<const Content>> contents;  // of descriptors
};

struct Content {
  int type = 0;
  std::map<int, Attribute> attributes;
};

struct Descriptor : Object {
  std::shared_ptr<Content> content;
};

Descriptor* as_descriptor(void* descriptor) {
  return static_cast<Descriptor*>(static_cast<Object*>(descriptor));
}

Attribute make_attribute(int type, int64_t count, const void* values) {
  Attribute attribute{type, count, {}, {}};
  if (type == kTypeDescriptor) {
    auto* const* descriptors = static_cast<void* const*>(values);
    for (int64_t i = 0; i < count; ++i) {
      attribute.contents.push_back(as_descriptor(descriptors[i])->content);
    }
  } else {
    const auto* bytes = static_cast<const std::byte*>(values);
    attribute.values.assign(bytes, bytes + count * type_bytes(type));
  }
  return attribute;
}

/// Gives up to `capacity` values. Descriptors are the caller's own: they take over the contents.
void read_attribute(const Attribute& attribute, int64_t capacity, void* output) {
  const int64_t copied = std::min(capacity, attribute.count);
  if (copied <= 0 || output == nullptr) return;
  if (attribute.type != kTypeDescriptor) {
    std::memcpy(output, attribute.values.data(), copied * type_bytes(attribute.type));
    return;
  }
  auto** descriptors = static_cast<void**>(output);
  for (int64_t i = 0; i < copied; ++i) {
    if (descriptors[i] == nullptr) continue;
    as_descriptor(descriptors[i])->content = std::make_shared<Content>(*attribute.contents[i]);
  }
}

void read_integer(int64_t value, int type, int64_t capacity, void* output) {
  if (capacity > 0 && output != nullptr) std::memcpy(output, &value, type_bytes(type));
}

/// The heuristic's only result: an engine configuration with the engine for the wanted graph.
int read_heuristic_result(const Content& heuristic, int64_t capacity, void* output) {
  if (capacity <= 0 || output == nullptr) return kSuccess;
  void* configuration = *static_cast<void**>(output);
  if (configuration == nullptr) return kBadParameter;
  auto engine = std::make_shared<Content>();
  engine->type = kEngineDescriptor;
  const int64_t index = 0;
  engine->attributes[kEngineGlobalIndex] = make_attribute(kTypeInt64, 1, &index);
  if (auto graph = heuristic.attributes.find(kHeuristicOperationGraph);
      graph != heuristic.attributes.end()) {
    engine->attributes[kEngineOperationGraph] = graph->second;
  }
  as_descriptor(configuration)->content->attributes[kEngineConfigEngine] =
      Attribute{kTypeDescriptor, 1, {}, {engine}};
  return kSuccess;
}

bool needs_workspace(const Content& content) {
  if (std::find(kWorkspaceOperations.begin(), kWorkspaceOperations.end(), content.type) !=
      kWorkspaceOperations.end()) {
    return true;
  }
  for (const auto& [name, attribute] : content.attributes) {
    for (const auto& inner : attribute.contents) {
      if (needs_workspace(*inner)) return true;
    }
  }
  return false;
}

}  // namespace

SIMGPU_EXPORT int cudnnBackendCreateDescriptor(int type, Object** output) {
  auto* descriptor = new Descriptor;
  descriptor->content = std::make_shared<Content>();
  descriptor->content->type = type;
  *output = descriptor;
  return kSuccess;
}

SIMGPU_EXPORT int cudnnBackendSetAttribute(void* descriptor, int name, int type, int64_t count,
                                           const void* values) {
  as_descriptor(descriptor)->content->attributes[name] = make_attribute(type, count, values);
  return kSuccess;
}

SIMGPU_EXPORT int cudnnBackendFinalize(void*) { return kSuccess; }

SIMGPU_EXPORT int cudnnBackendGetAttribute(void* descriptor, int name, int type, int64_t capacity,
                                           int64_t* count, void* output) {
  const Content& content = *as_descriptor(descriptor)->content;
  int64_t ignored = 0;
  if (count == nullptr) count = &ignored;
  *count = 1;
  switch (name) {
    case kOperationGraphEngineCount:
      read_integer(1, type, capacity, output);
      return kSuccess;
    case kPlanWorkspaceSize:
      read_integer(0, type, capacity, output);
      return kSuccess;
    case kHeuristicResults:
      return read_heuristic_result(content, capacity, output);
    default:
      break;
  }
  auto found = content.attributes.find(name);
  if (found != content.attributes.end()) {
    *count = found->second.count;
    read_attribute(found->second, capacity, output);
  } else if ((type == kTypeInt32 || type == kTypeInt64) && capacity == 1) {
    read_integer(0, type, capacity, output);  // properties of the engine, as counts of knobs
  } else {
    *count = 0;
  }
  return kSuccess;
}

SIMGPU_EXPORT int cudnnBackendExecute(long handle, void* plan, void*) {
  if (!warned_about_workspaces() && needs_workspace(*as_descriptor(plan)->content)) {
    warn_about_workspaces();
  }
  return simgpu::libraries::launch_on_handle(handle) ? kSuccess : kExecutionFailed;
}
