// Runs the program as a user does, and keeps its exit status and its output.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_data.hpp"

namespace trocar {

struct Outcome {
  int status = -1;
  std::string out, err;
};

inline constexpr const char* kTriangle = "v 0 0 0\nv 100 0 0\nv 0 100 0\nv 0 0 100\nf 1 2 3\nf 1 2 4\n";
inline constexpr const char* kHeader = "t,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z\n";
inline constexpr const char* kTrajectory =
    "t,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z\n0,20,20,80,20,20,10\n0.1,20,20,80,20,20,-5\n";

class Program : public ::testing::Test {
 protected:
  Program() : mesh_(folder_.write("m.obj", kTriangle)), trajectory_(folder_.write("t.csv", kTrajectory)) {}

  // In a folder of the test, where a file of a wrong name does no harm.
  Outcome run(const std::string& arguments, const std::string& environment = "") {
    const auto out = folder_.path() / "stdout", err = folder_.path() / "stderr";
    const std::string line = "cd " + folder_.path().string() + " && " + environment + " " + TROCAR_PROGRAM + " " +
                             arguments + " >" + out.string() + " 2>" + err.string() + " </dev/null";
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out), read_file(err)};
  }

  std::string query(const std::string& mesh, const std::string& trajectory, const std::string& radius,
                    const std::string& more = "--backend scan") {
    return "query --mesh " + mesh + " --trajectory " + trajectory + " --radius " + radius + " --out " +
           (folder_.path() / "out.csv").string() + " --force " + more;
  }

  // Expects one sentence on stderr, status 2 and no output file.
  void expect_refused(const std::string& arguments, const std::string& part) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments << "\n" << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << arguments << "\n" << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "out.csv"));
    expect_no_partial_file();
  }

  void expect_no_partial_file() {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path()))
      EXPECT_EQ(entry.path().string().find(".trocar-"), std::string::npos) << entry.path();
  }

  static std::string data(const char* relative) { return repository_file("data") / relative; }

  std::string at(const std::string& name) const { return (folder_.path() / name).string(); }

  std::string file(const std::string& name, const std::string& content) {
    return folder_.write(name, content).string();
  }

  TemporaryFolder folder_;
  std::string mesh_, trajectory_;
};

// trocar lab, with the station's files in the test's folder.
class LabUser : public Program {
 protected:
  std::string lab_folders() const {
    return "XDG_DATA_HOME='" + at("data") + "' XDG_CONFIG_HOME='" + at("config") + "'";
  }
  Outcome lab(const std::string& arguments, const std::string& more = "") {
    return run("lab " + arguments, lab_folders() + " " + more);
  }
  // Expects one sentence on stderr.
  Outcome expect_sentence(const std::string& arguments, const std::string& part, int status = 2,
                          const std::string& more = "") {
    Outcome outcome = lab(arguments, more);
    EXPECT_EQ(outcome.status, status) << arguments << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << arguments << ": " << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    return outcome;
  }
};

}  // namespace trocar
