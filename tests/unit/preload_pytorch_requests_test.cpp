// Requests found in an allocator that is laid out as PyTorch's, in one of two layouts.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "preload/frameworks/pytorch_requests.h"

namespace vramscope {
namespace {

struct Stat {
  int64_t current = 0, peak = 0, allocated = 0, freed = 0;

  void increase(int64_t amount) {
    current += amount;
    allocated += amount;
    peak = std::max(peak, current);
  }
};
using StatArray = std::array<Stat, 3>;

// GapBytes: what lies between reserved_bytes and active_bytes, 0 before PyTorch had pools there.
template <size_t GapBytes>
struct DeviceAllocator {
  uint64_t mutex[5] = {1, 0, 512, 512, 512};
  StatArray allocation, segment, active, inactive_split, allocated_bytes, reserved_bytes;
  std::array<char, GapBytes> pools = {};
  StatArray active_bytes, inactive_split_bytes, requested_bytes;

  void allocate(int64_t block, int64_t request) {
    for (const size_t kind : {0, 2}) {
      allocation[kind].increase(1);
      active[kind].increase(1);
      allocated_bytes[kind].increase(block);
      active_bytes[kind].increase(block);
      requested_bytes[kind].increase(request);
    }
  }

  void reserve(int64_t bytes) { reserved_bytes[0].increase(bytes); }

  void reset_accumulated() {
    for (StatArray* stats : {&allocation, &allocated_bytes, &requested_bytes})
      for (Stat& stat : *stats) stat.allocated = stat.freed = 0;
  }
};

template <size_t GapBytes>
struct Allocator {
  void* vtable = nullptr;
  std::vector<int64_t*> other;
  std::vector<std::unique_ptr<DeviceAllocator<GapBytes>>> devices;

  explicit Allocator(int count) {
    for (int i = 0; i < count; ++i)
      devices.push_back(std::make_unique<DeviceAllocator<GapBytes>>());
  }
};

// An allocator that is followed for its life, with `reserved_bytes` on its last device.
struct Followed {
  Allocator<40> allocator;
  const void* variable = &allocator;
  DeviceAllocator<40>& device = *allocator.devices.back();

  Followed(int device_index, int64_t reserved_bytes) : allocator(device_index + 1) {
    follow_requests_of(&variable);
    device.reserve(reserved_bytes);
  }
};

// Each test has a device of its own: what is known of one is kept for the process's life.
template <size_t GapBytes>
void expect_requests(int device_index) {
  Allocator<GapBytes> allocator(device_index + 2);
  const void* variable = &allocator;
  follow_requests_of(&variable);
  auto& device = *allocator.devices[static_cast<size_t>(device_index)];
  const auto request = [&](int64_t block, int64_t asked) {
    device.allocate(block, asked);
    return requested_bytes({device_index, static_cast<uint64_t>(block), 2 << 20});
  };
  device.reserve(2 << 20);
  EXPECT_EQ(request(1024, 1000), 1000u);
  EXPECT_EQ(request(512, 1), 1u);
  EXPECT_EQ(request(1 << 20, 1 << 20), uint64_t{1} << 20);
  EXPECT_EQ(request(512, 0), 0u);
  device.reset_accumulated();
  EXPECT_EQ(request(4096, 3600), 3600u);
  EXPECT_EQ(request(512, 7), 7u);
  device.reset_accumulated();
  device.reset_accumulated();
  EXPECT_EQ(request(512, 9), 9u);
}

TEST(PreloadPyTorchRequests, AreFoundInTheLayoutWithoutPools) { expect_requests<0>(0); }

TEST(PreloadPyTorchRequests, AreFoundInTheLayoutWithPools) { expect_requests<40>(1); }

TEST(PreloadPyTorchRequests, FreesThatAStreamDelaysAreToldOnceEach) {
  Followed followed(7, 4096);
  auto& device = followed.device;
  EXPECT_EQ(changed_pending_bytes(7), std::nullopt);
  device.allocate(1024, 1000);
  requested_bytes({7, 1024, 4096});
  EXPECT_EQ(changed_pending_bytes(7), std::nullopt);
  device.allocated_bytes[0].current -= 1024;  // given back; active still
  EXPECT_EQ(changed_pending_bytes(7), 1024u);
  EXPECT_EQ(changed_pending_bytes(7), std::nullopt);
  device.active_bytes[0].current -= 1024;
  EXPECT_EQ(changed_pending_bytes(7), 0u);
  EXPECT_EQ(changed_pending_bytes(7), std::nullopt);
  EXPECT_EQ(changed_pending_bytes(-1), std::nullopt);
}

TEST(PreloadPyTorchRequests, AreUnknownForOneBlockAfterAnUnseenOne) {
  Followed followed(2, 4096);
  auto& device = followed.device;
  device.allocate(512, 100);
  EXPECT_EQ(requested_bytes({2, 512, 4096}), 100u);
  device.allocate(512, 200);
  device.allocate(512, 300);
  EXPECT_EQ(requested_bytes({2, 512, 4096}), 0u);
  device.allocate(512, 400);
  EXPECT_EQ(requested_bytes({2, 512, 4096}), 400u);
}

TEST(PreloadPyTorchRequests, AreUnknownWhereTheFirstBlockWasMissed) {
  Followed followed(3, 4096);
  auto& device = followed.device;
  device.allocate(512, 100);
  device.allocate(512, 200);
  EXPECT_EQ(requested_bytes({3, 512, 4096}), 0u);
  device.allocate(512, 300);
  EXPECT_EQ(requested_bytes({3, 512, 4096}), 0u);
}

TEST(PreloadPyTorchRequests, AreUnknownWithoutAnAllocator) {
  follow_requests_of(nullptr);
  EXPECT_EQ(requested_bytes({4, 512, 4096}), 0u);
  const void* variable = nullptr;
  follow_requests_of(&variable);
  EXPECT_EQ(requested_bytes({5, 512, 4096}), 0u);
  const void* unmapped = reinterpret_cast<void*>(0x1000);
  follow_requests_of(&unmapped);
  EXPECT_EQ(requested_bytes({6, 512, 4096}), 0u);
  EXPECT_EQ(requested_bytes({-1, 512, 4096}), 0u);
  EXPECT_EQ(requested_bytes({1000, 512, 4096}), 0u);
  follow_requests_of(nullptr);
}

}  // namespace
}  // namespace vramscope
