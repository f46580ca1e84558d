// Names for native addresses: function, file and line, out of the files that the job had mapped.
//
//   SymbolizedFrame f = symbolize(modules, addresses)[i];   // one per address, in its order
//
// Works offline on the module files (and on separate debug files below /usr/lib/debug, found by
// build-id), never on the job. A file whose build-id differs from the recorded one is not the file
// that ran: its addresses become "libfoo.so+0x1234", and so does whatever has no symbol.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "recorder/module_ranges.h"

namespace vramscope {

// One kModule definition.
struct SymbolModule {
  uint64_t begin = 0;  // mapped range
  uint64_t end = 0;
  uint64_t bias = 0;     // address in memory - address in the ELF file
  std::string build_id;  // raw bytes; empty: the module had none, its file is taken as it is
  std::string path;
};

// One frame of a kNativeStack definition. The caller says which module it lies in: where a library
// was loaded over another one's addresses, only the order of definitions decides.
struct CodeAddress {
  uint64_t return_address = 0;
  uint32_t module = kNoModule;  // index into the modules
};

struct SymbolizedFrame {
  std::string function;  // demangled, or "libfoo.so+0x1234", or "0x7f0012345678" outside any module
  std::string file;      // as the debug information names it; empty if there is none
  uint32_t line = 0;     // of the call, not of the instruction after it; 0 if unknown
};

// Blocking; each address is looked up once however often it occurs, modules in parallel on at most
// `threads` threads (0: as many as the machine has processors). Never throws for bad files, only
// std::bad_alloc. Thread-safe. Out-of-range module indexes count as kNoModule.
std::vector<SymbolizedFrame> symbolize(std::span<const SymbolModule> modules,
                                       std::span<const CodeAddress> addresses,
                                       unsigned threads = 0);

}  // namespace vramscope
