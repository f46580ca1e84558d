// The session file's twins, and what the reader makes of damaged files.
#include <fcntl.h>
#include <sys/resource.h>

#include <cstring>

#include "recorder/blocked_signal.h"
#include "recorder/log.h"
#include "recorder/process_drain.h"
#include "recorder/ring_reader.h"
#include "recorder/ring_writer.h"
#include "recorder/session_reader.h"
#include "recorder/session_stream.h"
#include "recorder/session_writer.h"
#include "tests/unit/recorder_support.h"

namespace vramscope {
namespace {

template <typename T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

std::string definition(RecordKind kind, uint32_t id, std::string payload) {
  payload.resize((payload.size() + 7) / 8 * 8, '\0');
  const DefinitionHeader header{kind, 0, static_cast<uint16_t>(payload.size() / 8 + 1), id};
  return bytes_of(header) + payload;
}

std::span<const std::byte> as_records(const std::string& bytes) {
  return std::as_bytes(std::span(bytes));
}

std::string message_of_reading(const std::string& path) {
  try {
    read_session(path);
  } catch (const FileError& error) {
    return error.what();
  }
  return "no error";
}

const InfoMap kInfo = {{"pid", "321"},        {"rank", "2"},           {"host", "node"},
                       {"command", "a b"},    {"start_ticks", "1000"}, {"start_unix_ns", "5000"},
                       {"end_ticks", "2000"}, {"end_unix_ns", "8000"}};

// Two rings: 300 even events, then 300 odd ones; one definition of every kind.
std::string all_definitions() {
  const uint64_t native[] = {0x10, 0x1001};
  const PythonFrame python[] = {{7, 4}, {7, 8}};
  const ModuleDefinition module{0x1000, 0x2000, 0x800, 3, 10};
  const PythonCodeDefinition code{12, 11, 1, 3, 4, 2};
  return definition(RecordKind::kThread, 55, "worker") +
         definition(RecordKind::kApi, 1, "cuMemFree_v2") +
         definition(RecordKind::kModule, 1, bytes_of(module) + "\x01\xab\xff" + "/lib/x.so\n") +
         definition(RecordKind::kNativeStack, 5, bytes_of(native)) +
         definition(RecordKind::kPythonCode, 7,
                    bytes_of(code) + "f" + "C.f" + "t.py" + "\x80\x01") +
         definition(RecordKind::kPythonStack, 6, bytes_of(python)) +
         definition(RecordKind::kDropped, 0, bytes_of(DroppedDefinition{4, 1, 2})) +
         definition(RecordKind::kPadding, 0, "12345678");
}

std::string events(uint64_t first, uint64_t count) {
  std::string bytes;
  for (uint64_t i = 0; i < count; ++i) bytes += bytes_of(numbered_event(first + 2 * i));
  return bytes;
}

// `each`: events of each of the two threads.
void write_session(const std::string& path, bool finish = true, uint32_t each = 300) {
  const auto writer = SessionWriter::create(path);
  ASSERT_NE(writer, nullptr);
  ASSERT_TRUE(writer->write_info(kInfo));
  const std::string even = all_definitions() + events(0, each);
  ASSERT_TRUE(writer->write_records(0, 0, as_records(even), each));
  const std::string odd = definition(RecordKind::kThread, 56, "other") + events(1, each);
  ASSERT_TRUE(writer->write_records(1, 0, as_records(odd), each));
  ASSERT_TRUE(writer->write_info({{"lost_events", "9"}, {"finished", "1"}}));
  if (finish) {
    ASSERT_TRUE(writer->finish());
  }
  EXPECT_EQ(writer->events(), 2 * each);
}

TEST(Session, AStreamBeginsAgainWithTheSameEvents) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.vrams");
  write_session(path, false);  // a problem, which must not be said twice
  SessionStream stream(path);
  for (int walk = 0; walk < 3; ++walk) {
    if (walk > 0) stream.rewind();
    for (uint64_t i = 0; i < 600; ++i) {
      const SessionEvent* next = stream.next();
      ASSERT_NE(next, nullptr);
      ASSERT_TRUE(same_event(next->event, numbered_event(i)));
      ASSERT_EQ(next->thread, i % 2);
    }
    EXPECT_EQ(stream.next(), nullptr);
    EXPECT_EQ(stream.session().threads.size(), 2u);
    EXPECT_EQ(stream.session().modules.size(), 1u);
    EXPECT_EQ(stream.session().problems.size(), 1u);
    EXPECT_EQ(stream.session().lost_events, 9u);
  }
}

TEST(Session, EveryKindOfRecordIsReadAsItWasWritten) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.vrams");
  write_session(path);
  const Session session = read_session(path);
  EXPECT_TRUE(session.complete);
  EXPECT_TRUE(session.finished);
  EXPECT_TRUE(session.problems.empty());
  EXPECT_EQ(session.pid, 321u);
  EXPECT_EQ(session.rank, 2u);
  EXPECT_EQ(session.host, "node");
  EXPECT_EQ(session.command, "a b");
  EXPECT_EQ(session.lost_events, 9u);
  EXPECT_EQ(session.unix_ns(1000), 5000);
  EXPECT_EQ(session.unix_ns(1500), 6500);
  EXPECT_EQ(session.unix_ns(3000), 11000);

  ASSERT_EQ(session.threads.size(), 2u);
  EXPECT_EQ(session.threads[0].thread_id, 55u);
  EXPECT_EQ(session.threads[0].name, "worker");
  EXPECT_EQ(session.threads[1].name, "other");
  EXPECT_EQ(session.api_names.at(1), "cuMemFree_v2");
  ASSERT_EQ(session.modules.size(), 1u);
  EXPECT_EQ(session.modules[0].begin, 0x1000u);
  EXPECT_EQ(session.modules[0].end, 0x2000u);
  EXPECT_EQ(session.modules[0].bias, 0x800u);
  EXPECT_EQ(session.modules[0].build_id, "01abff");
  EXPECT_EQ(session.modules[0].path, "/lib/x.so\n");
  const auto native = session.native_stacks.find(5);
  ASSERT_EQ(native.size(), 2u);
  EXPECT_EQ(native[0], (NativeFrame{0x10, kNoModule}));
  EXPECT_EQ(native[1], (NativeFrame{0x1001, 0}));
  const auto python = session.python_stacks.find(6);
  ASSERT_EQ(python.size(), 2u);
  EXPECT_EQ(python[1].code, 7u);
  EXPECT_EQ(python[1].instruction, 8u);
  EXPECT_TRUE(session.python_stacks.find(99).empty());
  const PythonCode& code = session.python_codes.at(7);
  EXPECT_EQ(code.first_line, 12);
  EXPECT_EQ(code.python_minor, 11);
  EXPECT_EQ(code.name, "f");
  EXPECT_EQ(code.qualified_name, "C.f");
  EXPECT_EQ(code.filename, "t.py");
  EXPECT_EQ(code.line_table, "\x80\x01");

  ASSERT_EQ(session.events.size(), 600u);
  for (uint64_t i = 0; i < 600; ++i) {
    ASSERT_TRUE(same_event(session.events[i].event, numbered_event(i)));
    ASSERT_EQ(session.events[i].thread, i % 2);
  }
}

TEST(Session, ChunksWrittenAfterTheEndReplaceTheIndex) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.vrams");
  const auto writer = SessionWriter::create(path);
  ASSERT_TRUE(writer->write_info(kInfo));
  ASSERT_TRUE(writer->finish());
  ASSERT_TRUE(writer->finish());
  EXPECT_EQ(read_session(path).events.size(), 0u);
  const std::string late = events(0, 1);
  ASSERT_TRUE(writer->write_records(0, 0, as_records(late), 1));
  ASSERT_TRUE(writer->finish());
  const Session session = read_session(path);
  EXPECT_TRUE(session.complete);
  EXPECT_EQ(session.events.size(), 1u);
}

TEST(Session, RepeatedPositionsAreSkippedAndMissingOnesReported) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.vrams");
  const auto writer = SessionWriter::create(path);
  writer->write_info(kInfo);
  writer->write_records(0, 0, as_records(events(0, 4)), 4);     // 0 2 4 6
  writer->write_records(0, 128, as_records(events(4, 4)), 4);   // 4 6 8 10
  writer->write_records(0, 384, as_records(events(12, 1)), 1);  // 12
  writer->finish();
  const Session session = read_session(path);
  ASSERT_EQ(session.events.size(), 7u);
  for (uint64_t i = 0; i < 7; ++i) {
    EXPECT_TRUE(same_event(session.events[i].event, numbered_event(2 * i)));
  }
  EXPECT_TRUE(session.complete);

  writer->write_records(0, 512, as_records(events(14, 1)), 1);
  writer->finish();
  const Session gap = read_session(path);
  EXPECT_EQ(gap.events.size(), 8u);
  EXPECT_FALSE(gap.complete);
  ASSERT_EQ(gap.problems.size(), 1u);
  EXPECT_EQ(gap.problems[0], path + ": events of ring 0 are missing before position 512");
}

TEST(Session, ErrorsSayWhatTheFileIs) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.vrams");
  EXPECT_EQ(message_of_reading(path), path + ": cannot be opened: No such file or directory");
  EXPECT_EQ(message_of_reading(folder.path()), folder.path() + ": is not a file");
  write_file(path, "");
  EXPECT_EQ(message_of_reading(path),
            path + ": is empty; the process was ended before it recorded anything");
  write_file(path, "#!/bin/sh");
  EXPECT_EQ(message_of_reading(path), path + ": is not a session file of vramscope (offset 0)");
  write_session(folder.file("good.vrams"));
  const std::string good = read_file(folder.file("good.vrams"));
  write_file(path, good.substr(0, 10));
  EXPECT_EQ(message_of_reading(path),
            path + ": ends within its header (offset 10); the file was cut");
  std::string newer = good;
  newer[8] = 2;
  write_file(path, newer);
  EXPECT_EQ(message_of_reading(path),
            path + ": is a session file of version 2 (offset 8); this vramscope reads version 1");
  write_file(path, good.substr(0, 16));
  EXPECT_EQ(message_of_reading(path),
            path +
                ": ends without its index: recording was interrupted (offset 16); read up to "
                "there; nothing could be read");
}

TEST(Session, FileWithoutEndIsReadAndMarked) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.vrams");
  write_session(path, false);
  const Session session = read_session(path);
  EXPECT_EQ(session.events.size(), 600u);
  EXPECT_FALSE(session.complete);
  ASSERT_EQ(session.problems.size(), 1u);
  EXPECT_EQ(session.problems[0],
            path + ": ends without its index: recording was interrupted (offset " +
                std::to_string(std::filesystem::file_size(path)) + "); read up to there");
}

TEST(Session, CutAnywhereGivesAnErrorOrAPrefix) {
  const TemporaryFolder folder;
  write_session(folder.file("good.vrams"), true, 12);
  const std::string good = read_file(folder.file("good.vrams"));
  const std::string path = folder.file("x.vrams");
  size_t errors = 0;
  for (size_t length = 0; length < good.size(); ++length) {
    write_file(path, good.substr(0, length));
    try {
      const Session session = read_session(path);
      EXPECT_FALSE(session.complete) << length;
      EXPECT_EQ(session.problems.size(), 1u) << length;
      EXPECT_TRUE(session.events.empty() || session.events.size() == 12 ||
                  session.events.size() == 24);
    } catch (const FileError&) {
      ++errors;
    }
  }
  EXPECT_GE(errors, 16u + sizeof(ChunkHeader));
  EXPECT_LT(errors, good.size() / 2);
}

// A reader keeps a chunk of each ring in memory.
TEST(Session, MoreRingsThanThereCanBeAreDamage) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.vrams");
  const auto writer = SessionWriter::create(path);
  ASSERT_TRUE(writer->write_info(kInfo));
  ASSERT_TRUE(writer->write_records(kMaxRings - 1, 0, as_records(events(0, 3)), 3));
  ASSERT_TRUE(writer->write_records(kMaxRings, 0, as_records(events(1, 3)), 3));
  ASSERT_TRUE(writer->finish());
  const Session session = read_session(path);
  EXPECT_EQ(session.events.size(), 3u);
  ASSERT_EQ(session.problems.size(), 1u);
  EXPECT_NE(session.problems[0].find("is damaged: no chunk begins here"), std::string::npos);
}

TEST(Session, AChunkThatAsksForTooMuchMemoryIsDamage) {
  const TemporaryFolder folder;
  constexpr uint64_t kMost = (1 << 20) / sizeof(Event);
  const auto written = [&](const char* name, uint64_t count) {
    const auto writer = SessionWriter::create(folder.file(name));
    EXPECT_TRUE(writer->write_info(kInfo));
    EXPECT_TRUE(
        writer->write_records(0, 0, as_records(events(0, count)), static_cast<uint32_t>(count)));
    EXPECT_TRUE(writer->finish());
    return read_session(folder.file(name));
  };
  const Session largest = written("largest.vrams", kMost);
  EXPECT_TRUE(largest.complete);
  EXPECT_EQ(largest.events.size(), kMost);
  const Session larger = written("larger.vrams", kMost + 1);
  EXPECT_FALSE(larger.complete);
  EXPECT_TRUE(larger.events.empty());
}

TEST(Session, AnIndexIsAsLongAsTheFileHasChunks) {
  const TemporaryFolder folder;
  constexpr uint32_t kChunks = kMaxChunkRawBytes / sizeof(ChunkIndexEntry) + 100;
  const std::string path = folder.file("x.vrams");
  const auto writer = SessionWriter::create(path);
  for (uint32_t i = 0; i < kChunks; ++i) {
    ASSERT_TRUE(writer->write_info({{"lost_events", std::to_string(i)}}));
  }
  ASSERT_TRUE(writer->finish());
  const Session session = read_session(path);
  EXPECT_TRUE(session.complete);
  EXPECT_TRUE(session.problems.empty());
  EXPECT_EQ(session.lost_events, kChunks - 1);
}

TEST(Session, AnyByteChangedIsNoticed) {
  const TemporaryFolder folder;
  write_session(folder.file("good.vrams"), true, 12);
  const std::string good = read_file(folder.file("good.vrams"));
  const std::string path = folder.file("x.vrams");
  for (size_t i = 0; i < good.size(); ++i) {
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      std::string damaged = good;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      write_file(path, damaged);
      try {
        EXPECT_FALSE(read_session(path).complete) << "byte " << i;
      } catch (const FileError& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      }
    }
  }
}

TEST(Session, ValidChunksWithAnyRecordsAreSurvived) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.vrams");
  const std::string records = all_definitions() + events(0, 3);
  for (size_t i = 0; i < records.size(); ++i) {
    for (const char flip : {'\x01', '\x40', '\xff'}) {
      std::string damaged = records;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      const auto writer = SessionWriter::create(path);
      writer->write_info(kInfo);
      writer->write_records(0, 0, as_records(damaged), 3);
      writer->finish();
      const Session session = read_session(path);
      EXPECT_LE(session.events.size(), 60u);
      std::filesystem::remove(path);
    }
  }
}

// A drainer that was killed after it wrote a chunk and before it released the space: the records
// are in both files.
TEST(Session, RingFileBesideItAddsOnlyWhatIsNew) {
  const TemporaryFolder folder;
  const std::string ring_path = folder.file("x.ring");
  RingFileSetup setup;
  setup.path = ring_path;
  setup.ring_bytes = kMinRingBytes;
  setup.process_info = format_info(kInfo);
  RingFileWriter* file = create_ring_file(setup);
  RingWriter writer(*file->claim_ring(1));
  const auto reader = RingReader::open(ring_path, RingReader::Access::kDrain);
  RingRecords drained;
  const auto append = [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) ASSERT_TRUE(writer.append(numbered_event(i)));
  };
  append(0, 600);
  EXPECT_EQ(read_session(ring_path).events.size(), 600u);
  EXPECT_EQ(read_session(ring_path).pid, 321u);

  const auto session_file = SessionWriter::create(folder.file("x.vrams"));
  session_file->write_info(kInfo);
  reader->read(0, 0, kMaxChunkRawBytes, drained);
  session_file->write_records(0, 0, drained.bytes, drained.events);
  reader->release(0, 64 * 500);  // not the last hundred
  append(600, 1500);
  for (const char* name : {"x.vrams", "x.ring"}) {
    const Session session = read_session(folder.file(name));
    ASSERT_EQ(session.events.size(), 1500u) << name;
    for (uint64_t i = 0; i < 1500; ++i) {
      ASSERT_TRUE(same_event(session.events[i].event, numbered_event(i)));
    }
    EXPECT_FALSE(session.complete);
    EXPECT_EQ(session.path, folder.file("x.vrams"));
  }
}

TEST(Session, DamagedRingFilesAreSurvived) {
  set_log_level(LogLevel::kOff);
  const TemporaryFolder folder;
  const std::string good_path = folder.file("good.ring");
  RingFileSetup setup;
  setup.path = good_path;
  setup.ring_bytes = kMinRingBytes;
  setup.process_info = format_info(kInfo);
  RingFileWriter* file = create_ring_file(setup);
  RingWriter writer(*file->claim_ring(1));
  writer.append_definition(RecordKind::kThread, 1, {as_records("name")}, 0);
  for (uint64_t i = 0; i < 20; ++i) writer.append(numbered_event(i));
  const std::string good = read_file(good_path);
  const std::string path = folder.file("x.ring");
  std::vector<size_t> places;
  for (size_t i = 0; i < sizeof(RingFileHeader); ++i) places.push_back(i);
  for (size_t i = 0; i < 2 * sizeof(RingControl); ++i) places.push_back(kRingControlOffset + i);
  for (size_t i = 0; i < 300; ++i) places.push_back(kFirstRingOffset + i);
  for (const size_t place : places) {
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      std::string damaged = good;
      damaged[place] = static_cast<char>(damaged[place] ^ flip);
      write_file(path, damaged);
      try {
        const Session session = read_session(path);
        EXPECT_LE(session.events.size(), 1024u + 20u) << place;
      } catch (const FileError& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      }
      // And what drains it goes on.
      try {
        auto reader = RingReader::open(path, RingReader::Access::kDrain);
        if (!reader) continue;
        ProcessDrain drain(std::move(reader));
        drain.drain(ProcessDrain::Amount::kEverything);
      } catch (const FileError&) {
      }
      std::filesystem::remove(folder.file("x.vrams"));
    }
  }
  for (size_t length = 0; length < good.size(); length += length < 300 ? 1 : 977) {
    write_file(path, good.substr(0, length));
    try {
      EXPECT_LE(read_session(path).events.size(), 20u);
    } catch (const FileError&) {
    }
  }
}

TEST(BlockedSignal, WriteBeyondTheFileSizeLimitFailsAndTheProcessGoesOn) {
  const TemporaryFolder folder;
  const int status = in_child([&] {
    signal(SIGXFSZ, SIG_DFL);
    const rlimit limit{0, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    const int fd = open(folder.file("x").c_str(), O_WRONLY | O_CREAT, 0644);
    for (int time = 0; time < 2; ++time) {
      const BlockedSignal blocked(SIGXFSZ);
      if (write(fd, "x", 1) != -1 || errno != EFBIG) _exit(1);
    }
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    _exit(sigismember(&mask, SIGXFSZ) == 0 ? 0 : 2);
  });
  EXPECT_EQ(status, 0);
}

TEST(Session, FindsSessionsOfAFolder) {
  const TemporaryFolder folder;
  EXPECT_THROW(find_sessions(folder.path()), FileError);
  EXPECT_THROW(find_sessions(folder.file("none")), FileError);
  for (const char* name : {"b.vrams", "a.vrams", "a-2.vrams", "a.ring", "c.ring", "notes.txt"}) {
    write_file(folder.file(name), "x");
  }
  const std::vector<std::string> expected = {folder.file("a.vrams"), folder.file("a-2.vrams"),
                                             folder.file("b.vrams"), folder.file("c.ring")};
  EXPECT_EQ(find_sessions(folder.path()), expected);
}

TEST(SessionWriter, FullDiskLeavesAReadableFileAndCanBeTriedAgain) {
  const TemporaryFolder folder;
  const std::string mount_point = folder.file("small");
  std::filesystem::create_directory(mount_point);
  const std::string mount = "mount -t tmpfs -o size=128k none " + mount_point + " 2>/dev/null";
  if (std::system(mount.c_str()) != 0) GTEST_SKIP() << "mounting a tmpfs needs root";
  const std::string path = mount_point + "/x.vrams";
  {
    const auto writer = SessionWriter::create(path);
    ASSERT_TRUE(writer->write_info(kInfo));
    write_file(mount_point + "/ballast", std::string(60'000, 'x'));
    std::string noise(200'000, '\0');  // whole definitions that do not compress
    uint64_t state = 1;
    for (char& c : noise) c = static_cast<char>((state = state * 6364136223846793005u + 1) >> 56);
    for (size_t i = 0; i < noise.size(); i += 1000) {
      noise.replace(i, 8, definition(RecordKind::kApi, 1, std::string(992, 'x')).substr(0, 8));
    }
    EXPECT_FALSE(writer->write_records(0, 0, as_records(noise), 0));
    EXPECT_EQ(errno, ENOSPC);
    std::filesystem::remove(mount_point + "/ballast");
    noise.resize(60'000);
    EXPECT_TRUE(writer->write_records(0, 0, as_records(noise), 0));
    EXPECT_TRUE(writer->finish());
    EXPECT_TRUE(read_session(path).complete);
  }
  EXPECT_EQ(std::system(("umount " + mount_point).c_str()), 0);
}

}  // namespace
}  // namespace vramscope
