"""The simulated GPU without `vramscope run`: what a job sees that preloads the profiler by itself."""

import functools

from support.command import clean_environment, vramscope_ok
from support.paths import PRELOAD_LIBRARY
from support.sanitizer import runtime


@functools.cache
def simulation_variables(gpu):
    """What `run --simulate` adds to the environment, but for the profiler."""
    printed = vramscope_ok("run", "--simulate", gpu, "--", "env", "-0", environment={"VRAMSCOPE_DISABLE": "1"})
    seen = dict(entry.split("=", 1) for entry in printed.split("\0") if entry)
    outside = clean_environment()
    added = {name: value for name, value in seen.items() if outside.get(name) != value}
    kept = {name: value for name, value in added.items() if not name.startswith("VRAMSCOPE_") or "_SIM_" in name}
    left_out = {str(PRELOAD_LIBRARY), *runtime()}
    libraries = [name for name in kept["LD_PRELOAD"].split(":") if name not in left_out]
    return {**kept, "LD_PRELOAD": ":".join(libraries)}


def preload_environment(output, gpu="h100", **more):
    """The environment of a job on a simulated GPU with LD_PRELOAD=libvramscope.so, and nothing else of ours."""
    variables = simulation_variables(gpu)
    libraries = f"{PRELOAD_LIBRARY}:{variables['LD_PRELOAD']}"
    return {**variables, "LD_PRELOAD": libraries, "VRAMSCOPE_OUTPUT": str(output), **more}
