#include "tools/model/symbolizer.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <map>
#include <numeric>
#include <string_view>
#include <thread>
#include <tuple>

#include "tools/model/module_symbols.h"

namespace vramscope {
namespace {

// The addresses of one module: indexes into them, those of equal addresses side by side.
struct Job {
  const SymbolModule* module;
  std::span<const uint32_t> indexes;
};

std::string hexadecimal(uint64_t value) {
  char digits[2 + 16] = {'0', 'x'};
  const auto end = std::to_chars(digits + 2, std::end(digits), value, 16).ptr;
  return {digits, end};
}

std::string without_symbol(const SymbolModule& module, uint64_t return_address) {
  const std::string name = module.path.substr(module.path.rfind('/') + 1);
  return name + '+' + hexadecimal(return_address - module.bias);
}

SymbolizedFrame look_up(const SymbolModule& module, const ModuleSymbols& symbols,
                        uint64_t return_address) {
  // A call may be the last instruction of its line, and of its function.
  const uint64_t file_address = return_address - 1 - module.bias;
  SymbolizedFrame frame;
  frame.function = symbols.function(file_address);
  if (frame.function.empty()) frame.function = without_symbol(module, return_address);
  SourceLine source = symbols.line(file_address);
  frame.file = std::move(source.file);
  frame.line = source.line;
  return frame;
}

void run(const Job& job, std::span<const CodeAddress> addresses,
         std::vector<SymbolizedFrame>& frames) {
  const ModuleSymbols symbols(job.module->path, job.module->build_id);
  const SymbolizedFrame* previous = nullptr;
  uint64_t previous_address = 0;
  for (const uint32_t index : job.indexes) {
    const uint64_t address = addresses[index].return_address;
    frames[index] = previous != nullptr && previous_address == address
                        ? *previous
                        : look_up(*job.module, symbols, address);
    previous = &frames[index];
    previous_address = address;
  }
}

// Index of the first module that is the same file at the same addresses, for each: a recording
// names a module once per thread.
std::vector<uint32_t> find_originals(std::span<const SymbolModule> modules) {
  std::map<std::tuple<std::string_view, std::string_view, uint64_t>, uint32_t> first;
  std::vector<uint32_t> originals;
  originals.reserve(modules.size());
  for (const SymbolModule& module : modules) {
    const auto index = static_cast<uint32_t>(originals.size());
    originals.push_back(
        first.try_emplace({module.path, module.build_id, module.bias}, index).first->second);
  }
  return originals;
}

// Splits `order`, which is sorted by module, into one job per module: the largest first, so that no
// thread begins a long one at the end. Addresses outside any module need none.
std::vector<Job> make_jobs(std::span<const SymbolModule> modules,
                           std::span<const uint32_t> module_of, std::span<const uint32_t> order) {
  std::vector<Job> jobs;
  while (!order.empty()) {
    const uint32_t module = module_of[order.front()];
    const auto end =
        std::ranges::find_if(order, [&](uint32_t index) { return module_of[index] != module; });
    const auto count = static_cast<size_t>(end - order.begin());
    if (module < modules.size()) jobs.push_back({&modules[module], order.first(count)});
    order = order.subspan(count);
  }
  std::ranges::stable_sort(jobs, std::greater(), [](const Job& job) { return job.indexes.size(); });
  return jobs;
}

void run_all(std::span<const Job> jobs, std::span<const CodeAddress> addresses, unsigned threads,
             std::vector<SymbolizedFrame>& frames) {
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < jobs.size(); i = next++) run(jobs[i], addresses, frames);
  };
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  const size_t helpers = std::min<size_t>(threads, jobs.size());
  std::vector<std::jthread> running;
  for (size_t i = 1; i < helpers; ++i) running.emplace_back(work);
  work();
}

}  // namespace

std::vector<SymbolizedFrame> symbolize(std::span<const SymbolModule> modules,
                                       std::span<const CodeAddress> addresses, unsigned threads) {
  std::vector<SymbolizedFrame> frames(addresses.size());
  const std::vector<uint32_t> originals = find_originals(modules);
  std::vector<uint32_t> module_of;
  module_of.reserve(addresses.size());
  for (const CodeAddress& address : addresses) {
    module_of.push_back(address.module < modules.size() ? originals[address.module] : kNoModule);
  }
  std::vector<uint32_t> order(addresses.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) {
    return std::tuple(module_of[a], addresses[a].return_address, a) <
           std::tuple(module_of[b], addresses[b].return_address, b);
  });
  run_all(make_jobs(modules, module_of, order), addresses, threads, frames);
  for (size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].function.empty()) frames[i].function = hexadecimal(addresses[i].return_address);
  }
  return frames;
}

}  // namespace vramscope
