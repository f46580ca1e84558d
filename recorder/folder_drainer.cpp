#include "recorder/folder_drainer.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>

#include "recorder/clock.h"
#include "recorder/file_error.h"
#include "recorder/log.h"

namespace vramscope {
namespace {

constexpr uint64_t kLookInterval_ns = 20'000'000;
constexpr uint64_t kRungPause_us = 20'000;
constexpr uint64_t kBusyPause_us = 1'000;
constexpr uint64_t kIdlePause_us = 5'000;

std::vector<std::string> ring_file_names(const std::string& folder) {
  std::vector<std::string> names;
  DIR* directory = opendir(folder.c_str());
  if (directory == nullptr) return names;
  while (const dirent* entry = readdir(directory)) {
    std::string name = entry->d_name;
    if (name.ends_with(kRingFileSuffix)) names.push_back(std::move(name));
  }
  closedir(directory);
  return names;
}

}  // namespace

FolderDrainer::FolderDrainer(std::string folder, uint32_t drainer_pid)
    : folder_(std::move(folder)), drainer_pid_(drainer_pid) {}

uint64_t FolderDrainer::poll_us(uint32_t rung) {
  const uint64_t now_ns = monotonic_ns();
  bool busy = false;
  if ((rung & kNewFileRung) != 0 || now_ns - looked_at_ns_ >= kLookInterval_ns) {
    looked_at_ns_ = now_ns;
    busy = look_for_new_files();
    retire_ended();
  }
  busy = drain_all() || busy;
  pause_us_ = busy ? kBusyPause_us : std::min(pause_us_ * 2, kIdlePause_us);
  const bool all_ring = std::ranges::all_of(
      active_, [](const auto& process) { return process->reader().rings_doorbell(); });
  return all_ring && !active_.empty() ? kRungPause_us : pause_us_;
}

bool FolderDrainer::look_for_new_files() {
  bool found = false;
  for (std::string& name : ring_file_names(folder_)) {
    if (known_.contains(name)) continue;
    const std::string path = folder_ + "/" + name;
    try {
      auto reader = RingReader::open(path, RingReader::Access::kDrain);
      if (!reader) continue;  // not ready: next time
      if (reader->drainer_pid() == drainer_pid_ && reader->claim()) {
        active_.push_back(std::make_unique<ProcessDrain>(std::move(reader)));
        found = true;
      }
    } catch (const FileError& error) {
      log_warning("%s", error.what());
    }
    known_.insert(std::move(name));
  }
  return found;
}

bool FolderDrainer::drain_all() {
  bool busy = false;
  for (const auto& process : active_) {
    process->drain(ProcessDrain::Amount::kWorthwhile);
    busy = process->active() || busy;
  }
  return busy;
}

void FolderDrainer::retire_ended() {
  std::erase_if(active_, [this](const std::unique_ptr<ProcessDrain>& process) {
    if (process->process_lives()) return false;
    if (!process->finish(true)) return false;
    add(*process, ended_);
    return true;
  });
}

void FolderDrainer::finish(uint64_t patience_us) {
  const uint64_t deadline_ns = monotonic_ns() + patience_us * 1000;
  while (true) {
    look_for_new_files();
    drain_all();
    retire_ended();
    if (active_.empty() || monotonic_ns() >= deadline_ns) break;
    usleep(kIdlePause_us);
  }
  for (const auto& process : active_) process->drain(ProcessDrain::Amount::kEverything);
}

std::vector<uint32_t> FolderDrainer::living_pids() const {
  std::vector<uint32_t> pids;
  for (const auto& process : active_) {
    if (process->process_lives()) pids.push_back(process->pid());
  }
  return pids;
}

std::vector<std::string> FolderDrainer::unwritten() const {
  std::vector<std::string> paths;
  for (const auto& process : active_) {
    if (!process->process_lives()) paths.push_back(process->ring_path());
  }
  return paths;
}

void FolderDrainer::add(const ProcessDrain& process, Totals& totals) {
  totals.processes += 1;
  totals.events += process.events();
  totals.lost_events += process.lost_events();
  totals.overwritten_events += process.overwritten_events();
  totals.shortages += process.shortages();
  totals.unwinds_compared += process.unwind_check().compared.load();
  totals.unwinds_different += process.unwind_check().different.load();
  totals.unwinds_by_libgcc += process.unwind_check().by_libgcc.load();
}

FolderDrainer::Totals FolderDrainer::totals() const {
  Totals totals = ended_;
  for (const auto& process : active_) add(*process, totals);
  return totals;
}

}  // namespace vramscope
