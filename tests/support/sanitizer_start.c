/* Preloaded behind a sanitizer's runtime into programs that know nothing of it: being instrumented,
 * it starts the sanitizer. ThreadSanitizer would not start by itself, and its setjmp would jump to
 * address 0. */
int vramscope_sanitizer_is_started;
