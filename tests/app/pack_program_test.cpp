// Tests trocar pack and trocar unpack as a user runs them: a performed task in both forms, read by other commands and
// by h5py, and what they refuse.
#include <gtest/gtest.h>

#include "tests/app/run_program.hpp"

namespace trocar {
namespace {

class PackProgram : public Program {
 protected:
  PackProgram() {
    const std::string scene = (repository_file("tests/recordings") / "ball_bands.toml").string();
    EXPECT_EQ(run("perform " + scene + " --as clumsy --seed 7 --backend scan -o " + at("full.h5")).status, 0);
  }
  std::string at(const std::string& name) const { return (folder_.path() / name).string(); }
  std::uintmax_t size(const std::string& name) const { return std::filesystem::file_size(at(name)); }
  void expect_done(const std::string& arguments) {
    const Outcome outcome = run(arguments);
    ASSERT_EQ(outcome.status, 0) << arguments << "\n" << outcome.err;
  }
};

TEST_F(PackProgram, OtherCommandsReadAPackedRecording) {
  expect_done("pack " + at("full.h5") + " -o " + at("packed.h5"));
  EXPECT_NE(run("replay " + at("packed.h5")).out.find(" 0 frames differ"), std::string::npos);
  expect_done("score " + at("full.h5") + " --csv " + at("a.csv"));
  expect_done("score " + at("packed.h5") + " --csv " + at("b.csv"));
  std::string of_packed = read_file(at("b.csv"));
  for (std::size_t place; (place = of_packed.find("packed.h5")) != std::string::npos;)
    of_packed.replace(place, 9, "full.h5");
  EXPECT_EQ(of_packed, read_file(at("a.csv")));
}

// The lines of docs/file-formats.md, for the whole recording.
TEST_F(PackProgram, H5pyReadsPackedNodes) {
  expect_done("pack " + at("full.h5") + " -o " + at("packed.h5"));
  const std::string script = file("look.py",
                                  "import sys, h5py, numpy as np\n"
                                  "full, packed = h5py.File(sys.argv[1]), h5py.File(sys.argv[2])\n"
                                  "for name, organ in packed['organs'].items():\n"
                                  "    for k in range(0, len(organ['packed_nodes']), 120):\n"
                                  "        z = organ['packed_nodes'][k:k + 120]\n"
                                  "        d = (z >> 1) ^ (0 - (z & 1))\n"
                                  "        nodes = d.cumsum(axis=0, dtype='u4').cumsum(axis=0, dtype='u4').view('f4')\n"
                                  "        assert np.array_equal(nodes, full['organs'][name]['nodes'][k:k + 120])\n");
  EXPECT_EQ(std::system(("/usr/bin/python3 " + script + " " + at("full.h5") + " " + at("packed.h5")).c_str()), 0);
}

TEST_F(PackProgram, ACompactRecordingIsUnpackedAndReplayed) {
  const Outcome outcome = run("pack " + at("full.h5") + " --compact -o " + at("compact.h5"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("MB a second"), std::string::npos) << outcome.out;
  EXPECT_LT(size("compact.h5") * 5, size("full.h5"));
  expect_done("unpack " + at("compact.h5") + " -o " + at("again.h5"));
  EXPECT_NE(run("replay " + at("again.h5")).out.find(" 0 frames differ"), std::string::npos);
  for (const char* command : {"replay ", "score "}) {
    const Outcome refused = run(command + at("compact.h5"));
    EXPECT_EQ(refused.status, 2);
    EXPECT_NE(refused.err.find("trocar unpack"), std::string::npos) << refused.err;
  }
}

TEST_F(PackProgram, AFullDiskKeepsTheOldRecording) {
  expect_done("pack " + at("full.h5") + " --compact -o " + at("compact.h5"));
  std::filesystem::copy_file(at("full.h5"), at("old.h5"));
  const std::string before = read_file(at("old.h5"));
  for (const std::string& command :
       {"pack " + at("full.h5"), "pack " + at("full.h5") + " --compact", "unpack " + at("compact.h5")}) {
    const Outcome outcome = run(command + " --force -o " + at("old.h5"), "ulimit -f 64;");
    EXPECT_EQ(outcome.status, 1) << command << outcome.out;
    EXPECT_NE(outcome.err.find("old.h5: the file could not be written (File too large)"), std::string::npos)
        << outcome.err;
    EXPECT_EQ(read_file(at("old.h5")), before) << command;
    EXPECT_FALSE(std::filesystem::exists(at("old.h5.partial"))) << command;
  }
}

TEST_F(PackProgram, PacksInPlaceUnderTheSameName) {
  std::filesystem::copy_file(at("full.h5"), at("kept.h5"));
  const Outcome outcome = run("pack " + at("full.h5") + " --replace");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_LT(size("full.h5") * 2, size("kept.h5"));
  expect_no_partial_file();
  expect_done("unpack " + at("full.h5") + " -o " + at("again.h5"));
  EXPECT_NE(run("replay " + at("full.h5")).out.find(" 0 frames differ"), std::string::npos);
  expect_refused("pack " + at("full.h5") + " --replace", "is a packed recording");
  expect_refused("pack " + at("again.h5"), "-o OUT, or --replace");
  expect_refused("pack " + at("again.h5") + " --replace --compact", "--compact and --replace");
  // The recording is a demonstration, so a folder does not pack it.
  const Outcome folder = run("pack " + folder_.path().string() + " --replace");
  EXPECT_EQ(folder.status, 0) << folder.err;
  EXPECT_EQ(folder.out, "");
  EXPECT_EQ(std::system(("h5diff -q " + at("again.h5") + " " + at("kept.h5") + " /organs").c_str()), 0);
}

TEST_F(PackProgram, OlderRecordingsArePackedInPlace) {
  for (const auto& kept : std::filesystem::directory_iterator(repository_file("tests/recordings"))) {
    if (kept.path().extension() != ".gz") continue;
    const std::string old = at(kept.path().stem().string());
    ASSERT_EQ(std::system(("gzip -dc " + kept.path().string() + " > " + old).c_str()), 0);
    expect_done("pack " + old + " --replace");
    EXPECT_NE(run("replay " + old).out.find(" 0 frames differ"), std::string::npos) << old;
  }
}

TEST_F(PackProgram, AFullDiskLeavesTheFullRecordingInPlace) {
  const std::string before = read_file(at("full.h5"));
  const Outcome outcome = run("pack " + at("full.h5") + " --replace", "ulimit -f 64;");
  EXPECT_EQ(outcome.status, 1) << outcome.out;
  EXPECT_NE(outcome.err.find("full.h5: is not packed: the file could not be written (File too large)"),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(read_file(at("full.h5")), before);
  expect_no_partial_file();
}

TEST_F(PackProgram, RefusesWhatItCannotRewrite) {
  const std::string full = at("full.h5"), old = at("old.h5");
  expect_refused("pack " + full + " -o " + full, "--out is also read");
  expect_refused("pack " + mesh_ + " -o " + at("out.csv"), "is not a recording");
  expect_refused("unpack " + full + " -o " + at("out.csv"), "is a full recording already");
  expect_refused("pack " + full + " -o " + mesh_, "add --force");
  expect_refused("pack " + full + " --force -o " + mesh_, "is not overwritten");
  const std::string kept = (repository_file("tests/recordings") / "format-2.4.h5.gz").string();
  ASSERT_EQ(std::system(("gzip -dc " + kept + " > " + old).c_str()), 0);
  expect_refused("pack " + old + " --compact -o " + at("out.csv"), "version 5 of the tissue model");
  expect_done("pack " + old + " -o " + at("packed.h5"));  // every format has a packed form
  EXPECT_NE(run("replay " + at("packed.h5")).out.find(" 0 frames differ"), std::string::npos);
}

}  // namespace
}  // namespace trocar
