// Tests that no form of a password in a database's address reaches a message, and which addresses are refused.
#include "app/lab/lab_address.hpp"

#include "geometry/error.hpp"
#include "tests/app/run_program.hpp"

namespace trocar {
namespace {

// Every form in which a user may write the password SECRET. None of the servers exists.
constexpr const char* kPasswords[] = {
    "postgresql://u:SECRET@127.0.0.1:1/lab",
    "postgres://u:SECRET@127.0.0.1:1/lab",
    "postgresql://u:pa@SECRET@127.0.0.1:1/lab",
    "postgresql://u:pa/SECRET@127.0.0.1:1/lab",
    "postgresql://u:pa:SECRET@127.0.0.1:1/lab",
    "postgresql://u:pa?SECRET@127.0.0.1:1/lab",
    "postgresql://u:pa#SECRET@127.0.0.1:1/lab",
    "postgresql://u:12/SECRET@127.0.0.1:1/lab",
    "postgresql://u:SECRET/lab",
    "postgresql://u:SECRET",
    "postgresql://u:%53ECRET@127.0.0.1:1/lab",
    "postgresql://u:SECRET%zz@127.0.0.1:1/lab",
    "postgresql://u:SECRET space@127.0.0.1:1/lab",
    "postgresql://127.0.0.1:1/lab?user=u&password=SECRET",
    "postgresql:///lab?host=127.0.0.1&port=1&password=SECRET",
    "postgresql://127.0.0.1:1/lab?password=a@SECRET",
    "postgresql://127.0.0.1:1/lab?sslpassword=SECRET",
    "postgresql://127.0.0.1:1/lab?%70assword=SECRET",
    "postgresql://127.0.0.1:1/lab?PASSWORD=SECRET",
    "postgresql://u:SECRET@127.0.0.1:1/lab?fly=1",
    "POSTGRESQL://u:SECRET@127.0.0.1:1/lab",
    "postgresql:u:SECRET@127.0.0.1:1/lab",
    "postgresql:/u:SECRET@127.0.0.1:1/lab",
    " postgresql://u:SECRET@127.0.0.1:1/lab",
    "mysql://u:SECRET@h/lab",
    "u:SECRET@127.0.0.1/lab",
    "host=127.0.0.1 password=SECRET dbname=lab",
    "password=SECRET host=127.0.0.1",
    "HOST=127.0.0.1 PASSWORD=SECRET dbname=lab",
    "host = 127.0.0.1 password = SECRET",
    "dbname=lab password='SECRET'",
    "sqlite:host=127.0.0.1 password=SECRET",
    "host=127.0.0.1\tpassword=SECRET",
    "user=u sslpassword=SECRET",
};

TEST(LabAddressForms, NoFormOfAPasswordIsShown) {
  for (const std::string address : kPasswords) {
    std::string shown = without_password(address);
    EXPECT_EQ(shown.find("ECRET"), std::string::npos) << address << " -> " << shown;
    try {
      const LabAddress read = lab_address(address);
      EXPECT_EQ(read.engine, LabEngine::Postgresql) << address << " would be a file";
      server_parameters(address);
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).find("ECRET"), std::string::npos) << error.what();
    }
  }
}

TEST(LabAddressForms, AnAddressIsShownWithoutItsPassword) {
  EXPECT_EQ(without_password("postgresql://ann:x@server:5433/lab?sslmode=require"), "postgresql://ann@server:5433/lab");
  EXPECT_EQ(without_password("postgresql://ann@server/lab"), "postgresql://ann@server/lab");
  EXPECT_EQ(without_password("postgresql://lab@%2Ftmp%2Fpg/lab"), "postgresql://lab@%2Ftmp%2Fpg/lab");
  EXPECT_EQ(without_password("postgresql://[::1]:5432/lab"), "postgresql://::1:5432/lab");
  EXPECT_EQ(without_password("/home/ann/lab.sqlite"), "/home/ann/lab.sqlite");
  EXPECT_EQ(without_password("lab 2026.sqlite"), "lab 2026.sqlite");
  EXPECT_EQ(without_passwords("option --x postgres://a:b@c/d is unknown"), "option --x postgresql://a@c/d is unknown");
}

TEST(LabAddressForms, EveryWaitForAServerHasALimit) {
  const std::string usual = server_parameters("postgresql://a@b/c").text;
  for (const char* limit : {"connect_timeout=5", "tcp_user_timeout=10000", "keepalives_idle=10"})
    EXPECT_NE(usual.find(limit), std::string::npos) << usual;
  for (const char* given : {"0", "100000", "-1", "x"})
    EXPECT_EQ(server_parameters(std::string("postgresql://a@b/c?connect_timeout=") + given)
                  .text.find(std::string("connect_timeout=") + given),
              std::string::npos);
}

class LabAddressProgram : public Program {};

TEST_F(LabAddressProgram, NoCommandPrintsAPassword) {
  const std::string environment = "XDG_DATA_HOME=" + (folder_.path() / "data").string() +
                                  " XDG_CONFIG_HOME=" + (folder_.path() / "config").string();
  for (std::size_t k = 0; k < std::size(kPasswords); ++k) {
    const std::string address = kPasswords[k];
    const std::string file = folder_.write("address", address).string();
    for (const char* arguments : {"lab --database \"$(cat F)\" list", "lab --database \"$(cat F)\"",
                                  "lab --databases \"$(cat F)\" list", "lab list x \"$(cat F)\""}) {
      std::string line = arguments;
      if (k % 5 != 0 && line != "lab --database \"$(cat F)\" list") continue;
      line.replace(line.find('F'), 1, file);
      const Outcome outcome = run(line, environment);
      EXPECT_NE(outcome.status, 0) << line << address;
      const bool option = std::string(arguments).find("--database ") != std::string::npos;
      const std::string printed = outcome.out + outcome.err;
      if (option || address.starts_with("postgres")) {
        EXPECT_EQ(printed.find("ECRET"), std::string::npos) << address << ": " << printed;
      }
      EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    }
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "config"));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path()))
    EXPECT_EQ(entry.path().string().find("SECRET"), std::string::npos);
}

}  // namespace
}  // namespace trocar
