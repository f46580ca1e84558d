// The ring's twins: what ring_writer writes is what ring_reader reads, at every position.
#include <fcntl.h>
#include <sys/resource.h>

#include <cstring>
#include <thread>

#include "recorder/clock.h"
#include "recorder/file_error.h"
#include "recorder/record_walk.h"
#include "recorder/ring_reader.h"
#include "recorder/ring_writer.h"
#include "tests/unit/recorder_support.h"

namespace vramscope {
namespace {

struct RingFixture : testing::Test {
  RingFixture() : path(folder.file("test.ring")) {
    RingFileSetup setup;
    setup.path = path;
    setup.ring_bytes = kMinRingBytes;
    setup.drainer_pid = 99;
    setup.start = {11, 22};
    setup.process_info = "pid=1\ncommand=true\n";
    file = create_ring_file(setup);
  }

  std::unique_ptr<RingReader> open(RingReader::Access access = RingReader::Access::kDrain) const {
    return RingReader::open(path, access);
  }

  // Everything pending of ring 0, drained.
  static std::vector<std::byte> drain(RingReader& reader) {
    std::vector<std::byte> all;
    RingRecords records;
    while (true) {
      reader.read(0, reader.resume_position(0, {}), 1000, records);
      EXPECT_EQ(records.problem, "");
      if (records.bytes.empty()) return all;
      all.insert(all.end(), records.bytes.begin(), records.bytes.end());
      reader.release(0, records.end_position());
    }
  }

  TemporaryFolder folder;
  const std::string path;
  RingFileWriter* file;
};

struct Definition {
  RecordKind kind;
  uint32_t id;
  uint8_t flags;
  std::string payload;
};

// Without padding.
void split(std::span<const std::byte> bytes, std::vector<Event>& events,
           std::vector<Definition>& definitions) {
  while (const size_t length = record_bytes(bytes)) {
    DefinitionHeader header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    if (is_event(header.kind)) {
      Event event;
      std::memcpy(&event, bytes.data(), sizeof(event));
      events.push_back(event);
    } else if (header.kind != RecordKind::kPadding) {
      const auto* payload = reinterpret_cast<const char*>(bytes.data() + sizeof(header));
      definitions.push_back(
          {header.kind, header.id, header.flags, {payload, length - sizeof(header)}});
    }
    bytes = bytes.subspan(length);
  }
  ASSERT_TRUE(bytes.empty());
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

TEST_F(RingFixture, HeaderSaysWhatWasSetUp) {
  ASSERT_NE(file, nullptr);
  const auto reader = open();
  ASSERT_NE(reader, nullptr);
  EXPECT_EQ(reader->pid(), static_cast<uint32_t>(getpid()));
  EXPECT_EQ(reader->drainer_pid(), 99u);
  EXPECT_EQ(reader->ring_bytes(), 65536u);
  EXPECT_EQ(reader->clock(), ClockKind::kMonotonicNs);
  EXPECT_EQ(reader->ring_count(), 0u);
  EXPECT_FALSE(reader->finished());
  EXPECT_EQ(reader->process_info(), (InfoMap{{"pid", "1"}, {"command", "true"}}));
  EXPECT_EQ(std::filesystem::file_size(path), 204800u);
}

TEST_F(RingFixture, ExistingFileIsNotTouched) {
  write_file(folder.file("other.ring"), "mine");
  RingFileSetup setup;
  setup.path = folder.file("other.ring");
  EXPECT_EQ(create_ring_file(setup), nullptr);
  EXPECT_EQ(errno, EEXIST);
  EXPECT_EQ(read_file(setup.path), "mine");
}

// Definitions of changing length push the events over the ring's end at every alignment.
TEST_F(RingFixture, RecordsSurviveTheWrapAtEveryAlignment) {
  RingWriter writer(*file->claim_ring(1));
  const auto reader = open();
  std::vector<Event> events;
  std::vector<Definition> definitions;
  constexpr uint64_t kRounds = 20'000;  // 2 MiB and more: 32 times around
  for (uint64_t i = 0; i < kRounds; ++i) {
    writer.begin_event();
    const std::string payload(i % 97, static_cast<char>('a' + i % 26));
    ASSERT_TRUE(writer.append_definition(RecordKind::kApi, static_cast<uint32_t>(i),
                                         {bytes_of(payload), bytes_of("/")}, 0));
    ASSERT_TRUE(writer.append(numbered_event(i)));
    if (i % 111 == 0) split(drain(*reader), events, definitions);
  }
  split(drain(*reader), events, definitions);
  ASSERT_EQ(events.size(), kRounds);
  ASSERT_EQ(definitions.size(), kRounds);
  for (uint64_t i = 0; i < kRounds; ++i) {
    ASSERT_TRUE(same_event(events[i], numbered_event(i)));
    ASSERT_EQ(definitions[i].id, i);
    std::string expected = std::string(i % 97, static_cast<char>('a' + i % 26)) + "/";
    expected.resize((expected.size() + 7) / 8 * 8, '\0');
    ASSERT_EQ(definitions[i].payload, expected);
  }
  EXPECT_EQ(reader->lost_events(), 0u);
}

TEST_F(RingFixture, FullRingDropsTheNewestAndSaysSoLater) {
  RingWriter writer(*file->claim_ring(1));
  const auto reader = open();
  constexpr uint64_t kFits = kMinRingBytes / sizeof(Event);
  for (uint64_t i = 0; i < kFits; ++i) {
    writer.begin_event();
    ASSERT_TRUE(writer.append(numbered_event(i)));
  }
  const uint64_t before_us = monotonic_ns() / 1000;
  for (uint64_t i = kFits; i < kFits + 3000; ++i) {
    writer.begin_event();
    ASSERT_FALSE(writer.append(numbered_event(i)));
  }
  // Each waits, until the reader has not moved for too long: not three seconds for 3,000 events.
  EXPECT_GE(monotonic_ns() / 1000 - before_us, RingWriter::kPatience_us);
  EXPECT_LT(monotonic_ns() / 1000 - before_us, 2 * RingWriter::kPatience_us);
  EXPECT_FALSE(writer.append_definition(RecordKind::kApi, 1, {bytes_of("x")}, 0));
  EXPECT_EQ(reader->lost_events(), 3000u);

  std::vector<Event> events;
  std::vector<Definition> definitions;
  split(drain(*reader), events, definitions);
  ASSERT_EQ(events.size(), kFits);
  EXPECT_TRUE(definitions.empty());
  writer.begin_event();
  ASSERT_TRUE(writer.append(numbered_event(5000)));
  split(drain(*reader), events, definitions);
  ASSERT_EQ(events.size(), kFits + 1);
  ASSERT_EQ(definitions.size(), 1u);
  ASSERT_EQ(definitions[0].kind, RecordKind::kDropped);
  DroppedDefinition dropped;
  std::memcpy(&dropped, definitions[0].payload.data(), sizeof(dropped));
  EXPECT_EQ(dropped.events, 3000u);
  EXPECT_EQ(dropped.first_ticks, numbered_event(kFits).ticks);
  EXPECT_EQ(dropped.last_ticks, numbered_event(kFits + 2999).ticks);
}

TEST_F(RingFixture, WriterWaitsForAReaderThatMoves) {
  RingWriter writer(*file->claim_ring(1));
  constexpr uint64_t kEvents = 200'000;
  std::vector<Event> events;
  std::vector<Definition> definitions;
  std::thread drainer([&] {
    const auto reader = open();
    while (events.size() < kEvents) split(drain(*reader), events, definitions);
  });
  uint64_t appended = 0;
  while (appended < kEvents) {
    writer.begin_event();
    if (writer.append(numbered_event(appended))) ++appended;
  }
  drainer.join();
  for (uint64_t i = 0; i < kEvents; ++i) ASSERT_TRUE(same_event(events[i], numbered_event(i)));
}

TEST_F(RingFixture, DefinitionsThatAreTooLongAreCutAndFlagged) {
  RingWriter writer(*file->claim_ring(1));
  const std::string longest(kMinRingBytes, 'x');
  ASSERT_TRUE(writer.append_definition(RecordKind::kPythonCode, 7, {bytes_of(longest)}, 0));
  std::vector<Event> events;
  std::vector<Definition> definitions;
  split(drain(*open()), events, definitions);
  ASSERT_EQ(definitions.size(), 1u);
  EXPECT_EQ(definitions[0].flags, kTruncatedDefinition);
  EXPECT_EQ(definitions[0].payload, std::string(kMinRingBytes / 2 - 8, 'x'));
}

TEST_F(RingFixture, RingOfAnEndedThreadIsUsedAgainWhenDrained) {
  const Ring first = *file->claim_ring(1);
  RingWriter(first).append(numbered_event(0));
  RingFileWriter::close_ring(first);
  EXPECT_NE(file->claim_ring(2)->records, first.records);
  const auto reader = open();
  EXPECT_TRUE(reader->closed(0));
  reader->free_if_drained(0);
  EXPECT_TRUE(reader->closed(0));
  drain(*reader);
  reader->free_if_drained(0);
  EXPECT_FALSE(reader->closed(0));
  const Ring again = *file->claim_ring(3);
  EXPECT_EQ(again.records, first.records);
  RingWriter(again).append(numbered_event(1));
  RingRecords records;
  reader->read(0, reader->resume_position(0, {}), 1000, records);
  EXPECT_EQ(records.begin_position, 64u);
  EXPECT_EQ(records.events, 1u);
  EXPECT_EQ(reader->ring_count(), 2u);
}

TEST_F(RingFixture, RingsAreFoundAgainAfterAllDescriptorsWereClosed) {
  ASSERT_EQ(in_child([&] {
              RingFileSetup setup;
              setup.path = folder.file("daemon.ring");
              setup.ring_bytes = kMinRingBytes;
              RingFileWriter* daemon = create_ring_file(setup);
              for (int fd = 3; fd < 2000; ++fd) close(fd);
              // The number now belongs to another file, which must not grow.
              const std::string other = folder.file("other");
              const int opened = ::open(other.c_str(), O_RDWR | O_CREAT, 0600);
              for (int fd = 1000; fd < 1003; ++fd) dup2(opened, fd);
              if (!daemon->claim_ring(1)) _exit(1);
              if (std::filesystem::file_size(other) != 0) _exit(2);
            }),
            0);
  EXPECT_EQ(std::filesystem::file_size(folder.file("daemon.ring")), 204800u + kMinRingBytes);
}

TEST_F(RingFixture, LifeOfTheProcessShowsWhetherItEndsOrExecutesAnotherProgram) {
  int pipe_to_child[2];
  ASSERT_EQ(pipe(pipe_to_child), 0);
  const std::string child_path = folder.file("child.ring");
  const pid_t child = fork();
  if (child == 0) {
    RingFileSetup setup;
    setup.path = child_path;
    create_ring_file(setup);
    char byte = 0;
    if (read(pipe_to_child[0], &byte, 1) == 1) execl("/bin/sleep", "sleep", "30", nullptr);
    _exit(1);
  }
  std::unique_ptr<RingReader> reader;
  while (!reader) {
    usleep(1000);
    if (std::filesystem::exists(child_path)) {
      reader = RingReader::open(child_path, RingReader::Access::kDrain);
    }
  }
  EXPECT_TRUE(reader->process_lives());
  ASSERT_EQ(write(pipe_to_child[1], "x", 1), 1);
  for (int i = 0; i < 5000 && reader->process_lives(); ++i) usleep(1000);
  EXPECT_FALSE(reader->process_lives());
  EXPECT_EQ(kill(child, 0), 0);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(reader->process_lives());
}

TEST_F(RingFixture, FullDiskIsAnErrorAndNoSignal) {
  // A file system of 512 KiB: header and four rings of 64 KiB.
  const std::string mount_point = folder.file("small");
  std::filesystem::create_directory(mount_point);
  const std::string mount = "mount -t tmpfs -o size=512k none " + mount_point + " 2>/dev/null";
  if (std::system(mount.c_str()) != 0) GTEST_SKIP() << "mounting a tmpfs needs root";
  const int status = in_child([&] {
    RingFileSetup setup;
    setup.path = mount_point + "/x.ring";
    setup.ring_bytes = kMinRingBytes;
    RingFileWriter* small = create_ring_file(setup);
    int rings = 0;
    while (const auto ring = small->claim_ring(1)) {
      std::memset(ring->records, 1, ring->bytes);
      ++rings;
    }
    if (small->header().lost_rings != 1) _exit(100);
    // The next file does not even get its header.
    setup.path = mount_point + "/y.ring";
    if (create_ring_file(setup) != nullptr || errno != ENOSPC) _exit(101);
    if (std::filesystem::exists(setup.path)) _exit(102);
    _exit(rings);
  });
  EXPECT_EQ(std::system(("umount " + mount_point).c_str()), 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 4);
}

TEST_F(RingFixture, FileSizeLimitIsAnErrorAndNoSignal) {
  const int status = in_child([&] {
    const rlimit limit{kFirstRingOffset + 2 * kMinRingBytes, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    int rings = 0;
    while (file->claim_ring(1)) ++rings;
    if (file->header().lost_rings != 1 || errno != EFBIG) _exit(100);
    _exit(rings);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 2);
}

TEST(RingReader, ForeignFilesAreRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.ring");
  const auto message = [&] {
    try {
      RingReader::open(path, RingReader::Access::kLook);
    } catch (const FileError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(message(), path + ": cannot be opened: No such file or directory");
  write_file(path, "short");
  EXPECT_EQ(message(),
            path + ": ends within the header of a ring file (offset 5); the file has 5 bytes");
  write_file(path, std::string(kFirstRingOffset, 'x'));
  EXPECT_EQ(message(), path + ": is not a ring file of vramscope (offset 0)");
  std::string newer(kFirstRingOffset, '\0');
  newer.replace(0, 8, "VSRING01");
  newer[8] = 9;
  write_file(path, newer);
  EXPECT_EQ(message(),
            path + ": is a ring file of version 9 (offset 8); this vramscope reads version 1");
  newer[8] = 1;
  newer[16] = 3;
  write_file(path, newer);
  EXPECT_EQ(message(), path + ": has rings of 3 bytes (offset 16); the file is damaged");
}

}  // namespace
}  // namespace vramscope
