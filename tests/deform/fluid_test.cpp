// Tests sources of blood and bile against closed forms (the integral of the flow for any length of step, what stops a
// source), and the film of fluid on a surface: no fluid is lost or made.
#include "deform/fluid/bleeding.hpp"

#include "deform/contact/contact.hpp"
#include "deform/fluid/fluid_film.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/test.hpp"

namespace trocar {
namespace {

BleedSource blood(double rate, double half_time) {
  return {0, 0, BleedKind::Surface, BleedState::Flows, rate, half_time, 0.0};
}
BleedSource bile(double rate) { return {0, 0, BleedKind::Perforation, BleedState::Flows, rate, 0.0, 0.0}; }

TEST(Bleeding, DegenerateSourcesLoseNothing) {
  double left = 0.0;
  BleedSource none = blood(0.0, 60.0);
  EXPECT_EQ(bleed(none, {}, 1.0, left), 0.0);
  BleedSource no_time = blood(1e-6, 60.0);
  EXPECT_EQ(bleed(no_time, {}, 0.0, left), 0.0);
  EXPECT_EQ(no_time.state, BleedState::Flows);
  BleedSource empty = bile(1e-6);
  EXPECT_EQ(bleed(empty, {}, 1.0, left), 0.0);
  EXPECT_EQ(empty.state, BleedState::Stopped);
  EXPECT_EQ(left, 0.0);
  BleedSource done = blood(1e-6, 60.0);
  done.state = BleedState::Coagulated;
  EXPECT_EQ(bleed(done, {}, 1.0, left), 0.0);
}

// The loss up to time t is rate tau (1 - exp(-t / tau)) with tau = half time / ln 2, in steps of any length.
TEST(Bleeding, TheLossIsTheIntegralOfTheFlow) {
  constexpr std::uint32_t kSeed = 3;
  std::mt19937 random(kSeed);
  const auto uniform = [&](double low, double high) { return low + (high - low) * double(random()) / 4294967296.0; };
  for (int k = 0; k < 50; ++k) {
    BleedSource source = blood(uniform(1e-9, 1e-6), uniform(5.0, 500.0));
    const double tau = source.half_time / std::log(2.0), rate = source.rate,
                 until = uniform(0.1, 4.0) * source.half_time;
    double lost = 0.0, time = 0.0, left = 0.0;
    while (time < until) {
      const double dt = std::min(uniform(0.001, 0.3), until - time);
      lost += bleed(source, {}, dt, left);
      time += dt;
    }
    EXPECT_NEAR(lost / (rate * tau * (1.0 - std::exp(-until / tau))), 1.0, 1e-10)
        << "seed " << kSeed << ", source " << k;
    EXPECT_NEAR(flow_of(source) / (rate * std::exp(-until / tau)), 1.0, 1e-10);
  }
}

TEST(Bleeding, WithoutClottingTheFlowIsEven) {
  BleedSource source = blood(2e-6, 0.0);
  double lost = 0.0, left = 0.0;
  for (int k = 0; k < 100; ++k) lost += bleed(source, {}, 0.5, left);
  EXPECT_NEAR(lost, 100e-6, 1e-16);
  EXPECT_EQ(source.state, BleedState::Flows);
}

// A vessel flows with the pulse: the mean over a step is the integral of the flow, and over whole beats it is 1; it
// never stops by itself.
TEST(Bleeding, AVesselFlowsWithThePulse) {
  const double beat = 1.0 / kPulse;
  EXPECT_NEAR(mean_beat(7.3, beat), 1.0, 1e-12);
  double lowest = 2.0, highest = 0.0;
  for (int k = 0; k < 100; ++k) {
    const double time = 0.05 * k, dt = 1.0 / 60.0;
    double sum = 0.0;
    constexpr int kParts = 1000;
    for (int part = 0; part < kParts; ++part) sum += beat_at(time - dt + dt * (part + 0.5) / kParts) / kParts;
    EXPECT_NEAR(mean_beat(time, dt), sum, 1e-7);
    lowest = std::min(lowest, beat_at(time)), highest = std::max(highest, beat_at(time));
  }
  EXPECT_GT(lowest, 0.0);
  EXPECT_GT(highest, 3.0 * lowest);
  BleedSource source{0, 0, BleedKind::Vessel, BleedState::Flows, 1e-6, VesselParams{}.half_time, 0.0};
  double left = 0.0, lost = 0.0;
  constexpr int kSteps = 1200;
  for (int k = 1; k <= kSteps; ++k) {
    const double dt = 600.0 * beat / kSteps;
    lost += bleed(source, {.beat = mean_beat(dt * k, dt)}, dt, left);
  }
  EXPECT_NEAR(lost / (1e-6 * 600.0 * beat), 1.0, 1e-9);
  EXPECT_EQ(source.state, BleedState::Flows);
}

// The flow ends when 1/64 of it is left, after six half times.
TEST(Bleeding, AClottedSourceStops) {
  BleedSource source = blood(1e-6, 10.0);
  double left = 0.0, time = 0.0;
  for (; !source.done() && time < 100.0; time += 0.1) bleed(source, {}, 0.1, left);
  EXPECT_EQ(source.state, BleedState::Stopped);
  EXPECT_NEAR(time, 60.0, 0.2);
  EXPECT_EQ(flow_of(source), 0.0);
}

TEST(Bleeding, PressureStopsASourceAndItClotsFaster) {
  BleedSource source = blood(1e-6, 10.0);
  double left = 0.0;
  EXPECT_EQ(bleed(source, {false, false, true}, 5.0, left), 0.0);
  EXPECT_EQ(source.state, BleedState::Pressed);
  bleed(source, {}, 1e-9, left);
  EXPECT_EQ(source.state, BleedState::Flows);
  EXPECT_NEAR(flow_of(source), 1e-6 / std::exp2(kPressedClotting * 0.5), 1e-15);
}

TEST(Bleeding, AClipStopsASourceAsLongAsItHolds) {
  BleedSource source = blood(1e-6, 10.0);
  double left = 0.0;
  EXPECT_EQ(bleed(source, {false, true, false}, 100.0, left), 0.0);
  EXPECT_EQ(source.state, BleedState::Closed);
  bleed(source, {}, 1e-9, left);
  EXPECT_NEAR(flow_of(source), 1e-6, 1e-15) << "the clip came off";
}

TEST(Bleeding, CoagulationStopsBloodForGoodAndNotBile) {
  double left = 1.0;
  BleedSource vessel = blood(1e-6, 10.0), hole = bile(1e-6);
  for (BleedSource* source : {&vessel, &hole}) bleed(*source, {true, false, false}, 1.0, left);
  EXPECT_EQ(vessel.state, BleedState::Coagulated);
  EXPECT_EQ(bleed(vessel, {}, 1.0, left), 0.0);
  EXPECT_EQ(hole.state, BleedState::Flows);
}

// Two holes share one content; the bile that flows out and the remaining bile make up the content.
TEST(Bleeding, BileFlowsUntilItsOrganIsEmpty) {
  constexpr double kContent = 30e-6;
  BleedSource first = bile(1e-6), second = bile(2e-6);
  double left = kContent, lost = 0.0, time = 0.0;
  for (; !(first.done() && second.done()) && time < 100.0; time += 0.01) {
    lost += bleed(first, {}, 0.01, left);
    lost += bleed(second, {}, 0.01, left);
    EXPECT_NEAR(lost + left, kContent, 1e-16);
  }
  EXPECT_EQ(left, 0.0);
  EXPECT_NEAR(lost, kContent, 1e-16);
  EXPECT_NEAR(time, 10.0, 0.03);
}

// Tests the film of fluid on a surface: degenerate calls first; no fluid is lost or made; it runs down, drips off a
// surface that faces down and levels in a hollow; the same calls give the same bits and allocate nothing.

constexpr double kStep = 1.0 / 60.0;  // s
constexpr double kMl = 1e-6;          // m^3

struct FilmOn {
  explicit FilmOn(TriangleMesh given)
      : mesh(std::move(given)), around(faces_around(mesh.faces, mesh.positions.size())) {
    follow_surface(film, mesh.positions.size(), {});
  }
  FilmSurface surface() const { return {mesh.positions, mesh.positions, mesh.faces, around}; }
  void run(int steps) {
    for (int k = 0; k < steps; ++k) add(run_down(film, surface(), kStep), dripped);
  }
  std::uint32_t highest() const {
    std::uint32_t best = 0;
    for (std::uint32_t v = 0; v < mesh.positions.size(); ++v)
      if (mesh.positions[v].z > mesh.positions[best].z) best = v;
    return best;
  }
  // Returns the mean height of the fluid, m.
  double height() const {
    double sum = 0.0, all = 0.0;
    for (const std::uint32_t v : film.wet) {
      sum += total(film.volume[v]) * static_cast<double>(mesh.positions[v].z);
      all += total(film.volume[v]);
    }
    return sum / all;
  }
  TriangleMesh mesh;
  FacesAround around;
  FluidFilm film;
  FilmVolume dripped{};
};

// A bowl of 40 mm radius that is open above: a paraboloid of 20 mm depth.
TriangleMesh bowl() {
  TriangleMesh mesh;
  constexpr int kSide = 31;
  for (int y = 0; y < kSide; ++y)
    for (int x = 0; x < kSide; ++x) {
      const float u = 0.08f * (static_cast<float>(x) / (kSide - 1) - 0.5f),
                  w = 0.08f * (static_cast<float>(y) / (kSide - 1) - 0.5f);
      mesh.positions.emplace_back(u, w, (u * u + w * w) * 12.5f);
    }
  for (std::uint32_t y = 0; y + 1 < kSide; ++y)
    for (std::uint32_t x = 0; x + 1 < kSide; ++x) {
      const std::uint32_t a = y * kSide + x;
      mesh.faces.emplace_back(a, a + 1, a + kSide + 1);
      mesh.faces.emplace_back(a, a + kSide + 1, a + kSide);
    }
  return mesh;
}

TEST(FluidFilm, NothingHappensWithoutFluidOrTime) {
  FilmOn ball(shapes::icosphere(2, 0.03f));
  ball.run(10);
  EXPECT_TRUE(ball.film.empty());
  pour(ball.film, 5, FilmFluid::Blood, 0.0);
  EXPECT_TRUE(ball.film.empty());
  EXPECT_EQ(total(take(ball.film, ball.mesh.positions, {}, 1.f, 1.0)), 0.0);
  pour(ball.film, 5, FilmFluid::Blood, kMl);
  EXPECT_EQ(total(run_down(ball.film, ball.surface(), 0.0)), 0.0);
  EXPECT_EQ(total(volume_of(ball.film)), kMl);
  EXPECT_EQ(thickness(ball.film, 1000000, FilmFluid::Blood), 0.f);
}

// What was poured is on the surface, was taken or has dripped off, for each fluid.
TEST(FluidFilm, NoFluidIsLostOrMade) {
  constexpr std::uint32_t kSeed = 11;
  std::mt19937 random(kSeed);
  FilmOn ball(shapes::icosphere(4, 0.03f));
  FilmVolume poured{}, taken{};
  for (int k = 0; k < 2000; ++k) {
    const auto vertex = static_cast<std::uint32_t>(random() % ball.mesh.positions.size());
    const std::size_t fluid = random() % 3;
    const double volume = 1e-8 * double(random() % 1000) / 1000.0;
    pour(ball.film, vertex, static_cast<FilmFluid>(fluid), volume);
    poured[fluid] += volume;
    ball.run(1);
    if (k % 50 == 0) add(take(ball.film, ball.mesh.positions, ball.mesh.positions[vertex], 0.01f, 2e-8), taken);
  }
  ball.run(500);
  const FilmVolume on = volume_of(ball.film);
  for (std::size_t k = 0; k < 3; ++k) {
    std::printf("poured %.4f ml: %.4f on the ball, %.4f dripped off, %.4f taken\n", poured[k] / kMl, on[k] / kMl,
                ball.dripped[k] / kMl, taken[k] / kMl);
    EXPECT_NEAR((on[k] + ball.dripped[k] + taken[k]) / poured[k], 1.0, 1e-11) << "seed " << kSeed;
    EXPECT_GT(taken[k], 0.0);
  }
  EXPECT_GT(total(ball.dripped), 0.0);
  for (const std::uint32_t v : ball.film.wet)
    for (const double volume : ball.film.volume[v]) EXPECT_GE(volume, 0.0);
}

TEST(FluidFilm, RunsDownAndDripsOff) {
  FilmOn ball(shapes::icosphere(4, 0.03f));
  pour(ball.film, ball.highest(), FilmFluid::Blood, 3.0 * kMl);
  double before = 0.031;
  for (int k = 0; k < 20 && total(ball.dripped) == 0.0; ++k) {
    ball.run(30);
    EXPECT_LT(ball.height(), before) << k;
    before = ball.height();
  }
  ball.run(3000);
  std::printf("after a minute %.2f ml on the ball, %.2f ml dripped off, %zu of %zu vertices wet\n",
              total(volume_of(ball.film)) / kMl, total(ball.dripped) / kMl, ball.film.wet.size(),
              ball.mesh.positions.size());
  EXPECT_GT(total(ball.dripped), 0.3 * kMl);
  EXPECT_GT(total(volume_of(ball.film)), 0.1 * kMl) << "a stain stays";
}

// 2 ml in a paraboloid z = a r^2 fill it to the height sqrt(2 a V / pi): 10 mm^2 x 12.5 / m.
TEST(FluidFilm, LevelsInAHollow) {
  FilmOn hollow(bowl());
  pour(hollow.film, 31 * 15 + 10, FilmFluid::Water, 2.0 * kMl);
  hollow.run(6000);
  EXPECT_EQ(total(hollow.dripped), 0.0);
  const double expected = std::sqrt(2.0 * 12.5 * 2.0 * kMl / 3.14159265358979);
  const auto bottom = 31u * 15u + 15u;
  const double level = static_cast<double>(thickness(hollow.film, bottom, FilmFluid::Water));
  std::printf("the fluid stands %.2f mm high, a level surface %.2f mm\n", 1e3 * level, 1e3 * expected);
  EXPECT_NEAR(level, expected, 0.15 * expected);
}

TEST(FluidFilm, TakesOnlyWhatIsNear) {
  FilmOn ball(shapes::icosphere(3, 0.03f));
  const std::uint32_t top = ball.highest();
  pour(ball.film, top, FilmFluid::Blood, 2.0 * kMl);
  EXPECT_EQ(total(take(ball.film, ball.mesh.positions, {0.f, 0.f, -0.03f}, 0.01f, kMl)), 0.0);
  EXPECT_NEAR(total(take(ball.film, ball.mesh.positions, ball.mesh.positions[top], 0.01f, kMl)), kMl, 1e-18);
  EXPECT_NEAR(total(take(ball.film, ball.mesh.positions, ball.mesh.positions[top], 0.01f, 5.0 * kMl)), kMl, 1e-18);
  EXPECT_EQ(total(volume_of(ball.film)), 0.0);
}

// Drops land on the nearest vertex in use below them, not beside and not above.
TEST(FluidFilm, DropsLandBelow) {
  const glm::vec3 down(0.f, 0.f, -1.f), from(0.f, 0.f, 0.05f);
  const std::vector<glm::vec3> floor = {{0.003f, 0.f, 0.f}, {0.02f, 0.f, 0.04f}, {0.f, 0.f, 0.06f}};
  const std::vector<glm::vec3> shelf = {{0.f, 0.002f, 0.03f}, {0.f, 0.f, 0.045f}};
  DropLanding at;
  find_landing(from, down, 1e-4f, 0, {}, {}, at);
  EXPECT_FALSE(at.found);
  find_landing(from, down, 1e-4f, 0, floor, {}, at);
  ASSERT_TRUE(at.found);
  EXPECT_EQ(at.vertex, 0u);
  EXPECT_NEAR(at.height, 0.05f, 1e-7f);
  find_landing(from, down, 1e-4f, 1, shelf, std::vector<char>{0, 1}, at);
  EXPECT_EQ(at.surface, 1u);
  EXPECT_EQ(at.vertex, 0u);
  find_landing(from, down, 1e-4f, 2, floor, {}, at);
  EXPECT_EQ(at.surface, 1u) << "the floor is further down";
}

TEST(FluidFilm, AVertexWithoutFacesLosesItsFluid) {
  FilmOn ball(shapes::icosphere(3, 0.03f));
  pour(ball.film, 7, FilmFluid::Bile, kMl);
  std::vector<char> unused(ball.mesh.positions.size(), 0);
  unused[7] = 1;
  EXPECT_EQ(total(follow_surface(ball.film, unused.size(), unused)), kMl);
  EXPECT_TRUE(ball.film.empty());
}

TEST(FluidFilm, SameCallsSameBitsAndNoAllocation) {
  FilmOn one(shapes::icosphere(4, 0.03f)), two(shapes::icosphere(4, 0.03f));
  for (FilmOn* ball : {&one, &two}) {
    pour(ball->film, ball->highest(), FilmFluid::Blood, kMl);
    const std::uint64_t before = allocations_so_far();
    ball->run(300);
    EXPECT_EQ(allocations_so_far(), before);
  }
  EXPECT_EQ(one.film.volume, two.film.volume);
  EXPECT_EQ(one.film.wet, two.film.wet);
}

}  // namespace

}  // namespace trocar
