// Tests what the library learns from the database beside its pictures: the newest question counts, a database that
// fails is a sentence, and one that never answers is never waited for.
#include "app/window/screens/library_screen.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "tests/support/temporary_folder.hpp"

namespace trocar {
namespace {

// A server that takes connections and never says a word.
class SilentServer {
 public:
  SilentServer() : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(socket_, reinterpret_cast<sockaddr*>(&address), size);
    listen(socket_, 8);
    getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    address_ = "postgresql://user@127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/lab?connect_timeout=600";
  }
  ~SilentServer() { close(socket_); }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;
  const std::string& address() const { return address_; }

 private:
  int socket_;
  std::string address_;
};

class LibraryDeskTest : public ::testing::Test {
 protected:
  LabStation station(const std::string& database = {}) const {
    return LabStation({folder_.path() / "lab.sqlite", folder_.path() / "waiting", folder_.path() / "lab.toml"},
                      database);
  }
  static LabAttempt attempt(const std::string& person, double started, double score) {
    LabAttempt attempt;
    attempt.key = new_attempt_key();
    attempt.person = person, attempt.scene = "x", attempt.started = started, attempt.score = score;
    attempt.ending = "done";
    return attempt;
  }
  static void wait(LibraryDesk& desk) {
    for (int k = 0; k < 60000 && desk.asking(); ++k) {
      desk.step(0.001);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ASSERT_FALSE(desk.asking());
  }

  TemporaryFolder folder_;
};

TEST_F(LibraryDeskTest, AnEmptyDatabaseHasNoPeople) {
  LibraryDesk desk(station());
  desk.ask({});
  wait(desk);
  EXPECT_EQ(desk.fault(), "");
  EXPECT_EQ(desk.answers(), 1u);
  EXPECT_TRUE(desk.answer().people.empty());
  EXPECT_EQ(desk.answer().question.person, "");
}

TEST_F(LibraryDeskTest, TheFirstOneFoundIsSelectedAndOthersAreCompared) {
  {
    LabDatabase lab = station().open_to_write();
    lab.add_attempt(attempt("zoe", 1.0, 50.0));
    lab.add_attempt(attempt("zoe", 2.0, 60.0));
    lab.add_attempt(attempt("li", 3.0, 70.0));
  }
  LibraryDesk desk(station());
  desk.ask({});
  wait(desk);
  EXPECT_EQ(desk.answer().question.person, "li") << "the latest attempt";
  EXPECT_TRUE(desk.answer().curves.empty());
  desk.ask({.person = "zoe", .scene = "x", .level = 1, .compared = {"li", "zoe"}});
  wait(desk);
  EXPECT_EQ(desk.answer().attempts.size(), 2u);
  ASSERT_EQ(desk.answer().curves.size(), 2u);
  EXPECT_EQ(desk.answer().curves[0].scores, (std::vector<double>{50.0, 60.0}));
  EXPECT_EQ(desk.answer().curves[1].person, "li");
}

TEST_F(LibraryDeskTest, OnlyTheLastLetterIsSearchedFor) {
  station().open_to_write().add_person({"zoe", "", 1.0});
  LibraryDesk desk(station());
  for (const char* part : {"z", "zo", "zox"}) {
    desk.ask({.part = part}, 0.25);
    desk.step(0.1);
  }
  EXPECT_EQ(desk.answers(), 0u);
  wait(desk);
  EXPECT_EQ(desk.answers(), 1u) << "one question for three letters";
  EXPECT_EQ(desk.answer().question.part, "zox");
  EXPECT_TRUE(desk.answer().people.empty());
}

TEST_F(LibraryDeskTest, AFailingDatabaseIsASentenceAndCanBeAskedAgain) {
  station().open_to_write().add_person({"zoe", "", 1.0});
  LibraryDesk desk(station());
  desk.ask({});
  wait(desk);
  ASSERT_EQ(desk.fault(), "");
  const std::string path = (folder_.path() / "lab.sqlite").string();
  const auto good = path + ".good";
  for (const char* ending : {"", "-wal", "-shm"}) {
    std::error_code none;
    std::filesystem::rename(path + ending, good + ending, none);
  }
  std::ofstream(path) << std::string(5000, '?');
  LibraryDesk other(station());
  other.ask({});
  wait(other);
  EXPECT_NE(other.fault(), "");
  std::filesystem::rename(good, path);
  other.ask_again();
  wait(other);
  EXPECT_EQ(other.fault(), "");
  EXPECT_EQ(other.answer().people.size(), 1u);
}

TEST_F(LibraryDeskTest, AServerThatNeverAnswersIsNeverWaitedFor) {
  const SilentServer server;
  {
    LibraryDesk desk(station(server.address()));
    desk.ask({});
    for (int k = 0; k < 100; ++k) desk.step(0.01);
    desk.ask({.part = "z"}, 0.25);
    for (int k = 0; k < 100; ++k) desk.step(0.01);
    EXPECT_TRUE(desk.asking());
  }  // would wait here for ten minutes
}

}  // namespace
}  // namespace trocar
