"""Reads session files, from what recorder/session_file.h and recorder/record.h say, and from nothing else of ours:
an oracle for the tool's own reader.

Sound files only: whatever is not as written there is a ValueError.
"""

import collections
import ctypes
import dataclasses
import struct
import sys

HEADER = struct.Struct("<8sII")
CHUNK = struct.Struct("<IBBHIIQQ")  # magic, type, codec, ring, raw, stored, begin_position, checksum
CHUNK_CHECKED_BYTES = 24
INDEX_ENTRY = struct.Struct("<QIB3x")
TRAILER = struct.Struct("<QQ8s")
EVENT = struct.Struct("<BbHiQQQQQQII")
DEFINITION = struct.Struct("<BBHI")
MODULE = struct.Struct("<QQQII")
CODE = struct.Struct("<iHHHHI")

CHUNK_MAGIC = 0x4B4E4843
INFO, RECORDS, INDEX = 1, 2, 3
STORED, ZSTD = 0, 1
THREAD, API, MODULE_KIND, NATIVE_STACK, PYTHON_CODE, PYTHON_STACK = 1, 2, 3, 4, 5, 6
FIRST_EVENT = BLOCK_ALLOC = 32
BLOCK_FREE, BLOCK_OOM = 33, 34
MARKS = range(35, 48)  # with pending frees and CUPTI's records: no calls of the program

Event = collections.namedtuple(
    "Event", "kind device api result ticks address size stream handle extra python_stack native_stack thread_id"
)
Frame = collections.namedtuple("Frame", "name filename line")


@dataclasses.dataclass
class Session:
    info: dict
    events: list  # by time
    apis: dict  # id -> name
    modules: list  # (begin, end, bias, build id, path)
    native_stacks: dict  # id -> [return address], innermost first
    codes: dict  # id -> (name, qualified name, filename, first line, minor version, line table)
    python_stacks: dict  # id -> [(code, instruction)], innermost first

    def python_frames(self, stack):
        return [self.frame(code, instruction) for code, instruction in self.python_stacks.get(stack, ())]

    def frame(self, code_id, instruction):
        name, _, filename, first_line, minor, line_table = self.codes[code_id]
        return Frame(name, filename, line_of(first_line, minor, line_table, instruction))

    def time_us(self, ticks):
        start, start_ns = int(self.info["start_ticks"]), int(self.info["start_unix_ns"])
        end, end_ns = int(self.info["end_ticks"]), int(self.info["end_unix_ns"])
        return (start_ns + (ticks - start) * (end_ns - start_ns) / (end - start)) / 1000


def line_of(first_line, minor, line_table, instruction):
    """By this very interpreter, which must be of the version that was recorded."""
    if sys.version_info[:2] != (3, minor):
        raise ValueError(f"recorded by Python 3.{minor}")
    if instruction == 0xFFFFFFFF:
        return first_line
    room = bytes(max(instruction + 2, 2))  # co_lines() ends with the code
    code = line_of.__code__.replace(co_code=room, co_firstlineno=first_line, co_linetable=line_table)
    for begin, end, line in code.co_lines():
        if begin <= instruction < end:
            return line
    raise ValueError(f"instruction {instruction} has no line")


def xxh64(data, seed):
    library = ctypes.CDLL("libxxhash.so.0")
    library.XXH64.restype = ctypes.c_uint64
    library.XXH64.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
    return library.XXH64(data, len(data), seed)


def decompress(data, raw_bytes):
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    raw = ctypes.create_string_buffer(raw_bytes)
    check(library.ZSTD_decompress(raw, raw_bytes, data, len(data)) == raw_bytes, "a chunk's encoding")
    return raw.raw


def check(holds, what):
    if not holds:
        raise ValueError(f"not as the format says: {what}")


def chunks_of(data):
    """[(type, ring, begin position, payload)] of a complete file; checks its index and its trailer."""
    magic, version, offset = HEADER.unpack_from(data)
    check(magic == b"VRAMSCOP" and version == 1, "the file's header")
    chunks, offsets = [], []
    while True:
        begin = offset
        header = data[offset : offset + CHUNK_CHECKED_BYTES]
        magic, kind, codec, ring, raw_bytes, stored_bytes, position, checksum = CHUNK.unpack_from(data, offset)
        check(magic == CHUNK_MAGIC, f"a chunk at {offset}")
        offset += CHUNK.size
        stored = data[offset : offset + stored_bytes]
        offset += stored_bytes
        check(xxh64(header, xxh64(stored, 0)) == checksum, f"the checksum of the chunk at {begin}")
        check(codec in (STORED, ZSTD), "a codec")
        payload = stored if codec == STORED else decompress(stored, raw_bytes)
        check(len(payload) == raw_bytes, "a chunk's length")
        if kind == INDEX:
            break
        chunks.append((kind, ring, position, payload))
        offsets.append(begin)
    index = list(INDEX_ENTRY.iter_unpack(payload))
    check([(entry[0], entry[2]) for entry in index] == list(zip(offsets, (chunk[0] for chunk in chunks))), "the index")
    check(TRAILER.unpack_from(data, offset) == (begin, len(chunks), b"VSEND001"), "the trailer")
    check(offset + TRAILER.size == len(data), "the end of the file")
    return chunks


def parse_info(payload):
    info = {}
    for line in payload.decode().splitlines():
        key, _, value = line.partition("=")
        info[key] = value.replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\")
    return info


def split(data, *lengths):
    parts = []
    for length in lengths:
        parts.append(data[:length])
        data = data[length:]
    return parts


class Records:
    """Takes the records of one ring after the other."""

    def __init__(self, session):
        self.session = session
        self.threads = {}  # ring -> thread id

    def take(self, ring, records):
        offset = 0
        while offset < len(records):
            if records[offset] >= FIRST_EVENT:
                event = EVENT.unpack_from(records, offset)
                self.session.events.append(Event(*event, self.threads[ring]))
                offset += EVENT.size
            else:
                kind, _, words, number = DEFINITION.unpack_from(records, offset)
                self.define(ring, kind, number, records[offset + DEFINITION.size : offset + 8 * words])
                check(words > 0, "a record's length")
                offset += 8 * words

    def define(self, ring, kind, number, payload):
        session = self.session
        if kind == THREAD:
            self.threads[ring] = number
        elif kind == API:
            session.apis[number] = payload.rstrip(b"\0").decode()
        elif kind == MODULE_KIND:
            begin, end, bias, id_bytes, path_bytes = MODULE.unpack_from(payload)
            build_id, path = split(payload[MODULE.size :], id_bytes, path_bytes)
            session.modules.append((begin, end, bias, build_id.hex(), path.decode()))
        elif kind == NATIVE_STACK:
            session.native_stacks[number] = [frame for (frame,) in struct.iter_unpack("<Q", payload)]
        elif kind == PYTHON_CODE:
            first_line, minor, *lengths = CODE.unpack_from(payload)
            name, qualified, filename, line_table = split(payload[CODE.size :], *lengths)
            texts = name.decode(), qualified.decode(), filename.decode()
            session.codes[number] = *texts, first_line, minor, line_table
        elif kind == PYTHON_STACK:
            session.python_stacks[number] = list(struct.iter_unpack("<II", payload))


def read_session(path):
    session = Session({}, [], {}, [], {}, {}, {})
    records = Records(session)
    ends = collections.Counter()  # ring -> position behind its last record
    for kind, ring, position, payload in chunks_of(path.read_bytes()):
        if kind == INFO:
            session.info |= parse_info(payload)
        elif kind == RECORDS and position >= ends[ring]:
            records.take(ring, payload)
            ends[ring] = position + len(payload)
    session.events.sort(key=lambda event: event.ticks)
    return session
