#include <gtest/gtest.h>

#include "tools/model/owner.h"

namespace vramscope {
namespace {

NativeModule module(uint64_t begin, uint64_t end, const char* path) {
  return {begin, end, begin, "", path};
}

TEST(Owner, IsNamedAfterTheLibrary) {
  EXPECT_EQ(owner_of_module("/v/torch/lib/libc10_cuda.so", "").name, "PyTorch");
  EXPECT_TRUE(owner_of_module("/v/torch/lib/libc10_cuda.so", "").is_caching_allocator);
  EXPECT_EQ(owner_of_module("/v/torch/lib/libtorch_cuda.so", "").name, "PyTorch");
  EXPECT_FALSE(owner_of_module("/v/torch/lib/libtorch_cuda.so", "").is_caching_allocator);
  EXPECT_EQ(owner_of_module("/v/nvidia/lib/libcublasLt.so.13", "").name, "cuBLAS");
  EXPECT_EQ(owner_of_module("/v/nvidia/lib/libnccl.so.2", "").name, "NCCL");
  EXPECT_EQ(owner_of_module("/home/u/libmine.so", "").name, "libmine.so");
  EXPECT_EQ(owner_of_module("/usr/lib/libpython3.11.so.1.0", "/usr/bin/python3.11").name, "Python");
  EXPECT_EQ(owner_of_module("/usr/bin/python3.11", "/usr/bin/python3.11").name, "Python");
  EXPECT_EQ(owner_of_module("/home/u/libtorch_demo", "/home/u/libtorch_demo").name,
            "libtorch_demo");
}

TEST(Owner, LooksThroughTheRuntime) {
  EXPECT_TRUE(is_transparent_module("/usr/lib/libcuda.so.1"));
  EXPECT_TRUE(is_transparent_module("/v/libcudart.so.13"));
  EXPECT_TRUE(is_transparent_module("/opt/libvramscope_core.so"));
  EXPECT_TRUE(is_transparent_module("/usr/lib/libffi.so.8"));
  EXPECT_TRUE(is_transparent_module("/p/lib-dynload/_ctypes.cpython-311-x86_64-linux-gnu.so"));
  EXPECT_FALSE(is_transparent_module("/v/libcudnn.so.9"));
}

TEST(StackOwners, AreTheFirstLibraryBehindTheRuntime) {
  Session session;
  session.info["executable"] = "/bin/app";
  session.modules = {module(100, 200, "/lib/libcudart.so.13"),
                     module(200, 300, "/lib/libnccl.so.2"), module(300, 400, "/bin/app")};
  const NativeFrame runtime{150, 0}, nccl{250, 1}, app{350, 2}, nothing{999, kNoModule};
  const NativeFrame by_nccl[] = {runtime, nccl, app}, by_program[] = {runtime, app};
  const NativeFrame by_nobody[] = {runtime, nothing};
  session.native_stacks.add(1, by_nccl);
  session.native_stacks.add(2, by_program);
  session.native_stacks.add(3, by_nobody);
  StackOwners owners(session);
  EXPECT_EQ(owners.of(1).name, "NCCL");
  EXPECT_EQ(owners.of(2).name, "app");
  EXPECT_EQ(owners.of(3).name, "");
  EXPECT_EQ(owners.of(0).name, "");
}

}  // namespace
}  // namespace vramscope
