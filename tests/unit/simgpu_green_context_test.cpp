// Green contexts of the simulated driver.
#include "tests/unit/simgpu_driver_support.h"

namespace {

CUresult split(CUdevResource* result, unsigned* groups, const CUdevResource& input,
               CUdevResource* remaining, unsigned least) {
  return DRIVER(cuDevSmResourceSplitByCount)(result, groups, &input, remaining, 0, least);
}

CUdevResource whole_device() {
  CUdevResource sms = {};
  EXPECT_EQ(DRIVER(cuDeviceGetDevResource)(0, &sms, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
  return sms;
}

CUgreenCtx green_context(CUdevResource sms) {
  CUdevResourceDesc description = nullptr;
  CUgreenCtx green = nullptr;
  EXPECT_EQ(DRIVER(cuDevResourceGenerateDesc)(&description, &sms, 1), CUDA_SUCCESS);
  EXPECT_EQ(DRIVER(cuGreenCtxCreate)(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM),
            CUDA_SUCCESS);
  return green;
}

size_t free_bytes() {
  size_t free = 0;
  size_t total = 0;
  EXPECT_EQ(DRIVER_AS(cuMemGetInfo, "cuMemGetInfo_v2")(&free, &total), CUDA_SUCCESS);
  return free;
}

TEST(SimgpuGreenContext, MultiprocessorsAreSplitAsTheManualSays) {
  in_child({{"VRAMSCOPE_SIM_GPU", "h100"}}, [] {
    ASSERT_EQ(DRIVER(cuInit)(0), CUDA_SUCCESS);
    const CUdevResource all = whole_device();
    EXPECT_EQ(all.sm.smCount, 132u);
    EXPECT_EQ(all.sm.minSmPartitionSize, 8u);
    EXPECT_EQ(all.sm.smCoscheduledAlignment, 8u);
    CUdevResource parts[4] = {};
    CUdevResource left = {};
    unsigned groups = 0;
    EXPECT_EQ(split(nullptr, &groups, all, nullptr, 20), CUDA_SUCCESS);
    EXPECT_EQ(groups, 5u);  // of 24
    groups = 4;
    EXPECT_EQ(split(parts, &groups, all, &left, 20), CUDA_SUCCESS);
    EXPECT_EQ(groups, 4u);
    EXPECT_EQ(parts[3].sm.smCount, 24u);
    EXPECT_EQ(left.sm.smCount, 36u);
    EXPECT_EQ(split(parts, &groups, all, &left, 133), CUDA_ERROR_INVALID_VALUE);
    CUdevResource other = {};
    EXPECT_EQ(DRIVER(cuDeviceGetDevResource)(0, &other, CU_DEV_RESOURCE_TYPE_INVALID),
              CUDA_ERROR_INVALID_RESOURCE_TYPE);
  });
}

TEST(SimgpuGreenContext, ItHoldsThePrimaryContextAndIsUsedAsAContext) {
  in_child({{"VRAMSCOPE_SIM_GPU", "h100"}}, [] {
    ASSERT_EQ(DRIVER(cuInit)(0), CUDA_SUCCESS);
    CUdevResource part = {};
    unsigned groups = 1;
    ASSERT_EQ(split(&part, &groups, whole_device(), nullptr, 16), CUDA_SUCCESS);
    const CUgreenCtx green = green_context(part);
    unsigned flags = 0;
    int active = 0;
    ASSERT_EQ(DRIVER(cuDevicePrimaryCtxGetState)(0, &flags, &active), CUDA_SUCCESS);
    EXPECT_EQ(active, 1);

    CUcontext context = nullptr;
    ASSERT_EQ(DRIVER(cuCtxFromGreenCtx)(&context, green), CUDA_SUCCESS);
    ASSERT_EQ(DRIVER(cuCtxSetCurrent)(context), CUDA_SUCCESS);
    CUdevResource own = {};
    EXPECT_EQ(DRIVER(cuCtxGetDevResource)(context, &own, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
    EXPECT_EQ(own.sm.smCount, 16u);
    EXPECT_EQ(DRIVER(cuGreenCtxGetDevResource)(green, &own, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
    EXPECT_EQ(own.sm.smCount, 16u);

    const size_t before = free_bytes();
    CUdeviceptr address = 0;
    EXPECT_EQ(DRIVER_AS(cuMemAlloc, "cuMemAlloc_v2")(&address, 4 * kMiB), CUDA_SUCCESS);
    EXPECT_EQ(free_bytes(), before - 4 * kMiB);
    CUstream stream = nullptr;
    EXPECT_EQ(DRIVER(cuGreenCtxStreamCreate)(&stream, green, CU_STREAM_NON_BLOCKING, 0),
              CUDA_SUCCESS);
    EXPECT_EQ(DRIVER(cuStreamSynchronize)(stream), CUDA_SUCCESS);
    EXPECT_EQ(DRIVER_AS(cuStreamDestroy, "cuStreamDestroy_v2")(stream), CUDA_SUCCESS);

    EXPECT_EQ(DRIVER_AS(cuCtxDestroy, "cuCtxDestroy_v2")(context), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(DRIVER(cuGreenCtxDestroy)(green), CUDA_SUCCESS);
    EXPECT_EQ(DRIVER(cuGreenCtxDestroy)(green), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(DRIVER(cuCtxSetCurrent)(context), CUDA_ERROR_INVALID_CONTEXT);
    ASSERT_EQ(DRIVER(cuDevicePrimaryCtxGetState)(0, &flags, &active), CUDA_SUCCESS);
    EXPECT_EQ(active, 0) << "the last reference was its own";
  });
}

TEST(SimgpuGreenContext, ThePrimaryContextLivesOnIfOthersHoldIt) {
  in_child({{"VRAMSCOPE_SIM_GPU", "h100"}}, [] {
    ASSERT_EQ(DRIVER(cuInit)(0), CUDA_SUCCESS);
    CUcontext primary = nullptr;
    ASSERT_EQ(DRIVER(cuDevicePrimaryCtxRetain)(&primary, 0), CUDA_SUCCESS);
    ASSERT_EQ(DRIVER(cuCtxSetCurrent)(primary), CUDA_SUCCESS);
    const size_t before = free_bytes();
    const CUgreenCtx green = green_context(whole_device());
    EXPECT_EQ(free_bytes(), before) << "a green context costs nothing beside it";
    CUdeviceptr address = 0;
    ASSERT_EQ(DRIVER_AS(cuMemAlloc, "cuMemAlloc_v2")(&address, kMiB), CUDA_SUCCESS);
    EXPECT_EQ(DRIVER(cuGreenCtxDestroy)(green), CUDA_SUCCESS);
    EXPECT_EQ(DRIVER_AS(cuMemFree, "cuMemFree_v2")(address), CUDA_SUCCESS) << "still there";
  });
}

TEST(SimgpuGreenContext, WhatDoesNotFitIsRefused) {
  in_child({{"VRAMSCOPE_SIM_GPU", "h100"}}, [] {
    ASSERT_EQ(DRIVER(cuInit)(0), CUDA_SUCCESS);
    const CUdevResource all = whole_device();
    CUdevResource twice[] = {all, all};
    CUdevResourceDesc description = nullptr;
    CUgreenCtx green = nullptr;
    ASSERT_EQ(DRIVER(cuDevResourceGenerateDesc)(&description, twice, 2), CUDA_SUCCESS);
    EXPECT_EQ(DRIVER(cuGreenCtxCreate)(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM),
              CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
    EXPECT_EQ(DRIVER(cuGreenCtxCreate)(&green, description, 0, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(DRIVER(cuGreenCtxCreate)(&green, nullptr, 0, CU_GREEN_CTX_DEFAULT_STREAM),
              CUDA_ERROR_INVALID_VALUE);
    twice[0].type = CU_DEV_RESOURCE_TYPE_INVALID;
    EXPECT_EQ(DRIVER(cuDevResourceGenerateDesc)(&description, twice, 2),
              CUDA_ERROR_INVALID_RESOURCE_TYPE);
  });
}

}  // namespace
