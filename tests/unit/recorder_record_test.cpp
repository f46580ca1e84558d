// record() and what becomes of it, in child processes: each has a recorder of its own.
#include <signal.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "recorder/folder_drainer.h"
#include "recorder/recorder.h"
#include "recorder/session_reader.h"
#include "tests/support/sanitizer.h"
#include "tests/unit/recorder_fake_stacks.h"
#include "tests/unit/recorder_support.h"

namespace vramscope {

namespace {

const char* const kNames[] = {"cuMemAlloc_v2", "cuMemFree_v2", "cuMemCreate"};

void configure(const TemporaryFolder& folder, const char* stacks = "none") {
  setenv("VRAMSCOPE_OUTPUT", folder.file("session").c_str(), 1);
  setenv("VRAMSCOPE_STACKS", stacks, 1);
  set_api_names(kNames, 3);
}

void record_number(uint64_t number, const CallSite& site) {
  Event event = numbered_event(number);
  record(event, site);
}

void record_numbers(uint64_t begin, uint64_t end) {
  for (uint64_t i = begin; i < end; ++i) record_number(i, {0x1234, 0, 0});
}

void expect_numbers(const Session& session, uint64_t begin, uint64_t end) {
  ASSERT_EQ(session.events.size(), end - begin);
  for (uint64_t i = begin; i < end; ++i) {
    ASSERT_TRUE(same_event(session.events[i - begin].event, numbered_event(i))) << i;
  }
}

TEST(Record, SessionOfAProcessThatEndsInGoodOrderIsComplete) {
  const TemporaryFolder folder;
  ASSERT_EQ(in_child([&] {
              configure(folder);
              record_numbers(0, 5000);
              finish_recording();
            }),
            0);
  EXPECT_TRUE(folder.names(".ring").empty());
  const Session session = read_session(folder.file("session.vrams"));
  EXPECT_TRUE(session.complete);
  EXPECT_TRUE(session.finished);
  EXPECT_EQ(session.lost_events, 0u);
  EXPECT_TRUE(session.problems.empty());
  expect_numbers(session, 0, 5000);
  ASSERT_EQ(session.api_names.size(), 3u);
  EXPECT_EQ(session.api_names.at(1), "cuMemFree_v2");
  EXPECT_EQ(session.info.at("stacks"), "none");
  EXPECT_GT(session.end.unix_ns, session.start.unix_ns);
  EXPECT_GT(session.end.ticks, session.start.ticks);
}

TEST(Record, StacksAreDefinedAndFound) {
  const TemporaryFolder folder;
  ASSERT_EQ(in_child([&] {
              configure(folder, "python,native");
              record_number(1, {0x1111, 0, 0});
              record_number(2, {0x2222, 0, 0});
              finish_recording();
            }),
            0);
  const Session session = read_session(folder.file("session.vrams"));
  ASSERT_EQ(session.events.size(), 2u);
  const Event& second = session.events[1].event;
  EXPECT_EQ(second.python_stack, session.events[0].event.python_stack);
  ASSERT_EQ(session.native_stacks.find(second.native_stack).size(), 3u);
  EXPECT_EQ(session.native_stacks.find(second.native_stack)[0].return_address, 0x2222u);
  ASSERT_EQ(session.python_stacks.find(second.python_stack).size(), 2u);
  EXPECT_EQ(session.python_stacks.find(second.python_stack)[1].instruction, 8u);
}

TEST(Record, EventsAfterTheEndOfRecordingAreStillWritten) {
  const TemporaryFolder folder;
  ASSERT_EQ(in_child([&] {
              configure(folder);
              record_numbers(0, 10);
              finish_recording();
              record_numbers(10, 12);
              std::thread([] { record_numbers(12, 13); }).join();
            }),
            0);
  const Session session = read_session(folder.file("session.vrams"));
  EXPECT_TRUE(session.complete);
  expect_numbers(session, 0, 13);
  EXPECT_EQ(session.threads.size(), 2u);
}

TEST(Record, ThreadsKeepTheirStreamsApart) {
  const TemporaryFolder folder;
  constexpr uint64_t kEach = 20'000;
  ASSERT_EQ(in_child([&] {
              configure(folder);
              std::vector<std::thread> threads;
              for (uint64_t t = 0; t < 2; ++t) {
                threads.emplace_back([t] {
                  pthread_setname_np(pthread_self(), t == 0 ? "zero" : "one");
                  for (uint64_t i = 0; i < kEach; ++i) {
                    record_number(i * 2 + t, {});
                    if (i % 1000 == 0) usleep(2000);
                  }
                });
              }
              for (auto& thread : threads) thread.join();
              finish_recording();
            }),
            0);
  const Session session = read_session(folder.file("session.vrams"));
  EXPECT_EQ(session.lost_events, 0u);
  expect_numbers(session, 0, 2 * kEach);
  ASSERT_EQ(session.threads.size(), 2u);
  for (uint64_t i = 0; i < 2 * kEach; ++i) {
    const SessionThread& thread = session.threads[session.events[i].thread];
    ASSERT_EQ(thread.name, i % 2 == 0 ? "zero" : "one") << i;
  }
}

TEST(Record, ShortThreadsReuseRings) {
  const TemporaryFolder folder;
  ASSERT_EQ(in_child([&] {
              configure(folder);
              for (uint64_t t = 0; t < 50; ++t) {
                std::thread([t] { record_numbers(t * 10, t * 10 + 10); }).join();
                usleep(15'000);
              }
              finish_recording();
            }),
            0);
  const Session session = read_session(folder.file("session.vrams"));
  expect_numbers(session, 0, 500);
  EXPECT_EQ(session.threads.size(), 50u);
}

TEST(Record, KilledProcessLeavesAPrefix) {
  const TemporaryFolder folder;
  auto* reached = static_cast<std::atomic<uint64_t>*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const pid_t child = fork();
  if (child == 0) {
    configure(folder);
    for (uint64_t i = 0;; ++i) {
      record_numbers(i, i + 1);
      reached->store(i + 1);
      if (i % 1000 == 0) usleep(1000);
    }
  }
  while (reached->load() < 20'000) usleep(100);
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  const uint64_t certain = reached->load();
  const Session session = read_session(folder.names(".ring").at(0));
  EXPECT_FALSE(session.finished);
  EXPECT_EQ(session.lost_events, 0u);
  ASSERT_GE(session.events.size(), certain);
  ASSERT_LE(session.events.size(), certain + 1);
  expect_numbers(session, 0, session.events.size());
}

TEST(Record, ChildOfAForkHasASessionOfItsOwn) {
  if (kIsThreadSanitized) GTEST_SKIP() << "its runtime ends the child: dup thread with used id";
  const TemporaryFolder folder;
  ASSERT_EQ(in_child([&] {
              configure(folder);
              setenv("VRAMSCOPE_OUTPUT", folder.file("%p").c_str(), 1);
              record_numbers(0, 10);
              in_child([] {
                record_numbers(100, 103);
                finish_recording();
              });
              in_child([] {});
              record_numbers(10, 20);
              finish_recording();
            }),
            0);
  const auto sessions = find_sessions(folder.path());
  ASSERT_EQ(sessions.size(), 2u);
  for (const auto& path : sessions) {
    const Session session = read_session(path);
    EXPECT_TRUE(session.complete);
    if (session.events.size() == 3) {
      expect_numbers(session, 100, 103);
    } else {
      expect_numbers(session, 0, 20);
    }
  }
  EXPECT_TRUE(folder.names(".ring").empty());
}

TEST(Record, CallFromASignalHandlerInsideTheRecorderIsCountedAsLost) {
  const TemporaryFolder folder;
  ASSERT_EQ(in_child([&] {
              configure(folder);
              signal(SIGALRM, [](int) { record_number(0, {}); });
              const itimerval every{{0, 200}, {0, 200}};
              record_numbers(1, 2);
              setitimer(ITIMER_REAL, &every, nullptr);
              record_numbers(2, 10'000);
              setitimer(ITIMER_REAL, nullptr, nullptr);
              finish_recording();
            }),
            0);
  const Session session = read_session(folder.file("session.vrams"));
  std::vector<bool> seen(10'000, false);
  for (const auto& event : session.events) {
    if (event.event.extra != ~uint64_t{0}) seen[~event.event.extra] = true;
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 9'999);
}

TEST(Record, UnwritableFolderTurnsRecordingOffAndTheJobGoesOn) {
  EXPECT_EQ(in_child([] {
              setenv("VRAMSCOPE_OUTPUT", "/proc/no/such/folder/x", 1);
              setenv("VRAMSCOPE_LOG", "off", 1);
              record_numbers(0, 10);
              finish_recording();
            }),
            0);
}

// What does not fit is counted, what fits is there: in the ring alone...
TEST(Record, NobodyDrains) {
  const TemporaryFolder folder;
  const std::string somebody = std::to_string(getpid());
  ASSERT_EQ(in_child([&] {
              configure(folder);
              setenv("VRAMSCOPE_RING", "64KiB", 1);
              setenv("VRAMSCOPE_DRAINER", somebody.c_str(), 1);
              record_numbers(0, 5000);
              finish_recording();
            }),
            0);
  const Session session = read_session(folder.file("session.ring"));
  EXPECT_TRUE(session.finished);
  // 65,536 bytes less the thread's 24 and the three names' 24, 24 and 24.
  expect_numbers(session, 0, (65536 - 4 * 24) / 64);
  EXPECT_EQ(session.lost_events + session.events.size(), 5000u);
}

// ... and on a full disk, where the session file gets the first ones and the ring keeps some more.
TEST(Record, FullDisk) {
  const TemporaryFolder folder;
  const std::string mount = "mount -t tmpfs -o size=512k none " + folder.path() + " 2>/dev/null";
  if (std::system(mount.c_str()) != 0) GTEST_SKIP() << "mounting a tmpfs needs root";
  constexpr uint64_t kEvents = 60'000;
  const int status = in_child([&] {
    configure(folder);
    setenv("VRAMSCOPE_RING", "64KiB", 1);
    setenv("VRAMSCOPE_LOG", "off", 1);
    for (uint64_t i = 0; i < kEvents; ++i) {
      Event event = numbered_event(i);
      event.handle = i * 0x9e3779b97f4a7c15u;  // does not compress
      event.extra = event.handle * event.handle;
      record(event, {});
      if (i % 500 == 0) usleep(1000);
    }
    finish_recording();
  });
  const bool has_ring = !folder.names(".ring").empty();
  const Session session = read_session(folder.file("session.vrams"));
  EXPECT_EQ(std::system(("umount " + folder.path()).c_str()), 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(has_ring);
  EXPECT_FALSE(session.complete);
  EXPECT_GT(session.events.size(), 1024u);
  EXPECT_GT(session.lost_events, 0u);
  EXPECT_EQ(session.events.size() + session.lost_events, kEvents);
}

TEST(Record, ThreadWithoutARingCountsItsEvents) {
  const TemporaryFolder folder;
  const std::string mount = "mount -t tmpfs -o size=512k none " + folder.path() + " 2>/dev/null";
  if (std::system(mount.c_str()) != 0) GTEST_SKIP() << "mounting a tmpfs needs root";
  const int status = in_child([&] {
    configure(folder);
    setenv("VRAMSCOPE_RING", "256KiB", 1);
    record_numbers(0, 10);
    std::thread([] { record_numbers(10, 17); }).join();
    finish_recording();
  });
  const Session session = read_session(folder.file("session.vrams"));
  EXPECT_EQ(std::system(("umount " + folder.path()).c_str()), 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(session.lost_events, 7u);
  expect_numbers(session, 0, 10);
}

TEST(Record, SecondSessionOfOneNameGetsANumber) {
  const TemporaryFolder folder;
  for (int i = 0; i < 2; ++i) {
    in_child([&] {
      configure(folder);
      record_numbers(0, 1);
      finish_recording();
    });
  }
  expect_numbers(read_session(folder.file("session.vrams")), 0, 1);
  expect_numbers(read_session(folder.file("session-2.vrams")), 0, 1);
}

TEST(Record, DrainerInAnotherProcessCompletesTheSessionOfAKilledOne) {
  const TemporaryFolder folder;
  FolderDrainer drainer(folder.path(), static_cast<uint32_t>(getpid()));
  const std::string own_pid = std::to_string(getpid());
  const pid_t child = fork();
  if (child == 0) {
    configure(folder);
    setenv("VRAMSCOPE_DRAINER", own_pid.c_str(), 1);
    setenv("VRAMSCOPE_RING", "8MiB", 1);  // holds all of them, should the drainer starve
    for (uint64_t i = 0; i < 100'000; ++i) {
      record_numbers(i, i + 1);
      if (i % 5000 == 0) usleep(15'000);
    }
    raise(SIGKILL);
  }
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) usleep(drainer.poll_us());
  ASSERT_TRUE(WIFSIGNALED(status));
  drainer.finish(2'000'000);
  EXPECT_TRUE(drainer.living_pids().empty());
  EXPECT_EQ(drainer.totals().processes, 1u);
  EXPECT_EQ(drainer.totals().events, 100'000u);
  EXPECT_TRUE(folder.names(".ring").empty());
  const Session session = read_session(folder.file("session.vrams"));
  EXPECT_TRUE(session.complete);
  EXPECT_FALSE(session.finished);
  EXPECT_EQ(session.lost_events, 0u);
  expect_numbers(session, 0, 100'000);
}

}  // namespace
}  // namespace vramscope
