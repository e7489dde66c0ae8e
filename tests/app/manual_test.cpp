// Tests `trocar help COMMAND`, the version, the manual page and the completion of the shell.
#include <gtest/gtest.h>

#include "app/compare/backends.hpp"
#include "tests/app/run_program.hpp"

namespace trocar {
namespace {

class Manual : public Program {};

TEST_F(Manual, HelpOfACommandIsItsOwnHelp) {
  for (const std::string command : {"query", "mesh decimate", "meet"}) {
    const Outcome help = run("help " + command), own = run(command + " --help");
    EXPECT_EQ(help.status, 0);
    EXPECT_EQ(help.out, own.out);
    EXPECT_NE(help.out.find("trocar"), std::string::npos);
  }
  EXPECT_EQ(run("help").out, run("--help").out);
  expect_refused("help operate", "unknown command 'operate'");
}

TEST_F(Manual, TheVersionNamesTheBackends) {
  const std::string out = run("--version").out;
  for (const std::string& name : backend_names()) EXPECT_NE(out.find(name), std::string::npos) << name;
}

// groff reports what it does not understand on stderr.
TEST_F(Manual, TheManualPageNamesEveryCommandAndIsSoundRoff) {
  const Outcome page = run("--manual");
  ASSERT_EQ(page.status, 0);
  for (const char* text :
       {".TH TROCAR 1", ".SS \"query\"", ".SS \"mesh decimate\"", "\\-\\-trajectory", ".SH EXIT STATUS"})
    EXPECT_NE(page.out.find(text), std::string::npos) << text;
  EXPECT_EQ(page.out.find("\\-\\-only\\fR\n.TP"), std::string::npos);
  const std::string path = file("trocar.1", page.out), said = (folder_.path() / "said").string();
  ASSERT_EQ(
      std::system(("groff -man -Tascii -P-c -P-b -P-o -P-u -ww " + path + " > " + said + ".txt 2> " + said).c_str()),
      0);
  EXPECT_EQ(read_file(said), "");
  EXPECT_NE(read_file(said + ".txt").find("mesh decimate"), std::string::npos);
}

TEST_F(Manual, BashCompletesCommandsAndOptions) {
  const std::string script = file("completion", run("--completion").out);
  const auto completed = [&](const std::string& words, int number) {
    const std::string out = (folder_.path() / "words").string();
    const std::string line = "bash -c '. " + script + "; COMP_WORDS=(trocar " + words +
                             "); COMP_CWORD=" + std::to_string(number) + "; _trocar; echo \"${COMPREPLY[*]}\"' > " +
                             out;
    EXPECT_EQ(std::system(line.c_str()), 0);
    return read_file(out);
  };
  EXPECT_EQ(completed("rep", 1), "replay report\n");
  EXPECT_EQ(completed("query --tra", 2), "--trajectory\n");
  EXPECT_EQ(completed("mesh dec", 2), "decimate\n");
  EXPECT_EQ(completed("mesh decimate --fa", 3), "--faces\n");
}

}  // namespace
}  // namespace trocar
