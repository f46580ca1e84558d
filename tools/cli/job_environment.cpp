#include "tools/cli/job_environment.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>

#include "tools/model/user_error.h"

namespace vramscope {
namespace {

// In the order of preloading. A process that does not use one of them does not notice it.
constexpr const char* kSimulatedLibraries[] = {
    "libcuda.so.1",      "libnvidia-ml.so.1", "libcudart.so.13",   "libcublas.so.13",
    "libcublasLt.so.13", "libcudnn.so.9",     "libcusparse.so.12", "libcusparseLt.so.0",
    "libcufft.so.12",    "libcusolver.so.12", "libnccl.so.2",      "libnvshmem_host.so.3",
    "libcupti.so.13",
};

namespace fs = std::filesystem;

constexpr const char* kRecorder = "libvramscope.so";

// Build tree: <build>/tools/cli/vramscope. Installed: <prefix>/bin/vramscope.
struct Layout {
  const char* preload;
  const char* simulated;
};
constexpr Layout kLayouts[] = {
    {"../../preload", "../simgpu"},
    {VRAMSCOPE_PRIVATE_LIBDIR, VRAMSCOPE_PRIVATE_LIBDIR "/simgpu"},
};

std::string usable_path(const fs::path& path) {
  if (!fs::exists(path)) {
    throw UserError(path.string() + ": not found; build or install vramscope again");
  }
  std::string text = path.string();
  if (text.find_first_of(" :") != std::string::npos) {
    throw UserError(text + ": LD_PRELOAD takes no path with spaces or colons; move vramscope");
  }
  return text;
}

using Variables = std::map<std::string, std::string, std::less<>>;

Variables split(const char* const* environment) {
  Variables variables;
  for (; *environment != nullptr; ++environment) {
    const std::string_view assignment(*environment);
    const size_t equals = assignment.find('=', 1);
    if (equals == std::string_view::npos) continue;
    variables.emplace(assignment.substr(0, equals), assignment.substr(equals + 1));
  }
  return variables;
}

void set_if_given(Variables& variables, const char* name, const std::string& value) {
  if (!value.empty()) variables[name] = value;
}

void append_to_list(std::string& list, const std::string& path) {
  if ((":" + list + ":").find(":" + path + ":") != std::string::npos) return;
  if (!list.empty()) list += ':';
  list += path;
}

void record_into(Variables& variables, const JobEnvironmentOptions& options) {
  variables["VRAMSCOPE_OUTPUT"] = options.output_pattern;
  std::string& drainer = variables["VRAMSCOPE_DRAINER"] = std::to_string(getpid());
  if (options.doorbell >= 0) drainer.append(":").append(std::to_string(options.doorbell));
  set_if_given(variables, "VRAMSCOPE_STACKS", options.stacks);
  set_if_given(variables, "VRAMSCOPE_RING", options.ring);
  set_if_given(variables, "VRAMSCOPE_OVERFLOW", options.overflow);
  if (options.verify_unwind) variables["VRAMSCOPE_VERIFY_UNWIND"] = "1";
}

void simulate(Variables& variables, const PreloadLibraries& libraries,
              const SimulatedGpu& simulated) {
  variables["VRAMSCOPE_SIM_GPU"] = simulated.gpu;
  set_if_given(variables, "VRAMSCOPE_SIM_LAG", simulated.lag);
  set_if_given(variables, "VRAMSCOPE_SIM_CONTEXT", simulated.context);
  variables.erase("VRAMSCOPE_SIM_JOB");  // of another job that this one runs in
  set_if_given(variables, "VRAMSCOPE_SIM_JOB", simulated.job);
  variables["TRITON_LIBCUDA_PATH"] = libraries.simulated_folder;
  std::string& search_path = variables["LD_LIBRARY_PATH"];
  if (!search_path.empty()) search_path.insert(0, 1, ':');
  search_path.insert(0, libraries.simulated_folder);
}

}  // namespace

PreloadLibraries find_preload_libraries(bool simulated) {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  const auto resolve = [&](const char* relative) { return (folder / relative).lexically_normal(); };
  const bool built = fs::exists(resolve(kLayouts[0].preload) / kRecorder);
  const Layout& layout = kLayouts[built ? 0 : 1];

  PreloadLibraries libraries;
  libraries.recorder = usable_path(resolve(layout.preload) / kRecorder);
  libraries.nvtx = usable_path(resolve(layout.preload) / "libvramscope_nvtx.so");
  if (!simulated) return libraries;
  libraries.simulated_folder = usable_path(resolve(layout.simulated));
  for (const char* name : kSimulatedLibraries) {
    libraries.simulated.push_back(usable_path(fs::path(libraries.simulated_folder) / name));
  }
  return libraries;
}

std::vector<std::string> job_environment(const char* const* inherited,
                                         const PreloadLibraries& libraries,
                                         const JobEnvironmentOptions& options) {
  Variables variables = split(inherited);
  std::string preload = variables["LD_PRELOAD"];
  std::replace(preload.begin(), preload.end(), ' ', ':');
  if (options.record) {
    append_to_list(preload, libraries.recorder);
    record_into(variables, options);
    variables.emplace("NVTX_INJECTION64_PATH", libraries.nvtx);  // unless another tool is there
  }
  if (!options.simulated.gpu.empty()) {
    for (const std::string& library : libraries.simulated) append_to_list(preload, library);
    simulate(variables, libraries, options.simulated);
  }
  variables["LD_PRELOAD"] = preload;
  if (preload.empty()) variables.erase("LD_PRELOAD");

  std::vector<std::string> environment;
  for (const auto& [name, value] : variables) {
    environment.push_back(name);
    environment.back().append("=").append(value);
  }
  return environment;
}

}  // namespace vramscope
