#include "tools/simgpu/libraries/cudnn_workspace_warning.h"

#include <atomic>
#include <cstdio>

namespace simgpu::libraries::cudnn {
namespace {

std::atomic<bool> warned = false;

}  // namespace

void warn_about_workspaces() {
  if (warned.exchange(true)) return;
  std::fputs(
      "simgpu: cuDNN workspaces are not simulated: peaks with convolutions are a lower bound\n",
      stderr);
}

bool warned_about_workspaces() { return warned.load(std::memory_order_relaxed); }

}  // namespace simgpu::libraries::cudnn
