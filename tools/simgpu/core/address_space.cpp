#include "tools/simgpu/core/address_space.h"

#include "tools/simgpu/core/units.h"

namespace simgpu {
namespace {

constexpr uint64_t alignment_for(uint64_t size_bytes) {
  return size_bytes >= kMiB ? 2 * kMiB : 512;
}

}  // namespace

AddressSpace::AddressSpace(uint64_t begin, uint64_t size_bytes)
    : begin_(begin), end_(begin + size_bytes), break_(begin) {}

std::optional<uint64_t> AddressSpace::allocate(uint64_t size_bytes) {
  if (size_bytes == 0 || size_bytes > end_ - begin_) return std::nullopt;
  const uint64_t alignment = alignment_for(size_bytes);
  if (auto address = allocate_from_hole(size_bytes, alignment)) return address;
  const uint64_t address = round_up(break_, alignment);
  if (address > end_ || size_bytes > end_ - address) return std::nullopt;
  if (address > break_) add_hole(break_, address - break_);
  break_ = address + size_bytes;
  return address;
}

std::optional<uint64_t> AddressSpace::allocate_from_hole(uint64_t size_bytes, uint64_t alignment) {
  for (auto it = holes_by_size_.lower_bound({size_bytes, 0}); it != holes_by_size_.end(); ++it) {
    const auto [hole_bytes, hole_begin] = *it;
    const uint64_t hole_end = hole_begin + hole_bytes;
    const uint64_t address = round_up(hole_begin, alignment);
    if (address + size_bytes > hole_end) continue;
    remove_hole(holes_.find(hole_begin));
    if (address > hole_begin) add_hole(hole_begin, address - hole_begin);
    if (hole_end > address + size_bytes) {
      add_hole(address + size_bytes, hole_end - address - size_bytes);
    }
    return address;
  }
  return std::nullopt;
}

void AddressSpace::release(uint64_t address, uint64_t size_bytes) {
  auto next = holes_.lower_bound(address);
  if (next != holes_.end() && next->first == address + size_bytes) {
    size_bytes += next->second;
    remove_hole(next);
  }
  auto previous = holes_.lower_bound(address);
  if (previous != holes_.begin()) {
    --previous;
    if (previous->first + previous->second == address) {
      address = previous->first;
      size_bytes += previous->second;
      remove_hole(previous);
    }
  }
  add_hole(address, size_bytes);
}

void AddressSpace::add_hole(uint64_t address, uint64_t size_bytes) {
  holes_.emplace(address, size_bytes);
  holes_by_size_.emplace(size_bytes, address);
}

void AddressSpace::remove_hole(std::map<uint64_t, uint64_t>::iterator hole) {
  holes_by_size_.erase({hole->second, hole->first});
  holes_.erase(hole);
}

}  // namespace simgpu
