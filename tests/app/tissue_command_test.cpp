// Tests trocar tissue: curves, fields and materials that it writes, and what it refuses.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/app/run_program.hpp"

namespace trocar {
namespace {

class TissueCommand : public Program {
 protected:
  std::string at(const char* name) const { return (folder_.path() / name).string(); }
  static constexpr const char* kSmall = "--diameter 20 --height 12 --spacing 4 ";
};

TEST_F(TissueCommand, PressesACylinderAndWritesItsCurve) {
  const Outcome done = run("tissue test " + std::string(kSmall) + "--modulus 10 --to 0.2 --steps 2 --reference -o " +
                           at("curve.csv") + " --plot " + at("p.svg") + " --field " + at("f.csv"));
  ASSERT_EQ(done.status, 0) << done.err;
  std::istringstream rows(read_file(at("curve.csv")));
  std::string header, first, second;
  std::getline(rows, header), std::getline(rows, first), std::getline(rows, second);
  EXPECT_EQ(header, "strain,force_n,reference");
  EXPECT_EQ(first.substr(0, 4), "0.1,");
  EXPECT_EQ(second.substr(0, 4), "0.2,");
  EXPECT_NEAR(std::stod(first.substr(4)), 10e3 * 3.1416e-4 * 0.1 * 1.07, 0.03);
  EXPECT_NE(read_file(at("p.svg")).find("Material test: "), std::string::npos);
  EXPECT_EQ(read_file(at("f.csv")).substr(0, 15), "x_mm,y_mm,z_mm,");
  const Outcome again = run("tissue test " + std::string(kSmall) + "--steps 1 -o " + at("curve.csv"));
  EXPECT_EQ(again.status, 2);
  EXPECT_EQ(read_file(at("curve.csv")).substr(0, 24), "strain,force_n,reference");
}

TEST_F(TissueCommand, FitsAMaterialThatATestReads) {
  const std::string data = folder_.write("data.csv", "strain,force_n\n0.1,0.34\n0.2,0.77\n0.3,1.4\n").string();
  const Outcome fitted = run("tissue fit " + data + " " + kSmall + "-o " + at("m.toml"));
  ASSERT_EQ(fitted.status, 0) << fitted.err;
  EXPECT_NE(read_file(at("m.toml")).find("law = \"rising\"\nyoungs_modulus = "), std::string::npos);
  const Outcome pressed = run("tissue test " + std::string(kSmall) + "--to 0.2 --steps 2 --material " + at("m.toml") +
                              " -o " + at("c.csv"));
  ASSERT_EQ(pressed.status, 0) << pressed.err;
  const std::string curve = read_file(at("c.csv"));
  EXPECT_NEAR(std::stod(curve.substr(curve.find("\n0.2,") + 5)), 0.77, 0.08);
}

// The silicones of abubakardawood/tissue-phantom-material-database, on a coarse lattice: rows that are not fitted lie
// within 10 % or one standard deviation too.
TEST_F(TissueCommand, ReproducesMeasuredSilicones) {
  const auto file = shared_file("tissue/silicone_cylinders.json");
  if (!file) GTEST_SKIP() << "no shared test data";
  const auto data = nlohmann::json::parse(read_file(*file));
  for (const auto& [name, plates] : {std::pair("EF10_100T", "--slip"), {"EF10_50T", "--stick"}}) {
    const auto& material = data["materials"][name];
    std::string curve = "strain,force_n,sd_n\n";
    for (std::size_t i = 0; i < data["compression"].size(); ++i)
      curve += fmt::format("{},{},{}\n", data["compression"][i].get<double>(), material["mean_N"][i].get<double>(),
                           material["sd_N"][i].get<double>());
    const Outcome fitted = run(fmt::format("tissue fit {} --every 2 --spacing 7.5 {} --force -o {}",
                                           folder_.write("s.csv", curve).string(), plates, at("s.toml")));
    ASSERT_EQ(fitted.status, 0) << fitted.err;
    const std::string before = "largest error from 0.05 on ";
    const std::size_t found = fitted.out.find(before);
    ASSERT_NE(found, std::string::npos) << fitted.out;
    EXPECT_LT(std::stod(fitted.out.substr(found + before.size())), 1.0) << fitted.out;
  }
}

TEST_F(TissueCommand, RefusesWrongInputInOneSentence) {
  const std::string out = " -o " + at("out.csv");
  expect_refused("tissue test --shape ball" + out, "ball");
  expect_refused("tissue test --shape mesh" + out, "--mesh");
  expect_refused("tissue test --to 0.9" + out, "0.8");
  expect_refused("tissue test --modulus nan" + out, "nan");
  expect_refused("tissue test --slip --stick" + out, "--slip");
  expect_refused("tissue test --twist 20 --slip" + out, "--twist");
  expect_refused("tissue test --gravity --ball 5" + out, "--gravity");
  expect_refused("tissue test --twist 20 --ball 5" + out, "--ball");
  expect_refused("tissue test --gravity --pull" + out, "--pull");
  expect_refused("tissue test --spacing 900" + out, "spacing");
  const auto fit = [&](const char* text, const char* part, const char* more = "") {
    const std::string data = folder_.write("d.csv", text).string();
    expect_refused("tissue fit " + data + " " + kSmall + more + out, part);
  };
  fit("strain:force_n\n0.1:1\n", "d.csv:1: the header must be strain,force_n");
  fit("strain,force_n\n0.1,x\n", "d.csv:2: 'x' in");
  fit("strain,force_n\n0.1\n", "d.csv:2: the row has 1 value");
  fit("strain,force_n\n0,0\n", "d.csv:2: strain and force must be above 0");
  fit("strain,force_n\n0.2,1\n0.1,2\n", "d.csv:3: the strain is not larger");
  fit("strain,force_n\n0.1,1\n0.9,2\n", "d.csv:3: a strain of 0.9");
  fit("strain,force_n\n", "no rows");
  fit("strain,force_n\n0.1,1\n0.2,2\n", "1 of its rows", "--up-to 0.1 ");
  const std::string material = folder_.write("bad.toml", "law = \"foam\"\n").string();
  expect_refused("tissue test --material " + material + out, "bad.toml:1: law: must be springs or rising");
}

}  // namespace
}  // namespace trocar
