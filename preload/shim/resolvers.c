/* cuGetProcAddress and cuGetProcAddress_v2: the driver's answer decides, then its address is
 * replaced by our exported function of the same row. */
#include <errno.h>
#include <string.h>

#include "preload/shim/shim.h"

typedef int (*GetProcAddress)(const char* symbol, void** function, int version, uint64_t flags);
typedef int (*GetProcAddressV2)(const char* symbol, void** function, int version, uint64_t flags,
                                int* status);

/* Another interposer behind us may have answered with a function of its own: then the driver itself
 * says which entry point was meant. */
static int ask_driver_itself(const char* symbol, int version, uint64_t flags) {
  GetProcAddress resolve = (GetProcAddress)loaded_symbol("libcuda.so.1", "cuGetProcAddress");
  void* function = NULL;
  if (resolve == NULL || (void*)resolve == hook_entries[HOOK_cuGetProcAddress] ||
      resolve(symbol, &function, version, flags) != 0) {
    return -1;
  }
  return find_row_of_address(symbol, function);
}

static bool base_is_hooked(const char* symbol) {
  for (uint32_t row = 0; row < HOOK_ROW_COUNT; ++row) {
    if (strcmp(hook_rows[row].base, symbol) == 0) return true;
  }
  return false;
}

static void substitute(const char* symbol, void** function, int version, uint64_t flags) {
  if (symbol == NULL || function == NULL || *function == NULL || !base_is_hooked(symbol)) return;
  int saved_errno = errno;
  int row = find_row_of_address(symbol, *function);
  if (row < 0) row = ask_driver_itself(symbol, version, flags);
  if (row >= 0 && *function != hook_entries[row]) {
    set_real_function((uint32_t)row, *function);
    *function = hook_entries[row];
  }
  errno = saved_errno;
}

static int resolver_cuGetProcAddress(const char* symbol, void** function, int version,
                                     uint64_t flags) {
  GetProcAddress real = (GetProcAddress)real_function(HOOK_cuGetProcAddress);
  int result = real(symbol, function, version, flags);
  if (result == 0) substitute(symbol, function, version, flags);
  return result;
}

static int resolver_cuGetProcAddress_v2(const char* symbol, void** function, int version,
                                        uint64_t flags, int* status) {
  GetProcAddressV2 real = (GetProcAddressV2)real_function(HOOK_cuGetProcAddress_v2);
  int result = real(symbol, function, version, flags, status);
  if (result == 0) substitute(symbol, function, version, flags);
  return result;
}

void* resolver_wrapper(uint32_t row) {
  return row == HOOK_cuGetProcAddress ? (void*)resolver_cuGetProcAddress
                                      : (void*)resolver_cuGetProcAddress_v2;
}
