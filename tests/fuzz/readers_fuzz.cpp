// Every reader gets files that are almost right. See README.md for long runs.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "recorder/ring_file_writer.h"
#include "recorder/session_reader.h"
#include "recorder/session_writer.h"
#include "tests/fuzz/random_input.h"
#include "tools/analysis/report.h"
#include "tools/formats/recording_file.h"
#include "tools/formats/snapshot_reader.h"
#include "tools/formats/snapshot_writer.h"

namespace vramscope {
namespace {

namespace fs = std::filesystem;

uint64_t from_environment(const char* name, uint64_t fallback) {
  const char* value = std::getenv(name);
  return value == nullptr ? fallback : std::strtoull(value, nullptr, 10);
}

// Inputs are files: the one that a reader died of is there afterwards.
class Readers : public testing::Test {
 protected:
  void SetUp() override {
    const char* chosen = std::getenv("FUZZ_FOLDER");
    std::string made = (fs::temp_directory_path() / "vramscope-fuzz-XXXXXX").string();
    keeps_folder_ = chosen != nullptr;
    folder_ = keeps_folder_ ? chosen : mkdtemp(made.data());
    std::printf("inputs in %s\n", folder_.c_str());
  }
  void TearDown() override {
    if (!keeps_folder_) fs::remove_all(folder_);
  }

  std::string file(const char* name) const { return folder_ + "/" + name; }

  static void write(const std::string& path, const std::string& bytes) {
    fs::remove(path);
    std::ofstream(path, std::ios::binary) << bytes;
  }
  static std::string read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

  // Calls round(random) again and again; `rounds`: of a short run.
  template <typename Round>
  static void repeat(uint64_t rounds, Round round) {
    const uint64_t seed = from_environment("FUZZ_SEED", 1);
    rounds = from_environment("FUZZ_ROUNDS", rounds);
    for (uint64_t i = 0; i < rounds && !HasFailure(); ++i) {
      SCOPED_TRACE("round " + std::to_string(i) + ", seed " + std::to_string(seed));
      Random random(seed << 32 ^ i);
      round(random);
    }
  }

  // What `vramscope report` and `vramscope snapshot` do. The snapshot is read again: what we write
  // is sound, whatever it was made of.
  static std::string use(const Recording& recording) {
    std::string last;
    for (const auto& process : recording.processes) {
      report_process(*process);
      std::ostringstream out;
      write_snapshot(*process, out);
      last = std::move(out).str();
      report_process(*read_snapshot(last, "written"));
    }
    return last;
  }

  static std::string open_and_use(const std::string& path) {
    try {
      return use(open_recording(path));
    } catch (const std::runtime_error& error) {  // the one line for the user
      EXPECT_NE(std::string(error.what()), "");
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    }
    return {};
  }

  // A sound session file of these records.
  void write_session(const std::string& path, const std::vector<std::string>& rings) const {
    fs::remove(path);
    const auto writer = SessionWriter::create(path);
    ASSERT_NE(writer, nullptr);
    writer->write_info({{"pid", "1"}, {"start_ticks", "0"}, {"end_ticks", "9"}});
    for (size_t ring = 0; ring < rings.size(); ++ring)
      writer->write_records(static_cast<uint32_t>(ring), 0, std::as_bytes(std::span(rings[ring])),
                            1);
    writer->finish();
  }

  static std::vector<std::string> random_rings(Random& random) {
    std::vector<std::string> rings;
    for (uint64_t i = 1 + random.below(3); i > 0; --i) rings.push_back(random_records(random));
    return rings;
  }

 private:
  std::string folder_;
  bool keeps_folder_ = false;
};

TEST_F(Readers, AnyRecordsInASoundFile) {
  repeat(600, [this](Random& random) {
    std::vector<std::string> rings = random_rings(random);
    if (random.one_in(3)) rings[0] = damaged(rings[0], random);
    write_session(file("records.vrams"), rings);
    open_and_use(file("records.vrams"));
  });
}

TEST_F(Readers, DamagedSessionFiles) {
  repeat(600, [this](Random& random) {
    write_session(file("sound.vrams"), random_rings(random));
    write(file("damaged.vrams"), damaged(read(file("sound.vrams")), random));
    open_and_use(file("damaged.vrams"));
  });
}

TEST_F(Readers, DamagedRingFiles) {
  RingFileSetup setup;
  setup.path = file("sound.ring");
  setup.ring_bytes = kMinRingBytes;
  setup.process_info = "pid=1\nhost=node\n";
  RingFileWriter* writer = RingFileWriter::create(setup);
  ASSERT_NE(writer, nullptr);
  const auto ring = writer->claim_ring(1);
  ASSERT_TRUE(ring);
  repeat(300, [&](Random& random) {
    const std::string records = random_records(random);
    const size_t length = std::min<size_t>(records.size(), kMinRingBytes);
    std::memcpy(ring->records, records.data(), length);
    ring->control->write_position = random.one_in(3) ? random.number() : length;
    ring->control->read_position = random.one_in(3) ? random.number() : 0;
    std::string bytes = read(setup.path);
    if (random.one_in(2)) {
      // Where the numbers are; the rest is records, or nothing.
      const std::string head = damaged(bytes.substr(0, kRingControlOffset + 1024), random);
      bytes.replace(0, kRingControlOffset + 1024, head);
    }
    write(file("damaged.ring"), bytes);
    open_and_use(file("damaged.ring"));
  });
  static RingFileWriter* kept = writer;  // immortal
  ASSERT_NE(kept, nullptr);
}

TEST_F(Readers, DamagedPickles) {
  repeat(1500, [this](Random& random) {
    write_session(file("sound.vrams"), random_rings(random));
    const std::string sound = open_and_use(file("sound.vrams"));
    for (int i = 0; i < 4; ++i) {
      write(file("damaged.pickle"), damaged(sound, random));
      open_and_use(file("damaged.pickle"));
    }
  });
}

// Of the whole run. No input here is larger than a megabyte.
TEST_F(Readers, TakeNoMemoryThatFilesDoNotPayFor) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer keeps freed memory";
#endif
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  constexpr long kMiBInKiB = 1024;
  EXPECT_LT(usage.ru_maxrss, 1024 * kMiBInKiB);
}

}  // namespace
}  // namespace vramscope
