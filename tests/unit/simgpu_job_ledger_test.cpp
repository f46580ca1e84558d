#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/simgpu/core/job_ledger.h"

namespace simgpu {
namespace {

class JobLedgerTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_GE(descriptor_, 0);
    ASSERT_NE(first_, nullptr);
    ASSERT_NE(second_, nullptr);
  }
  void TearDown() override { close(descriptor_); }

  const int descriptor_ = JobLedger::create();
  const std::string name_ = JobLedger::name_of(descriptor_);
  std::unique_ptr<JobLedger> first_ = JobLedger::join(name_);
  std::unique_ptr<JobLedger> second_ = JobLedger::join(name_);
};

TEST_F(JobLedgerTest, MembersShareTheCapacityOfABoard) {
  EXPECT_TRUE(first_->take(0, 60, 100));
  EXPECT_FALSE(second_->take(0, 41, 100));
  EXPECT_TRUE(second_->take(0, 40, 100));
  EXPECT_TRUE(second_->take(1, 100, 100)) << "another board";
  EXPECT_EQ(first_->used_bytes(0), 100u);
  first_->give_back(0, 60);
  EXPECT_EQ(second_->used_bytes(0), 40u);
  EXPECT_FALSE(first_->take(0, ~0ull, 100));
}

TEST_F(JobLedgerTest, AMemberThatLeftTakesNothing) {
  EXPECT_TRUE(second_->take(0, 70, 100));
  second_.reset();
  EXPECT_TRUE(first_->take(0, 90, 100));
  EXPECT_EQ(first_->used_bytes(0), 90u);
}

TEST_F(JobLedgerTest, AKilledMemberTakesNothing) {
  const pid_t child = fork();
  if (child == 0) {
    first_->close_in_child();
    second_->close_in_child();
    const std::unique_ptr<JobLedger> own = JobLedger::join(name_);
    if (own && own->take(0, 70, 100)) raise(SIGKILL);
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_EQ(first_->used_bytes(0), 0u);
  EXPECT_TRUE(first_->take(0, 100, 100));
}

TEST_F(JobLedgerTest, AForkedChildDoesNotKeepItsParentAlive) {
  EXPECT_TRUE(second_->take(0, 70, 100));
  int line[2];
  ASSERT_EQ(pipe(line), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(line[1]);
    second_->close_in_child();
    char byte = 0;
    _exit(read(line[0], &byte, 1) == 0 ? 0 : 1);  // until the parent is through
  }
  close(line[0]);
  second_.reset();
  while (first_->used_bytes(0) != 0) usleep(1000);  // until the child got so far
  close(line[1]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(JobLedger, IsRefusedWhereThereIsNone) {
  EXPECT_EQ(JobLedger::join(""), nullptr);
  EXPECT_EQ(JobLedger::join("nonsense"), nullptr);
  EXPECT_EQ(JobLedger::join(std::to_string(getpid()) + ":1:12345"), nullptr);
  EXPECT_EQ(JobLedger::join("1:999999:1"), nullptr);
}

TEST(JobLedger, HasRoomForEveryMemberThatCanBe) {
  const int descriptor = JobLedger::create();
  const std::string name = JobLedger::name_of(descriptor);
  for (uint32_t i = 0; i < 3 * JobLedger::kMaxMembers; ++i) {
    const std::unique_ptr<JobLedger> member = JobLedger::join(name);
    ASSERT_NE(member, nullptr) << "lines of the dead are used again";
    ASSERT_TRUE(member->take(0, 100, 100));
  }
  close(descriptor);
}

}  // namespace
}  // namespace simgpu
