#include "tools/simgpu/core/page_backing.h"

#include "tools/simgpu/core/host_pages.h"

namespace simgpu {

bool PageBacking::move_into_file(uint64_t address, uint64_t size_bytes, int descriptor,
                                 uint64_t offset, bool accessible) {
  const std::lock_guard changing(mutex_);
  for (const auto& [begin, end] : in_file_.outside(address, size_bytes)) {
    const uint64_t target = offset + (begin - address);
    if (!host_pages::move_into_file(begin, end - begin, descriptor, target, accessible)) {
      return false;
    }
    in_file_.add(begin, end - begin);
  }
  return true;
}

bool PageBacking::map_file(uint64_t address, uint64_t size_bytes, int descriptor, uint64_t offset,
                           bool accessible) {
  const std::lock_guard changing(mutex_);
  if (!host_pages::map_file(address, size_bytes, descriptor, offset, accessible)) return false;
  in_file_.add(address, size_bytes);
  return true;
}

void PageBacking::make_private(uint64_t address, uint64_t size_bytes, bool accessible) {
  const std::lock_guard changing(mutex_);
  host_pages::make_private(address, size_bytes, accessible);
  in_file_.remove(address, size_bytes);
}

void PageBacking::discard(uint64_t address, uint64_t size_bytes) const {
  for (const auto& [begin, end] : in_file_.outside(address, size_bytes)) {
    host_pages::discard(begin, end - begin);
  }
  for (const auto& [begin, end] : in_file_.inside(address, size_bytes)) {
    host_pages::discard_in_file(begin, end - begin);
  }
}

}  // namespace simgpu
