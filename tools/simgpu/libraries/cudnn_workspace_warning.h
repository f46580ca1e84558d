#pragma once

namespace simgpu::libraries::cudnn {

/// Says once per process, on stderr, that the workspaces of convolutions and attention are missing
/// from the peaks: the real library asks for some, the stand-in for none. Any thread.
void warn_about_workspaces();

/// Whether it was said already: saves the caller the search for such operations.
bool warned_about_workspaces();

}  // namespace simgpu::libraries::cudnn
