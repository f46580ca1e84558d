// What happens when rings are full: waiting, dropping, overwriting, waking; and when whoever drains
// dies. In child processes: each has a recorder of its own.
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <functional>
#include <map>
#include <thread>

#include "recorder/folder_drainer.h"
#include "recorder/recorder.h"
#include "recorder/ring_writer.h"
#include "recorder/session_reader.h"
#include "tests/unit/recorder_fake_stacks.h"
#include "tests/unit/recorder_support.h"

namespace vramscope {
namespace {

const char* const kNames[] = {"cuMemAlloc_v2", "cuMemFree_v2", "cuMemCreate"};
constexpr uint64_t kWindowEvents = kMinRingBytes / sizeof(Event) - 1;

void configure(const TemporaryFolder& folder, const char* overflow, const char* stacks = "none") {
  setenv("VRAMSCOPE_OUTPUT", folder.file("session").c_str(), 1);
  setenv("VRAMSCOPE_STACKS", stacks, 1);
  setenv("VRAMSCOPE_OVERFLOW", overflow, 1);
  // Windows of a flight recorder are half as large.
  setenv("VRAMSCOPE_RING", std::string(overflow) == "wait" ? "64KiB" : "128KiB", 1);
  set_api_names(kNames, 3);
}

// Not out of memory, whatever the number.
Event successful_event(uint64_t number) {
  Event event = numbered_event(number);
  event.result = 0;
  return event;
}

void record_numbers(uint64_t begin, uint64_t end) {
  for (uint64_t i = begin; i < end; ++i) {
    Event event = successful_event(i);
    record(event, {0x1234, 0, 0});
  }
}

void expect_numbers(std::span<const SessionEvent> events, uint64_t begin, uint64_t end) {
  ASSERT_EQ(events.size(), end - begin);
  for (uint64_t i = begin; i < end; ++i) {
    ASSERT_TRUE(same_event(events[i - begin].event, successful_event(i))) << i;
  }
}

// False: not within a minute.
bool wait_until(const std::function<bool()>& condition) {
  for (int i = 0; i < 60'000; ++i) {
    if (condition()) return true;
    usleep(1000);
  }
  return false;
}

template <typename T>
T* shared() {
  return new (mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
      T();
}

TEST(Doorbell, IsFoundByProcessAndNumber) {
  const auto bell = SharedDoorbell::create();
  ASSERT_NE(bell, nullptr);
  EXPECT_EQ(answer_doorbell(bell->bell(), 0), 0u);
  const int status = in_child([&] {
    Doorbell* found = find_doorbell(static_cast<uint32_t>(getppid()), bell->number());
    if (found == nullptr) _exit(1);
    ring_doorbell(*found, kNewFileRung);
    ring_doorbell(*found, kWorkRung);
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(answer_doorbell(bell->bell(), 60'000'000), kNewFileRung | kWorkRung);
  EXPECT_EQ(answer_doorbell(bell->bell(), 0), 0u);
  EXPECT_EQ(find_doorbell(static_cast<uint32_t>(getpid()), 0), nullptr);
  EXPECT_EQ(find_doorbell(static_cast<uint32_t>(getpid()), -1), nullptr);
}

TEST(Doorbell, WakesWhoWaits) {
  const auto bell = SharedDoorbell::create();
  uint32_t rung = 0;
  std::thread sleeper([&] {
    while (rung == 0) rung = answer_doorbell(bell->bell(), 60'000'000);
  });
  ring_doorbell(bell->bell(), kStopRung);
  sleeper.join();
  EXPECT_EQ(rung, kStopRung);
}

TEST(RingWriter, RingsTheBellWhenItsRingIsHalfFull) {
  const TemporaryFolder folder;
  RingFileSetup setup;
  setup.path = folder.file("x.ring");
  setup.ring_bytes = kMinRingBytes;
  RingFileWriter* file = create_ring_file(setup);
  RingWriter writer(*file->claim_ring(1));
  Doorbell& bell = file->header().doorbell;
  constexpr uint64_t kHalf = kMinRingBytes / 2 / sizeof(Event);
  for (uint64_t i = 0; i < kHalf; ++i) writer.append(successful_event(i));
  EXPECT_EQ(bell.load(), 0u);
  writer.append(successful_event(kHalf));
  EXPECT_EQ(bell.exchange(0), kWorkRung);

  const auto reader = RingReader::open(setup.path, RingReader::Access::kDrain);
  RingRecords records;
  reader->read(0, 0, kMaxChunkRawBytes, records);
  reader->release(0, records.end_position());
  for (uint64_t i = 0; i < kHalf; ++i) writer.append(successful_event(i));
  EXPECT_EQ(bell.load(), 0u);
  writer.append(successful_event(kHalf));
  EXPECT_EQ(bell.load(), kWorkRung);
}

TEST(FlightRecorder, KeepsTheLastEvents) {
  const TemporaryFolder folder;
  ASSERT_EQ(in_child([&] {
              configure(folder, "flight-recorder");
              record_numbers(0, 10'000);
              finish_recording();
            }),
            0);
  EXPECT_TRUE(folder.names(".ring").empty());
  const Session session = read_session(folder.file("session.vrams"));
  expect_numbers(session.events, 10'000 - kWindowEvents, 10'000);
  EXPECT_EQ(session.overwritten_events, 10'000 - kWindowEvents);
  EXPECT_EQ(session.lost_events, 10'000 - kWindowEvents);
  EXPECT_EQ(session.info.at("overflow"), "flight-recorder");
  ASSERT_EQ(session.problems.size(), 1u);
  EXPECT_TRUE(session.problems[0].ends_with("8977 older events were overwritten"));
}

TEST(FlightRecorder, NothingIsLostBeforeTheWindowIsFull) {
  const TemporaryFolder folder;
  ASSERT_EQ(in_child([&] {
              configure(folder, "flight-recorder");
              record_numbers(0, kWindowEvents);
              finish_recording();
            }),
            0);
  const Session session = read_session(folder.file("session.vrams"));
  expect_numbers(session.events, 0, kWindowEvents);
  EXPECT_EQ(session.lost_events, 0u);
  EXPECT_TRUE(session.complete);
  EXPECT_TRUE(session.problems.empty());
}

// Two windows: what led to the error, and what led to the end.
TEST(FlightRecorder, IsDumpedWhenMemoryRunsOut) {
  const TemporaryFolder folder;
  const std::string path = folder.file("session.vrams");
  const auto events_saved = [&] {
    return std::filesystem::exists(path) ? read_session(path).events.size() : 0;
  };
  auto* dumped = shared<std::atomic<bool>>();
  const pid_t child = fork();
  if (child == 0) {
    configure(folder, "flight-recorder");
    record_numbers(0, 5000);
    Event failed = successful_event(5000);
    failed.kind = RecordKind::kBlockOom;
    record(failed, {});
    if (!wait_until([&] { return dumped->load(); })) _exit(1);
    record_numbers(5001, 8000);
    finish_recording();
    _exit(0);
  }
  // As long as the process lives its windows are seen too: so look at the file alone.
  const auto saved = [&] {
    std::error_code error;
    std::filesystem::copy_file(path, folder.file("copy.vrams"),
                               std::filesystem::copy_options::overwrite_existing, error);
    try {
      return error ? 0 : read_session(folder.file("copy.vrams")).events.size();
    } catch (const FileError&) {
      return size_t{0};
    }
  };
  EXPECT_TRUE(wait_until([&] { return saved() == kWindowEvents; }));
  dumped->store(true);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  ASSERT_EQ(events_saved(), 2 * kWindowEvents);
  const Session session = read_session(path);
  const std::span<const SessionEvent> events(session.events);
  EXPECT_EQ(events[kWindowEvents - 1].event.kind, RecordKind::kBlockOom);
  expect_numbers(events.first(kWindowEvents - 1), 5001 - kWindowEvents, 5000);
  expect_numbers(events.last(kWindowEvents), 8000 - kWindowEvents, 8000);
  EXPECT_EQ(session.lost_events, 8000 - 2 * kWindowEvents);
}

TEST(FlightRecorder, KilledProcessLeavesItsLastEvents) {
  const TemporaryFolder folder;
  auto* reached = shared<std::atomic<uint64_t>>();
  const pid_t child = fork();
  if (child == 0) {
    configure(folder, "flight-recorder");
    for (uint64_t i = 0;; ++i) {
      record_numbers(i, i + 1);
      reached->store(i + 1);
    }
  }
  EXPECT_TRUE(wait_until([&] { return reached->load() > 20'000; }));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  const uint64_t certain = reached->load();
  const Session session = read_session(folder.file("session.ring"));
  ASSERT_EQ(session.events.size(), kWindowEvents);
  const uint64_t last = ~session.events.back().event.extra;
  EXPECT_GE(last + 1, certain);
  EXPECT_LE(last, certain);
  expect_numbers(session.events, last + 1 - kWindowEvents, last + 1);
  EXPECT_EQ(session.lost_events, last + 1 - kWindowEvents);
}

struct Counts {
  uint64_t events = 0;
  uint64_t last = 0;
};

// Sixty-four threads that record as fast as they can, 64 x `each` events with a stack each.
void record_in_64_threads(uint64_t each) {
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 64; ++t) {
    threads.emplace_back([=] { record_numbers(t * each, t * each + each); });
  }
  for (auto& thread : threads) thread.join();
}

// Each event that was kept stands in its thread's order and comes with its whole stack.
std::map<uint64_t, Counts> check_threads(const Session& session, uint64_t each) {
  std::map<uint32_t, uint64_t> previous;
  std::map<uint64_t, Counts> counts;
  for (const SessionEvent& event : session.events) {
    const uint64_t number = ~event.event.extra;
    const auto [found, is_first] = previous.emplace(event.thread, number);
    EXPECT_TRUE(is_first || (number > found->second && number / each == found->second / each));
    found->second = number;
    EXPECT_EQ(session.native_stacks.find(event.event.native_stack).size(), 3u);
    EXPECT_EQ(session.python_stacks.find(event.event.python_stack).size(), 2u);
    ++counts[number / each].events;
    counts[number / each].last = number;
  }
  return counts;
}

TEST(Overflow, SixtyFourThreadsFasterThanTheDrainerLoseOnlyWhatIsCounted) {
  const TemporaryFolder folder;
  constexpr uint64_t kEach = 4000;  // four rings
  ASSERT_EQ(in_child([&] {
              configure(folder, "wait", "python,native");
              record_in_64_threads(kEach);
              finish_recording();
            }),
            0);
  const Session session = read_session(folder.file("session.vrams"));
  EXPECT_TRUE(session.complete);
  EXPECT_EQ(session.events.size() + session.lost_events, 64 * kEach);
  EXPECT_EQ(check_threads(session, kEach).size(), 64u);
}

TEST(Overflow, SixtyFourFlightRecordersKeepWhatCameLast) {
  const TemporaryFolder folder;
  constexpr uint64_t kEach = 4000;
  ASSERT_EQ(in_child([&] {
              configure(folder, "flight-recorder", "python,native");
              record_in_64_threads(kEach);
              finish_recording();
            }),
            0);
  const Session session = read_session(folder.file("session.vrams"));
  EXPECT_EQ(session.events.size() + session.lost_events, 64 * kEach);
  const auto counts = check_threads(session, kEach);
  ASSERT_EQ(counts.size(), 64u);
  EXPECT_GT(session.overwritten_events, 0u);
}

// A process that drains the folder until it is killed.
pid_t start_drainer(const TemporaryFolder& folder, std::atomic<bool>* runs) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  FolderDrainer drainer(folder.path(), static_cast<uint32_t>(getpid()));
  while (true) {
    usleep(static_cast<useconds_t>(drainer.poll_us()));
    runs->store(true);
  }
}

struct DrainerDies : testing::Test {
  // Records 3,000 events that `drainer` gets, then kills it.
  void record_and_kill_drainer() {
    drainer = start_drainer(folder, runs);
    ASSERT_TRUE(wait_until([&] { return runs->load(); }));
    job = fork();
    if (job == 0) {
      configure(folder, "wait", "python,native");
      setenv("VRAMSCOPE_DRAINER", std::to_string(drainer).c_str(), 1);
      for (uint64_t i = 0; i < 3000; i += 100) {
        record_numbers(i, i + 100);
        usleep(2000);
      }
      stage->store(1);
      wait_until([&] { return stage->load() == 2; });
      record_numbers(3000, 6000);
      if (leaves_by_exit) finish_recording();
      stage->store(3);
      if (!leaves_by_exit) pause();
      _exit(0);
    }
    ASSERT_TRUE(wait_until([&] { return stage->load() == 1; }));
    kill(drainer, SIGKILL);
    waitpid(drainer, nullptr, 0);
    stage->store(2);
    ASSERT_TRUE(wait_until([&] { return stage->load() == 3; }));
  }

  void expect_everything(const Session& session) const {
    EXPECT_EQ(session.events.size() + session.lost_events, 6000u);
    check_threads(session, 6000);
    EXPECT_EQ(session.threads.size(), 1u);
  }

  TemporaryFolder folder;
  std::atomic<bool>* runs = shared<std::atomic<bool>>();
  std::atomic<int>* stage = shared<std::atomic<int>>();
  bool leaves_by_exit = true;
  pid_t drainer = 0;
  pid_t job = 0;
};

TEST_F(DrainerDies, JobGoesOnDrainingByItself) {
  record_and_kill_drainer();
  int status = 0;
  waitpid(job, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(folder.names(".ring").empty());
  const Session session = read_session(folder.file("session.vrams"));
  EXPECT_TRUE(session.complete);
  EXPECT_TRUE(session.finished);
  expect_everything(session);
}

TEST_F(DrainerDies, SessionOfALivingProcessIsReadWhileItRuns) {
  leaves_by_exit = false;
  record_and_kill_drainer();
  const Session session = read_session(folder.file("session.ring"));
  expect_everything(session);
  EXPECT_FALSE(session.complete);
  ASSERT_EQ(session.problems.size(), 1u);
  EXPECT_TRUE(session.problems[0].ends_with(" still runs: this is what it has recorded so far"));
  kill(job, SIGKILL);
  waitpid(job, nullptr, 0);
}

TEST_F(DrainerDies, WhatBothLeftIsRecovered) {
  leaves_by_exit = false;
  record_and_kill_drainer();
  kill(job, SIGKILL);
  waitpid(job, nullptr, 0);
  const Session before = read_session(folder.file("session.ring"));
  auto reader = RingReader::open(folder.file("session.ring"), RingReader::Access::kDrain);
  ASSERT_TRUE(reader->claim());
  EXPECT_FALSE(reader->process_lives());
  ProcessDrain drain(std::move(reader));
  EXPECT_TRUE(drain.finish(true));
  EXPECT_TRUE(folder.names(".ring").empty());
  const Session session = read_session(folder.file("session.vrams"));
  EXPECT_TRUE(session.complete);
  expect_everything(session);
  ASSERT_EQ(session.events.size(), before.events.size());
  for (size_t i = 0; i < session.events.size(); ++i) {
    ASSERT_TRUE(same_event(session.events[i].event, before.events[i].event));
  }
}

}  // namespace
}  // namespace vramscope
