#include <gtest/gtest.h>

#include <vector>

#include "tools/simgpu/core/data_mover.h"
#include "tools/simgpu/core/units.h"

namespace simgpu {
namespace {

uint64_t host_address(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

class DataMoverTest : public testing::Test {
 protected:
  uint64_t allocate(uint64_t bytes) {
    uint64_t address = 0;
    EXPECT_EQ(memory_.allocate_linear(0, bytes, &address), Status::kSuccess);
    return address;
  }

  void copy(uint64_t destination, uint64_t source, uint64_t bytes) {
    mover_.carry_out(mover_.plan_copy(destination, source, bytes), destination, source, bytes);
  }

  Memory memory_{{80 * kGiB}};
  DataMover mover_{memory_};
};

TEST_F(DataMoverTest, SmallCopiesRoundTrip) {
  const std::vector<int> sent = {1, 2, 3, 4, 5};
  std::vector<int> received(5);
  const uint64_t device = allocate(20);
  copy(device, host_address(sent.data()), 20);
  copy(host_address(received.data()), device, 20);
  EXPECT_EQ(received, sent);
}

TEST_F(DataMoverTest, AScalarIsZeroAfterAKernelRan) {
  const int64_t sent = 42;
  int64_t received = -1;
  const uint64_t device = allocate(8);
  copy(device, host_address(&sent), 8);
  copy(host_address(&received), device, 8);
  EXPECT_EQ(received, 42);
  mover_.kernel_ran();
  copy(host_address(&received), device, 8);
  EXPECT_EQ(received, 0);
}

TEST_F(DataMoverTest, LongerReadsGiveWhatIsThere) {
  const int64_t sent[2] = {42, 43};
  int64_t received[2] = {};
  const uint64_t device = allocate(16);
  copy(device, host_address(sent), 16);
  mover_.kernel_ran();
  copy(host_address(received), device, 16);
  EXPECT_EQ(received[1], 43);
}

TEST_F(DataMoverTest, CopiesOfUnwrittenDeviceMemoryCostNothing) {
  const uint64_t from = allocate(kGiB);
  const uint64_t to = allocate(kGiB);
  EXPECT_EQ(mover_.plan_copy(to, from, kGiB), Movement::kNothing);
  EXPECT_EQ(memory_.allocations().written_bytes(), 0u);
}

TEST_F(DataMoverTest, AnUnwrittenSourceClearsAWrittenDestination) {
  const std::vector<char> ones(kMiB, 1);
  const uint64_t from = allocate(kMiB);
  const uint64_t to = allocate(kMiB);
  copy(to, host_address(ones.data()), kMiB);
  EXPECT_EQ(mover_.plan_copy(to, from, kMiB), Movement::kDiscard);
  copy(to, from, kMiB);
  EXPECT_EQ(*reinterpret_cast<const char*>(to + kMiB - 1), 0);
}

TEST_F(DataMoverTest, LargeDeviceCopiesMoveNothing) {
  const std::vector<char> ones(100, 1);
  const uint64_t from = allocate(16 * kMiB);
  const uint64_t to = allocate(16 * kMiB);
  copy(from, host_address(ones.data()), 100);
  EXPECT_EQ(mover_.plan_copy(to, from, 16 * kMiB - 1), Movement::kCopy);
  EXPECT_EQ(mover_.plan_copy(to, from, 16 * kMiB), Movement::kNothing);
}

TEST_F(DataMoverTest, PayloadsAreDroppedOnceTheBudgetIsSpent) {
  const uint64_t device = allocate(2 * kGiB);
  const uint64_t host = 0x1000;  // only planned, never read
  EXPECT_EQ(mover_.plan_copy(device, host, kGiB), Movement::kCopy);
  EXPECT_EQ(mover_.plan_copy(device, host, kMiB), Movement::kNothing);
  EXPECT_EQ(mover_.plan_copy(device, host, kMiB - 1), Movement::kCopy)
      << "small copies may steer programs";
  EXPECT_EQ(memory_.release(device), Status::kSuccess);
  EXPECT_EQ(memory_.allocations().written_bytes(), 0u);
}

TEST_F(DataMoverTest, SetsToZeroGivePagesBack) {
  const uint64_t device = allocate(kMiB);
  EXPECT_EQ(mover_.plan_set(device, kMiB, true), Movement::kNothing) << "nothing was written yet";
  EXPECT_EQ(mover_.plan_set(device, kMiB, false), Movement::kCopy);
  EXPECT_EQ(mover_.plan_set(device, kMiB, true), Movement::kDiscard);
}

TEST_F(DataMoverTest, DiscardKeepsTheBytesAround) {
  const uint64_t device = allocate(kMiB);
  std::vector<char> ones(kMiB, 1);
  copy(device, host_address(ones.data()), kMiB);
  mover_.carry_out(Movement::kDiscard, device + 100, 0, kMiB - 200);
  const auto* bytes = reinterpret_cast<const char*>(device);
  EXPECT_EQ(bytes[99], 1);
  EXPECT_EQ(bytes[100], 0);
  EXPECT_EQ(bytes[kMiB - 101], 0);
  EXPECT_EQ(bytes[kMiB - 100], 1);
}

TEST_F(DataMoverTest, UnallocatedDeviceAddressesAreNotAccessible) {
  const uint64_t device = allocate(512);
  EXPECT_TRUE(mover_.is_accessible(device, 512));
  EXPECT_FALSE(mover_.is_accessible(device, 513));
  EXPECT_FALSE(mover_.is_accessible(device + kGiB, 1));
  EXPECT_TRUE(mover_.is_accessible(host_address(&device), 8));
}

}  // namespace
}  // namespace simgpu
