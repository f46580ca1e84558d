// The symbols and debug information of one file that was mapped in the job.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct Dwfl;
struct Dwfl_Module;

namespace vramscope {

struct SourceLine {
  std::string file;
  uint32_t line = 0;
};

// Belongs to one thread at a time; different files may be read by different threads.
class ModuleSymbols {
 public:
  // An unreadable file, one that is no ELF file and one with another build-id than `build_id` (raw
  // bytes; empty: not checked) have no symbols.
  ModuleSymbols(const std::string& path, std::string_view build_id);

  // Addresses are those in the ELF file, of an instruction (not of the one after a call).

  // Name of the function, demangled if it can be; empty if no symbol covers the address.
  std::string function(uint64_t file_address) const;

  // Empty file and line 0 if the debug information does not say.
  SourceLine line(uint64_t file_address) const;

 private:
  struct Function {
    uint64_t begin;
    uint64_t end;
    const char* name;  // in the ELF file's string table
    int rank;          // of several names for one address the lowest is taken
  };
  struct CloseDwfl {
    void operator()(Dwfl* dwfl) const;
  };

  void open(const std::string& path, std::string_view build_id);
  void read_functions();

  std::unique_ptr<Dwfl, CloseDwfl> dwfl_;
  Dwfl_Module* module_ = nullptr;    // nullptr: no symbols
  std::vector<Function> functions_;  // sorted by begin, one for each
};

}  // namespace vramscope
