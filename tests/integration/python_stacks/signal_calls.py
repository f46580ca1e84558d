"""libsignal_calls.so, which calls C functions inside of signal handlers. It keeps the GIL."""

import ctypes
import signal

SIGUSR2 = int(signal.SIGUSR2)


def load(path, result_type=ctypes.c_long):
    library = ctypes.PyDLL(path)
    function, word = ctypes.c_void_p, ctypes.c_long
    library.call_in_handler.restype = result_type
    library.call_in_handler.argtypes = [ctypes.c_int, ctypes.c_int, function, word, word]
    library.call_at_instruction.restype = word
    library.call_at_instruction.argtypes = [function, ctypes.c_void_p, word, word, word, function, word, word]
    library.result_of_call.restype = word
    return library
