// Every row of the hook table: which event its call becomes, when it succeeds, when it is refused,
// and when its pointers are NULL.
#include "preload/hooks/pool_devices.h"
#include "tests/integration/fake_driver/row_calls.h"
#include "tests/unit/preload_support.h"

namespace vramscope {
namespace {

using namespace rows;

CUresult driver_result = CUDA_SUCCESS;
uint64_t ticks_in_driver = 0;

template <typename Signature>
struct Driver;

template <typename... Arguments>
struct Driver<CUresult(Arguments...)> {
  static CUresult call(Arguments... arguments) {
    ticks_in_driver = clock_ticks;
    uint64_t position = 0;
    if (driver_result == CUDA_SUCCESS) (produce(arguments, ++position), ...);
    return driver_result;
  }
};

// Calls the row's wrapper and returns what it recorded.
template <Api kApi>
std::vector<Recorded> recorded_by(CUresult result, Pointers pointers) {
  const auto row = static_cast<uint32_t>(kApi);
  real_functions[row] = reinterpret_cast<void*>(&Driver<Function<kApi>>::call);
  driver_result = result;
  recorded.clear();
  auto* wrapper = reinterpret_cast<Function<kApi>*>(attached_wrappers()[row]);
  EXPECT_EQ(call(wrapper, pointers), result) << kApiNames[row];
  return recorded;
}

class PreloadRows : public testing::Test {
 protected:
  void SetUp() override {
    attached_wrappers();
    current_device_ordinal = kCurrentDevice;
    // Rows further down give the pool that memory is taken from to another device.
    remember_pool(argument_number(3), kCurrentDevice);
  }
};

void expect_event(const std::vector<Recorded>& made, const ExpectedRow& expected, int result) {
  const char* name = kApiNames[static_cast<size_t>(expected.api)];
  ASSERT_EQ(made.size(), 1u) << name;
  const Event& event = made[0].event;
  EXPECT_EQ(event.kind, expected.kind) << name;
  EXPECT_EQ(event.api, static_cast<uint16_t>(expected.api)) << name;
  EXPECT_EQ(event.result, result) << name;
  EXPECT_EQ(event.device, expected.device) << name;
  EXPECT_EQ(event.address, expected.address) << name;
  EXPECT_EQ(event.size, expected.size) << name;
  EXPECT_EQ(event.stream, expected.stream) << name;
  EXPECT_EQ(event.handle, expected.handle) << name;
  EXPECT_EQ(event.extra, 0u) << name;
  EXPECT_EQ(event.ticks, ticks_in_driver + (expected.taken == Taken::kAfter ? 1 : 0)) << name;
}

TEST_F(PreloadRows, EachCallBecomesItsEvent) {
  for_each_row([]<Api kApi>(const ExpectedRow& expected) {
    expect_event(recorded_by<kApi>(CUDA_SUCCESS, Pointers::kValid), expected, CUDA_SUCCESS);
  });
}

TEST_F(PreloadRows, ARefusedCallHasItsArgumentsAndNothingThatTheDriverDidNotReturn) {
  for_each_row([]<Api kApi>(const ExpectedRow& expected) {
    expect_event(recorded_by<kApi>(CUDA_ERROR_OUT_OF_MEMORY, Pointers::kValid), refused(expected),
                 CUDA_ERROR_OUT_OF_MEMORY);
  });
}

// Whatever the driver makes of it. Without its description a graph node is of no known kind.
TEST_F(PreloadRows, NullPointersAreNotFollowed) {
  for_each_row([]<Api kApi>(const ExpectedRow&) {
    constexpr bool is_node = kApi == Api::cuGraphAddNode || kApi == Api::cuGraphAddNode_v2;
    for (const CUresult result :
         {CUDA_SUCCESS, CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_INVALID_VALUE}) {
      const auto made = recorded_by<kApi>(result, Pointers::kNull);
      const char* name = kApiNames[static_cast<size_t>(kApi)];
      ASSERT_EQ(made.size(), is_node ? 0u : 1u) << name;
      if (is_node) continue;
      EXPECT_EQ(made[0].event.result, result) << name;
      EXPECT_LT(made[0].event.address, output_number(0)) << name;
      EXPECT_LT(made[0].event.handle, output_number(0)) << name;
    }
  });
}

}  // namespace
}  // namespace vramscope
