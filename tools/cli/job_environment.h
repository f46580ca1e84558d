// The environment in which `vramscope run` starts its job.
#pragma once

#include <string>
#include <vector>

namespace vramscope {

struct SimulatedGpu {
  std::string gpu;      // "h100x8"; empty: none is simulated
  std::string lag;      // driver calls; empty: default
  std::string context;  // size; empty: the profile's
  std::string job;      // the ledger that its processes share; empty: none
};

struct JobEnvironmentOptions {
  bool record = true;          // false: VRAMSCOPE_DISABLE is set
  std::string output_pattern;  // session files without suffix
  std::string stacks;          // empty: as the job's environment says
  std::string ring;
  std::string overflow;
  int doorbell = -1;  // number of this process's SharedDoorbell; -1: there is none
  bool verify_unwind = false;
  SimulatedGpu simulated;
};

// What `run` preloads, found beside this executable: in the build tree or below the prefix. Throws
// UserError naming what is missing.
struct PreloadLibraries {
  std::string recorder;                // libvramscope.so
  std::string nvtx;                    // libvramscope_nvtx.so: NVTX loads it, it is not preloaded
  std::string simulated_folder;        // empty: nothing is simulated
  std::vector<std::string> simulated;  // the simulated GPU's libraries, in the order of preloading
};
PreloadLibraries find_preload_libraries(bool simulated);

// `inherited` with what the job needs. LD_PRELOAD: what the user had, the recorder, the simulated
// GPU.
std::vector<std::string> job_environment(const char* const* inherited,
                                         const PreloadLibraries& libraries,
                                         const JobEnvironmentOptions& options);

}  // namespace vramscope
