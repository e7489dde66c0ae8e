// Tests jobs beside a caller that never waits: their order, their priority, and that they end with the caller, also
// when it is killed.
#include "app/window/program.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

using namespace std::chrono_literals;

class BackgroundJobsTest : public ::testing::Test {
 protected:
  std::string at(const char* name) const { return (folder_.path() / name).string(); }
  static void finish(BackgroundJobs& jobs) {
    while (jobs.busy()) {
      jobs.step();
      std::this_thread::sleep_for(1ms);
    }
  }
  // A job that notes its process and then waits for a minute.
  BackgroundJobs::Job long_job() const { return {"-c", "echo $$ >" + at("process") + "; exec sleep 60"}; }
  pid_t process_of_long_job() const {
    std::string text;
    while (!text.ends_with('\n')) {
      std::this_thread::sleep_for(1ms);
      text = std::filesystem::exists(at("process")) ? read_file(at("process")) : "";
    }
    return std::stoi(text);
  }
  // Whether the process ends; a zombie has ended.
  static bool ends(pid_t process) {
    for (int k = 0; k < 5000; ++k, std::this_thread::sleep_for(1ms)) {
      const std::string stat = "/proc/" + std::to_string(process) + "/stat";
      if (!std::filesystem::exists(stat) || read_file(stat).find(") Z ") != std::string::npos) return true;
    }
    return false;
  }

  TemporaryFolder folder_;
};

TEST_F(BackgroundJobsTest, RunOneAfterTheOtherAtTheLowestPriority) {
  BackgroundJobs jobs("/bin/sh");
  EXPECT_FALSE(jobs.busy());
  jobs.step();  // without a job
  for (const char* name : {"a", "b", "a"})
    jobs.add({"-c", std::string("nice >>") + at("out") + "; echo " + name + " >>" + at("out")});
  finish(jobs);
  EXPECT_EQ(read_file(at("out")), "19\na\n19\nb\n");
}

TEST_F(BackgroundJobsTest, AProgramThatIsNotThereDoesNoHarm) {
  BackgroundJobs jobs(at("nothing"));
  jobs.add({"x"});
  finish(jobs);
}

TEST_F(BackgroundJobsTest, EndWithTheirCaller) {
  const auto begin = std::chrono::steady_clock::now();
  pid_t process = 0;
  {
    BackgroundJobs jobs("/bin/sh");
    jobs.add(long_job());
    jobs.step();
    process = process_of_long_job();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
  EXPECT_TRUE(ends(process));
}

TEST_F(BackgroundJobsTest, EndWithACallerThatIsKilled) {
  const pid_t caller = fork();
  if (caller == 0) {
    BackgroundJobs jobs("/bin/sh");
    jobs.add(long_job());
    jobs.step();
    for (;;) pause();
  }
  const pid_t process = process_of_long_job();
  kill(caller, SIGKILL);
  waitpid(caller, nullptr, 0);
  EXPECT_TRUE(ends(process));
}

}  // namespace
}  // namespace trocar
