// The records that a hooked process writes: into its rings while it runs, and unchanged into the
// session file.
//
// One stream of records per thread. Every record starts with its kind, is a multiple of 8 bytes
// long, 8-byte aligned and little-endian. Two shapes:
//
//   Event (kind >= kFirstEvent): exactly one cache line, 64 bytes.
//
//     0        1        2        4          8        16        24      32       40       48      56
//     60       64 | kind   | device | api    | result   | ticks  | address | size  | stream |
//     handle | extra | python  | native |
//
//   Definition (kind < kFirstEvent): says what an id that later records of the process use stands
//   for.
//
//     0        1        2        4          8
//     | kind   | flags  | words  | id       | payload (words - 1) * 8 bytes, see the structs below
//
// An id is defined in the stream of the thread that first used it, before its first use there. Ids
// are unique in the process; two threads may give one stack two ids. Id 0 means "none".
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope {

enum class RecordKind : uint8_t {
  kPadding = 0,  // fills the end of a ring; words counts, nothing else
  kThread = 1,   // id: thread id (gettid); payload: ThreadDefinition
  kApi = 2,      // id: Event::api; payload: the entry point's name, zero-padded
  kModule = 3,   // id: counter; payload: ModuleDefinition and path. Each thread defines those that
                 // its stacks lie in: of two whose ranges overlap, the later one holds for the
                 // stacks that follow in the stream
  kNativeStack = 4,  // id: Event::native_stack; payload: one uint64_t per frame, innermost first:
                     // the return address; where a signal interrupted a frame, its instruction + 1
  kPythonCode = 5,   // id: PythonFrame::code; payload: PythonCodeDefinition and strings
  kPythonStack = 6,  // id: Event::python_stack; payload: one PythonFrame per frame, innermost first
  kDropped = 7,      // payload: DroppedDefinition: events that found the ring full
  kWindow = 8,  // id: a ring; payload: uint64_t, a position in it: the events from there on are
                // of the thread in whose stream this stands (ring_file.h: flight recorder)
  kText = 9,    // id: what marks refer to; payload: UTF-8 text, zero-padded

  // Blocks: what a framework's caching allocator hands out inside its segments.
  // size: of the block. extra: bytes reserved on the device after the event, handle of the others:
  // bytes allocated after it, as the framework counts them.
  kBlockAlloc = 32,  // handle: the request in bytes, 0 if unknown; stream: the thread's current one
  kBlockFree = 33,   // stream 0: it is that of the allocation
  kBlockOom = 34,    // size: the request that failed; address: free bytes, as of refused calls
  // size: bytes of the device's blocks that were given back and that a stream still uses, after the
  // block event that follows. Recorded where that changed; no stacks, no api.
  kBlockPending = 35,

  // The audit by CUPTI (VRAMSCOPE_CUPTI=1): its account of memory, beside the hooks'. Times are
  // those of the delivery, which comes later. No stacks, no api.
  kCuptiStart = 36,    // result 0: from here on CUPTI listens; else it could not be started
  kCuptiAlloc = 37,    // address, size, extra: CUpti_ActivityMemoryKind
  kCuptiRelease = 38,  // address, size, extra
  kCuptiLost = 39,     // size: operations that found no room in CUPTI's buffers

  // Marks: what the program says about itself (NVTX). handle: kText of the message, extra: kText of
  // the domain, 0: none. They have no stacks and no api.
  kRangePush = 40,   // opens a range of the thread
  kRangePop = 41,    // closes the range of the domain that the thread opened last
  kRangeStart = 42,  // address: number of a range that any thread may close
  kRangeEnd = 43,    // address
  kMark = 44,        // a moment
  // PyTorch entered a record_function scope, an optimizer's step() say: which one is what the
  // Python stack tells.
  kScope = 45,

  // The driver's calls. address, size, stream, handle: as named for each; 0 where a call has none.
  // Failed calls are recorded too (result != 0) and never counted. extra of calls that were refused
  // for lack of memory: the device's free bytes just after + 1, 0 if not known.
  kDeviceAlloc = 48,   // address, size (pitch * height for cuMemAllocPitch)
  kDeviceFree = 49,    // address (of linear, managed and stream-ordered memory alike)
  kManagedAlloc = 50,  // address, size
  kAsyncAlloc = 51,    // address, size, stream, handle: pool (0: the device's current pool)
  kAsyncFree = 52,     // address, stream
  kPoolCreate = 53,    // handle: pool
  kPoolDestroy = 54,   // handle: pool
  kPoolControl =
      55,  // trim (size: bytes to keep), attributes, set/get, export, import; handle: pool
  kPhysicalCreate = 56,   // handle, size; device from the allocation's properties
  kPhysicalRelease = 57,  // handle
  kPhysicalRetain = 58,   // handle (result), address
  kMap = 59,              // address, size, handle
  kUnmap = 60,            // address, size
  kAddressReserve = 61,   // address (result), size
  kAddressFree = 62,      // address, size
  kSetAccess = 63,        // address, size
  kShare = 64,            // address, or handle: exported to other processes
  kHostAlloc = 65,        // address, size; device -1
  kHostFree = 66,         // address
  kHostRegister = 67,     // address, size
  kHostUnregister = 68,   // address
  kArrayCreate = 69,      // handle: array; size: bytes if the format is known
  kArrayDestroy = 70,     // handle
  kContextCreate = 71,    // handle: context (retain of a primary context too); extra: the device's
                          // bytes in all, 0 if not known
  kContextDestroy = 72,   // handle (release and reset of a primary context too)
  kModuleLoad = 73,       // handle: module or library
  kModuleUnload = 74,     // handle
  kGraphMemory = 75,      // memory nodes, trim; handle: graph
  kMulticast = 76,        // handle, size
  kImport = 77,       // memory of another process or interface: handle, or address in this process
                      // (with a handle: that of the import or pool it is a part of); size if told
  kImportClose = 78,  // address or handle of an import, given back by a call of its own
};

constexpr RecordKind kFirstEvent = RecordKind::kBlockAlloc;

constexpr bool is_event(RecordKind kind) { return kind >= kFirstEvent; }

constexpr bool is_mark(RecordKind kind) {
  return kind >= RecordKind::kRangePush && kind <= RecordKind::kScope;
}

constexpr bool is_cupti(RecordKind kind) {
  return kind >= RecordKind::kCuptiStart && kind <= RecordKind::kCuptiLost;
}

constexpr int8_t kNoDevice = -1;
constexpr int32_t kOutOfMemoryResult = 2;  // CUDA_ERROR_OUT_OF_MEMORY

struct Event {
  RecordKind kind;
  // Ordinal as the process sees it. kNoDevice: host memory, reserved addresses; and calls that
  // refer to something that exists (frees, maps, access, pools by handle, destroys): its device is
  // known from the event that made it, found by address or handle.
  int8_t device;
  uint16_t api;    // which entry point was called: defined by a kApi record
  int32_t result;  // CUresult; 0 for blocks
  // Taken before the real call for what frees, after it for what allocates: then free(p) < alloc(p)
  // across threads.
  uint64_t ticks;
  uint64_t address;
  uint64_t size;  // bytes
  uint64_t stream;
  uint64_t handle;
  uint64_t extra;
  uint32_t python_stack;
  uint32_t native_stack;
};
static_assert(sizeof(Event) == 64);
static_assert(offsetof(Event, ticks) == 8 && offsetof(Event, python_stack) == 56);

struct DefinitionHeader {
  RecordKind kind;
  uint8_t flags;   // 0, or kTruncatedDefinition
  uint16_t words;  // length of the whole record in 8-byte words, this header included
  uint32_t id;
};
static_assert(sizeof(DefinitionHeader) == 8);

// The payload did not fit in a record: its tail is cut (long strings, deepest frames).
constexpr uint8_t kTruncatedDefinition = 1;
constexpr size_t kMaxDefinitionBytes = 0xffff * 8;

struct ThreadDefinition {
  char name[16];  // as pthread_setname_np set it, zero-padded
};
static_assert(sizeof(ThreadDefinition) == 16);

// Followed by `build_id_bytes` bytes, then `path_bytes` bytes of the path, zero-padded to 8.
struct ModuleDefinition {
  uint64_t begin;  // mapped range of the code
  uint64_t end;
  uint64_t bias;  // address in memory - address in the ELF file
  uint32_t build_id_bytes;
  uint32_t path_bytes;
};
static_assert(sizeof(ModuleDefinition) == 32);

struct PythonFrame {
  uint32_t code;  // id of a kPythonCode record
  // Byte offset of the current instruction in the code object; UINT32_MAX before the first one.
  uint32_t instruction;
};
static_assert(sizeof(PythonFrame) == 8);

// Followed by the bytes of name, qualified name, filename (UTF-8) and line table, in this order,
// zero-padded to 8.
struct PythonCodeDefinition {
  int32_t first_line;
  uint16_t python_minor;  // 3.x: decides the format of the line table (co_lnotab, co_linetable)
  uint16_t name_bytes;
  uint16_t qualified_name_bytes;
  uint16_t filename_bytes;
  uint32_t line_table_bytes;
};
static_assert(sizeof(PythonCodeDefinition) == 16);

struct DroppedDefinition {
  uint64_t events;
  uint64_t first_ticks;
  uint64_t last_ticks;
};
static_assert(sizeof(DroppedDefinition) == 24);

}  // namespace vramscope
