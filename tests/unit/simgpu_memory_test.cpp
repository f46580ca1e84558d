#include <gtest/gtest.h>

#include "tools/simgpu/core/memory.h"
#include "tools/simgpu/core/units.h"
#include "tools/simgpu/core/virtual_memory.h"

namespace simgpu {
namespace {

PhysicalMemory device_memory(uint64_t bytes) {
  return {.size_bytes = bytes, .device = 0, .on_host = false, .is_exportable = false};
}

PhysicalMemory host_memory(uint64_t bytes) {
  return {.size_bytes = bytes, .device = 0, .on_host = true, .is_exportable = false};
}

TEST(AddressSpace, AlignsSmallRangesTo512AndLargeOnesTo2MiB) {
  AddressSpace space(2 * kMiB, 64 * kMiB);
  EXPECT_EQ(space.allocate(512), 2 * kMiB);
  EXPECT_EQ(space.allocate(512), 2 * kMiB + 512);
  EXPECT_EQ(space.allocate(kMiB), 4 * kMiB);
}

TEST(AddressSpace, TakesTheSmallestHoleThatFits) {
  AddressSpace space(0, kMiB);
  const uint64_t large = *space.allocate(4096);
  space.allocate(512);
  const uint64_t small = *space.allocate(1024);
  space.allocate(512);
  space.release(large, 4096);
  space.release(small, 1024);
  EXPECT_EQ(space.allocate(1024), small);
  EXPECT_EQ(space.allocate(512), large);
}

TEST(AddressSpace, MergesHolesOnBothSides) {
  AddressSpace space(0, kMiB);
  const uint64_t a = *space.allocate(512);
  const uint64_t b = *space.allocate(512);
  const uint64_t c = *space.allocate(512);
  space.allocate(512);
  space.release(a, 512);
  space.release(c, 512);
  EXPECT_EQ(space.hole_count(), 2u);
  space.release(b, 512);
  EXPECT_EQ(space.hole_count(), 1u);
  EXPECT_EQ(space.allocate(1536), a);
}

TEST(AddressSpace, EndsWhereItEnds) {
  AddressSpace space(0, 2048);
  EXPECT_EQ(space.allocate(4096), std::nullopt);
  EXPECT_EQ(space.allocate(2048), 0u);
  EXPECT_EQ(space.allocate(512), std::nullopt);
}

TEST(Memory, CountsCapacityInUnitsOf512Bytes) {
  Memory memory({4096});
  uint64_t first = 0;
  uint64_t second = 0;
  EXPECT_EQ(memory.allocate_linear(0, 1, &first), Status::kSuccess);
  EXPECT_EQ(memory.meter(0).used_bytes(), 512u);
  EXPECT_EQ(memory.allocate_linear(0, 3585, &second), Status::kOutOfMemory);
  EXPECT_EQ(second, 0u);
  EXPECT_EQ(memory.allocate_linear(0, 3584, &second), Status::kSuccess);
  EXPECT_EQ(memory.meter(0).free_bytes(), 0u);
  EXPECT_EQ(memory.release(first), Status::kSuccess);
  EXPECT_EQ(memory.meter(0).free_bytes(), 512u);
  EXPECT_EQ(memory.release(first), Status::kInvalidValue);
  EXPECT_EQ(memory.release(second + 512), Status::kInvalidValue);
}

TEST(Memory, RefusesSizesThatWouldOverflow) {
  Memory memory({80 * kGiB});
  uint64_t address = 0;
  EXPECT_EQ(memory.allocate_linear(0, ~0ull, &address), Status::kOutOfMemory);
  EXPECT_EQ(memory.allocate_managed(0, ~0ull - 100, 0, &address), Status::kOutOfMemory);
  EXPECT_EQ(memory.allocate_pinned(0, ~0ull, 0, &address), Status::kOutOfMemory);
  EXPECT_EQ(memory.meter(0).used_bytes(), 0u);
}

TEST(Memory, HostRegistrationsMustNotOverlap) {
  Memory memory({kGiB});
  EXPECT_EQ(memory.register_host(0, 0x10000, 4096, 0), Status::kSuccess);
  EXPECT_EQ(memory.register_host(0, 0x10800, 16, 0), Status::kAlreadyRegistered);
  EXPECT_EQ(memory.register_host(0, 0xf000, 8192, 0), Status::kAlreadyRegistered);
  EXPECT_EQ(memory.unregister_host(0x10800), Status::kNotRegistered);
  EXPECT_EQ(memory.unregister_host(0x10000), Status::kSuccess);
}

TEST(MemoryPool, ReservesInChunksAndKeepsWatermarks) {
  Memory memory({kGiB});
  MemoryPool& pool = *memory.default_pool(0);
  uint64_t a = 0;
  uint64_t b = 0;
  ASSERT_EQ(memory.allocate_from_pool(pool, 20 * kMiB, &a), Status::kSuccess);
  EXPECT_EQ(pool.reserved_bytes(), 32 * kMiB);
  ASSERT_EQ(memory.allocate_from_pool(pool, 20 * kMiB, &b), Status::kSuccess);
  EXPECT_EQ(pool.reserved_bytes(), 64 * kMiB);
  EXPECT_EQ(memory.meter(0).used_bytes(), 64 * kMiB);
  memory.release(a);
  EXPECT_EQ(pool.used_bytes(), 20 * kMiB);
  EXPECT_EQ(pool.used_high_bytes(), 40 * kMiB);
  EXPECT_EQ(memory.meter(0).used_bytes(), 64 * kMiB)
      << "memory stays in the pool until a synchronisation";
  memory.trim_pools(0);
  EXPECT_EQ(pool.reserved_bytes(), 32 * kMiB);
  EXPECT_EQ(pool.reserved_high_bytes(), 64 * kMiB);
  pool.reset_used_high();
  EXPECT_EQ(pool.used_high_bytes(), 20 * kMiB);
}

TEST(MemoryPool, TheReleaseThresholdHoldsMemory) {
  Memory memory({kGiB});
  MemoryPool& pool = *memory.default_pool(0);
  pool.release_threshold_bytes = 48 * kMiB;
  uint64_t a = 0;
  ASSERT_EQ(memory.allocate_from_pool(pool, 100 * kMiB, &a), Status::kSuccess);
  memory.release(a);
  memory.trim_pools(0);
  EXPECT_EQ(pool.reserved_bytes(), 48 * kMiB);
  pool.trim(0);
  EXPECT_EQ(pool.reserved_bytes(), 0u);
}

TEST(MemoryPool, ADestroyedPoolServesItsAllocationsUntilTheyAreFreed) {
  Memory memory({kGiB});
  MemoryPool* pool = memory.create_pool(0);
  uint64_t a = 0;
  ASSERT_EQ(memory.allocate_from_pool(*pool, kMiB, &a), Status::kSuccess);
  EXPECT_EQ(memory.destroy_pool(pool), Status::kSuccess);
  EXPECT_FALSE(memory.is_pool(pool));
  EXPECT_EQ(memory.meter(0).used_bytes(), 32 * kMiB);
  EXPECT_EQ(memory.release(a), Status::kSuccess);
  EXPECT_EQ(memory.meter(0).used_bytes(), 0u);
  EXPECT_EQ(memory.destroy_pool(memory.default_pool(0)), Status::kInvalidValue);
}

TEST(VirtualMemory, PhysicalMemoryLivesWhileSomethingRefersToIt) {
  Memory memory({64 * kMiB});
  VirtualMemory vmm(memory);
  uint64_t address = 0;
  ASSERT_EQ(vmm.reserve(4 * kMiB, 0, &address), Status::kSuccess);
  EXPECT_EQ(address % kMappingGranularity, 0u);
  PhysicalMemory* physical = nullptr;
  ASSERT_EQ(vmm.create(device_memory(2 * kMiB), &physical), Status::kSuccess);
  ASSERT_EQ(vmm.map(address, 2 * kMiB, 0, physical), Status::kSuccess);
  EXPECT_EQ(vmm.release(physical), Status::kSuccess);
  EXPECT_EQ(memory.meter(0).used_bytes(), 2 * kMiB) << "the mapping holds it";
  PhysicalMemory* retained = nullptr;
  EXPECT_EQ(vmm.retain(address + 5, &retained), Status::kSuccess);
  EXPECT_EQ(retained, physical);
  EXPECT_EQ(vmm.unmap(address, 2 * kMiB), Status::kSuccess);
  EXPECT_EQ(memory.meter(0).used_bytes(), 2 * kMiB) << "the handle holds it";
  EXPECT_EQ(vmm.release(retained), Status::kSuccess);
  EXPECT_EQ(memory.meter(0).used_bytes(), 0u);
  EXPECT_EQ(vmm.release(retained), Status::kInvalidValue);
  EXPECT_EQ(vmm.unreserve(address, 4 * kMiB), Status::kSuccess);
}

TEST(VirtualMemory, ChecksRangesSizesAndOverlaps) {
  Memory memory({64 * kMiB});
  VirtualMemory vmm(memory);
  uint64_t address = 0;
  EXPECT_EQ(vmm.reserve(3 * kMiB, 0, &address), Status::kInvalidValue);
  ASSERT_EQ(vmm.reserve(8 * kMiB, 4 * kMiB, &address), Status::kSuccess);
  EXPECT_EQ(address % (4 * kMiB), 0u);
  PhysicalMemory* physical = nullptr;
  ASSERT_EQ(vmm.create(device_memory(4 * kMiB), &physical), Status::kSuccess);
  EXPECT_EQ(vmm.map(address + 6 * kMiB, 4 * kMiB, 0, physical), Status::kInvalidValue);
  EXPECT_EQ(vmm.map(address, 4 * kMiB, 2 * kMiB, physical), Status::kInvalidValue);
  EXPECT_EQ(vmm.map(address, 2 * kMiB, 0, physical), Status::kSuccess);
  EXPECT_EQ(vmm.map(address, 2 * kMiB, 2 * kMiB, physical), Status::kInvalidValue);
  EXPECT_EQ(vmm.map(address + 2 * kMiB, 2 * kMiB, 2 * kMiB, physical), Status::kSuccess);
  EXPECT_EQ(vmm.set_access(address, 6 * kMiB, true), Status::kInvalidValue);
  EXPECT_EQ(vmm.set_access(address, 4 * kMiB, true), Status::kSuccess);
  *reinterpret_cast<char*>(address + 4 * kMiB - 1) = 1;  // accessible now
  EXPECT_EQ(vmm.unreserve(address, 8 * kMiB), Status::kInvalidValue);
  EXPECT_EQ(vmm.unmap(address, 3 * kMiB), Status::kInvalidValue);
  EXPECT_EQ(vmm.unmap(address, 4 * kMiB), Status::kSuccess);
  PhysicalMemory* too_large = nullptr;
  EXPECT_EQ(vmm.create(device_memory(62 * kMiB), &too_large), Status::kOutOfMemory);
  EXPECT_EQ(vmm.create(host_memory(62 * kMiB), &too_large), Status::kSuccess)
      << "host memory takes no capacity";
}

}  // namespace
}  // namespace simgpu
