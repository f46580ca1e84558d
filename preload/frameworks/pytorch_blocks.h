// Blocks: what PyTorch's caching allocator hands out to tensors.
//
// libc10_cuda reports every block that it allocates and frees, and every OOM, to two functions of
// libc10, whether or not a profiler listens (PyTorch 2.4 to 2.15); both are called through the PLT
// and are hooked there. Not called with the cudaMallocAsync backend, pluggable allocators or
// PYTORCH_NO_CUDA_MEMORY_CACHING: there the driver's calls are the tensors.
//
// The allocator's mutex is held and the GIL is not: nothing here waits, takes the GIL or calls back
// into PyTorch's allocator.
#pragma once

namespace vramscope {

void attach_pytorch_hooks(void** wrappers);

// Looks PyTorch's functions up if its libraries are loaded. Done when the core is attached, so that
// the dynamic linker's lock is not needed later, under the allocator's mutex.
void find_pytorch();

}  // namespace vramscope
