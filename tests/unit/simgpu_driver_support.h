// How the tests of the built libcuda.so.1 load it: as programs do. Every case runs in a child
// process of its own: the environment is read once a process, and cuInit cannot be undone.
#pragma once

#include <cuda.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

inline constexpr unsigned long long kMiB = 1ull << 20;

inline void* library() {
  static void* handle = dlopen(SIMGPU_LIBCUDA, RTLD_NOW | RTLD_LOCAL);
  return handle;
}

template <typename Function>
Function* symbol(const char* name) {
  return reinterpret_cast<Function*>(dlsym(library(), name));
}

// One exported function, looked up under its exported name.
#define DRIVER(name) (*symbol<decltype(name)>(#name))

// The same for functions whose cuda.h name is a macro for a later variant.
#define DRIVER_AS(type, exported) (*symbol<decltype(type)>(exported))

struct Environment {
  const char* name;
  const char* value;
};

// What the library reads, so that the tester's own environment has no say.
inline constexpr const char* kConfiguration[] = {
    "VRAMSCOPE_SIM_GPU",     "VRAMSCOPE_SIM_COUNT",   "VRAMSCOPE_SIM_LAG", "VRAMSCOPE_SIM_LOG",
    "VRAMSCOPE_SIM_CONTEXT", "VRAMSCOPE_SIM_VERBOSE", "VRAMSCOPE_SIM_JOB", "CUDA_VISIBLE_DEVICES"};

// Runs `body` in a child with the environment set; the child's failed expectations fail the test.
template <typename Body>
void in_child(const std::vector<Environment>& environment, Body body) {
  std::fflush(nullptr);  // or the child writes it again
  const pid_t child = fork();
  if (child == 0) {
    for (const char* name : kConfiguration) unsetenv(name);
    for (const Environment& variable : environment) setenv(variable.name, variable.value, 1);
    EXPECT_NE(library(), nullptr) << dlerror();
    if (!testing::Test::HasFailure()) body();
    std::fflush(nullptr);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "child's status " << status;
}

inline void use_device(CUdevice device) {
  ASSERT_EQ(DRIVER(cuInit)(0), CUDA_SUCCESS);
  CUcontext context = nullptr;
  ASSERT_EQ(DRIVER(cuDevicePrimaryCtxRetain)(&context, device), CUDA_SUCCESS);
  ASSERT_EQ(DRIVER(cuCtxSetCurrent)(context), CUDA_SUCCESS);
}

inline unsigned long long used_bytes() {
  size_t free = 0;
  size_t total = 0;
  EXPECT_EQ(DRIVER_AS(cuMemGetInfo, "cuMemGetInfo_v2")(&free, &total), CUDA_SUCCESS);
  return total - free;
}

inline std::string temporary_path(const std::string& name) {
  std::string path = testing::TempDir() + name + "." + std::to_string(getpid());
  std::filesystem::remove(path);
  return path;
}
