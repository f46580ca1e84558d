// A hash map from addresses, without an allocation per entry: live blocks come and go with every
// event of a trace that may have ten million.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace vramscope {

// Open addressing with linear probing. Pointers to values are valid until the next insertion or
// removal.
template <typename T>
class AddressMap {
 public:
  AddressMap() : slots_(kInitialSlots) {}

  size_t size() const { return size_; }
  size_t memory_bytes() const { return slots_.size() * sizeof(Slot); }

  T* find(uint64_t address) {
    Slot& slot = slots_[slot_of(address)];
    return slot.used ? &slot.value : nullptr;
  }
  const T* find(uint64_t address) const { return const_cast<AddressMap*>(this)->find(address); }

  // Replaces what is there.
  void insert(uint64_t address, const T& value) {
    if ((size_ + 1) * 4 > slots_.size() * 3) grow();
    Slot& slot = slots_[slot_of(address)];
    size_ += !slot.used;
    slot = {address, value, true};
  }

  bool erase(uint64_t address) {
    size_t hole = slot_of(address);
    if (!slots_[hole].used) return false;
    --size_;
    // Entries behind the hole move up unless that would put them before their home slot: no
    // tombstones, so probes stay short.
    for (size_t next = after(hole); slots_[next].used; next = after(next)) {
      const size_t home = home_of(slots_[next].address);
      const bool stays =
          hole <= next ? (hole < home && home <= next) : (hole < home || home <= next);
      if (stays) continue;
      slots_[hole] = slots_[next];
      hole = next;
    }
    slots_[hole].used = false;
    return true;
  }

  // Calls visit(address, value) in no particular order.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Slot& slot : slots_)
      if (slot.used) visit(slot.address, slot.value);
  }

 private:
  static constexpr size_t kInitialSlots = 64;  // a power of two

  struct Slot {
    uint64_t address = 0;
    T value{};
    bool used = false;
  };

  // Addresses are multiples of 512: the multiplication brings their high bits down.
  size_t home_of(uint64_t address) const {
    return static_cast<size_t>((address * 0x9e3779b97f4a7c15) >> 20) & (slots_.size() - 1);
  }
  size_t after(size_t slot) const { return (slot + 1) & (slots_.size() - 1); }

  size_t slot_of(uint64_t address) const {
    size_t slot = home_of(address);
    while (slots_[slot].used && slots_[slot].address != address) slot = after(slot);
    return slot;
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.used) slots_[slot_of(slot.address)] = slot;
  }

  std::vector<Slot> slots_;
  size_t size_ = 0;
};

}  // namespace vramscope
