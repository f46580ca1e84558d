#include "preload/shim/settings.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { UNKNOWN = 0, ENABLED = 1, DISABLED = 2 };

bool is_disabled(void) {
  static int state = UNKNOWN;
  int known = __atomic_load_n(&state, __ATOMIC_RELAXED);
  if (known == UNKNOWN) {
    const char* value = getenv("VRAMSCOPE_DISABLE");
    bool disabled = value != NULL && *value != '\0' && strcmp(value, "0") != 0;
    known = disabled ? DISABLED : ENABLED;
    __atomic_store_n(&state, known, __ATOMIC_RELAXED);
  }
  return known == DISABLED;
}

void warn(const char* subject, const char* what, const char* hint) {
  const char* log = getenv("VRAMSCOPE_LOG");
  if (log != NULL && strcmp(log, "off") == 0) return;
  const char* texts[] = {"vramscope: ", subject, ": ", what, "; ", hint, "\n"};
  struct iovec parts[sizeof(texts) / sizeof(texts[0])];
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
    parts[i].iov_base = (void*)texts[i];
    parts[i].iov_len = strlen(texts[i]);
  }
  /* One call, so that lines of several processes do not mix. Where stderr is closed, so be it. */
  ssize_t ignored = writev(STDERR_FILENO, parts, sizeof(texts) / sizeof(texts[0]));
  (void)ignored;
}
