#include "preload/frameworks/pytorch_requests.h"

#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <optional>
#include <vector>

namespace vramscope {
namespace {

// c10::CachingAllocator::Stat and StatArray: in total, of the small pool, of the large pool.
struct Stat {
  int64_t current;
  int64_t peak;
  int64_t allocated;  // sum of all increases; PyTorch can reset it, together with all the others
  int64_t freed;
};
static_assert(sizeof(Stat) == 32);
using StatArray = std::array<Stat, 3>;

constexpr size_t kWord = sizeof(uint64_t);
constexpr size_t kStatWords = sizeof(StatArray) / kWord;
// Order of DeviceStats. Since 2.11 or so a hash table lies between reserved_bytes and active_bytes.
constexpr size_t kAllocatedBytes = 4 * kStatWords;  // after allocation, segment, active, inactive
constexpr size_t kReservedBytes = 5 * kStatWords;
constexpr size_t kActiveBytes = 6 * kStatWords;  // or a little later
constexpr size_t kLargestGap = 32;
constexpr size_t kFromActiveToRequested = 2 * kStatWords;  // over inactive_split_bytes

constexpr size_t kSearchedWords = 4096;  // of each of the two objects
constexpr size_t kMostDevices = 128;

struct DeviceRequests {
  enum class State : uint8_t { kNew, kFollowed, kUnknown } state = State::kNew;
  const Stat* allocations = nullptr;
  const Stat* requested = nullptr;
  const Stat* allocated_bytes = nullptr;
  const Stat* active_bytes = nullptr;
  int64_t last_pending = 0;
  int64_t last_allocations = 0;
  int64_t last_requested = 0;
};

std::atomic<const void* const*> allocator_variable = nullptr;
std::array<DeviceRequests, kMostDevices> devices;

using Words = std::vector<uint64_t>;

// Copies what is mapped there; never faults.
Words read_words(uint64_t address, size_t count) {
  Words words(count);
  const iovec local = {words.data(), count * kWord};
  const iovec remote = {reinterpret_cast<void*>(address), count * kWord};
  const ssize_t bytes = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  words.resize(bytes > 0 ? static_cast<size_t>(bytes) / kWord : 0);
  return words;
}

bool is_first(const Words& words, size_t at, uint64_t amount) {
  return at + 3 < words.size() && words[at] == amount && words[at + 1] == amount &&
         words[at + 2] == amount && words[at + 3] == 0;
}

// The offset of DeviceStats::requested_bytes if the row begins at `row` and `block` is its first.
std::optional<size_t> requested_in(const Words& words, size_t row, const AllocatedBlock& block) {
  if (!is_first(words, row, 1) || !is_first(words, row + kAllocatedBytes, block.block_bytes) ||
      !is_first(words, row + kReservedBytes, block.total_reserved))
    return std::nullopt;
  for (size_t gap = 0; gap <= kLargestGap; ++gap) {
    const size_t active = row + kActiveBytes + gap;
    const size_t requested = active + kFromActiveToRequested;
    if (!is_first(words, active, block.block_bytes) || requested >= words.size()) continue;
    const uint64_t request = words[requested];
    if (request <= block.block_bytes && is_first(words, requested, request)) return requested;
  }
  return std::nullopt;
}

bool find_statistics(uint64_t object, const AllocatedBlock& block, DeviceRequests& device) {
  const Words words = read_words(object, kSearchedWords);
  for (size_t row = 0; row < words.size(); ++row) {
    const auto requested = requested_in(words, row, block);
    if (!requested) continue;
    device.allocations = reinterpret_cast<const Stat*>(object + row * kWord);
    device.requested = reinterpret_cast<const Stat*>(object + *requested * kWord);
    device.allocated_bytes =
        reinterpret_cast<const Stat*>(object + (row + kAllocatedBytes) * kWord);
    device.active_bytes =
        reinterpret_cast<const Stat*>(object + (*requested - kFromActiveToRequested) * kWord);
    return true;
  }
  return false;
}

// Tries every three words that look like a std::vector with an element for the device.
[[gnu::noinline, gnu::cold]] bool find_device(const AllocatedBlock& block, DeviceRequests& device) {
  const void* const* variable = allocator_variable.load(std::memory_order_relaxed);
  if (variable == nullptr) return false;
  const auto allocator = reinterpret_cast<uint64_t>(__atomic_load_n(variable, __ATOMIC_ACQUIRE));
  const Words words = read_words(allocator, kSearchedWords);
  for (size_t i = 0; i + 2 < words.size(); ++i) {
    const uint64_t begin = words[i], end = words[i + 1], capacity = words[i + 2];
    if (begin == 0 || begin % kWord != 0 || end <= begin || capacity < end) continue;
    const uint64_t count = (end - begin) / kWord;
    if ((end - begin) % kWord != 0 || count > kMostDevices) continue;
    if (count <= static_cast<uint64_t>(block.device)) continue;
    const Words element = read_words(begin + static_cast<uint64_t>(block.device) * kWord, 1);
    if (element.empty() || element[0] == 0 || element[0] % kWord != 0) continue;
    if (find_statistics(element[0], block, device)) return true;
  }
  return false;
}

}  // namespace

void follow_requests_of(const void* const* allocator) {
  allocator_variable.store(allocator, std::memory_order_relaxed);
}

[[gnu::hot]] uint64_t requested_bytes(const AllocatedBlock& block) {
  if (block.device < 0 || static_cast<size_t>(block.device) >= kMostDevices) return 0;
  DeviceRequests& device = devices[static_cast<size_t>(block.device)];
  if (device.state == DeviceRequests::State::kNew) {
    device.state = find_device(block, device) ? DeviceRequests::State::kFollowed
                                              : DeviceRequests::State::kUnknown;
  }
  if (device.state == DeviceRequests::State::kUnknown) return 0;
  const int64_t allocations = device.allocations->allocated;
  const int64_t requested = device.requested->allocated;
  // A reset of the statistics shows in the count: then this block is the first one after it.
  const bool was_reset = allocations == 1 && device.last_allocations != 0;
  const bool is_next = allocations == device.last_allocations + 1;
  const int64_t request = was_reset ? requested : requested - device.last_requested;
  device.last_allocations = allocations;
  device.last_requested = requested;
  const bool fits = request >= 0 && static_cast<uint64_t>(request) <= block.block_bytes;
  return (was_reset || is_next) && fits ? static_cast<uint64_t>(request) : 0;
}

[[gnu::hot]] std::optional<uint64_t> changed_pending_bytes(int index) {
  if (index < 0 || static_cast<size_t>(index) >= kMostDevices) return std::nullopt;
  DeviceRequests& device = devices[static_cast<size_t>(index)];
  if (device.state != DeviceRequests::State::kFollowed) return std::nullopt;
  const int64_t pending = device.active_bytes->current - device.allocated_bytes->current;
  if (pending == device.last_pending || pending < 0) [[likely]]
    return std::nullopt;
  device.last_pending = pending;
  return static_cast<uint64_t>(pending);
}

}  // namespace vramscope
