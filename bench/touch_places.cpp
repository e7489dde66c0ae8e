// trocar_touch_places: the force of a frictionless tip pressed slowly into a block that is glued to its base, at places
// of a lattice cell. A ball is the round end of a shaft; its force is compared with Hertz and the factor of a glued
// layer (Dimitriadis et al., Biophys. J. 82, 2002). With --parts, balls and the parts wire, blade and jaw are compared
// with the same press on fine finite elements (deform/reference/fine_press.hpp). Force: mean of ten frames at rest at
// each depth, of the contacts of the step. Units: metres, newtons, pascals.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "deform/contact/contact.hpp"
#include "deform/reference/fine_press.hpp"
#include "deform/reference/specimen.hpp"
#include "deform/solid/tissue.hpp"
#include "geometry/part.hpp"

namespace trocar::bench {
namespace {

constexpr double kModulus = 6000.0, kPoisson = 0.46;               // Pa, 1
constexpr double kFrame = 1.0 / 60.0, kSpeed = 0.03, kGap = 3e-4;  // s, m/s, m  above the block at first
constexpr int kSettling = 10, kCounted = 10;                       // frames at each depth

struct Press {
  double radius = 0.0;  // m, of a ball; 0: the part
  PressShape part = {};
  double spacing, height, side;  // m, of lattice and block
  double edge;                   // m, of the faces
  std::vector<double> depths;    // m, ascending
  TissueLaw law = TissueLaw::Springs;
};

// The instruments' parts that press, as scenes of 5 mm instruments have them, with their smallest radius below: the
// wire of a hook, a blade of scissors edge down, a jaw of a grasper flat side down.
PressShape shape_of(const std::string& part) {
  constexpr double kWire = 4.5e-4, kEdge = 1.5e-4, kRound = 2.5e-4, kWide = 1.55e-3, kHigh = 2e-3;
  if (part == "wire") return {{{0.0, kWire}}, 4e-3, kWire};
  if (part == "blade") return {{{0.0, kEdge}, {8e-4, 3e-3}, {-8e-4, 3e-3}}, 5e-3, kEdge};
  return {{{-kWide, kRound}, {kWide, kRound}, {kWide, kHigh}, {-kWide, kHigh}}, 8e-3, kRound};
}

PartShape part_of(const PressShape& press) {
  PartShape shape;
  shape.radius = press.radius;
  for (const glm::dvec2& p : press.outline)
    for (const double end : {-1.0, 1.0}) shape.corners.emplace_back(p.x, end * press.half_length, p.y);
  return shape;
}

TissueModel glued_block(const Press& press, const TriangleMesh& mesh) {
  TissueParams params;
  params.law = press.law;
  params.youngs_modulus = static_cast<float>(kModulus), params.poisson_ratio = static_cast<float>(kPoisson);
  params.node_spacing = static_cast<float>(press.spacing);
  params.friction = 0.f;
  TissueModel model = make_tissue(mesh.view(), params, {});
  float low = INFINITY;
  for (const glm::vec3& node : model.rest) low = std::min(low, node.z);
  for (std::size_t i = 0; i < model.rest.size(); ++i)
    if (model.rest[i].z < low + 0.3f * params.node_spacing) model.inverse_mass[i] = 0.f;
  return model;
}

constexpr double kAround = 0.03;  // m  no shape reaches further

// One press at a place. Every face around it is a candidate for contacts.
class Stage {
 public:
  Stage(const Press& press, const TriangleMesh& mesh, const TissueModel& model, const glm::dvec3& place)
      : press_(press),
        mesh_(mesh),
        model_(model),
        place_(place),
        state_(rest_state(model)),
        positions_(mesh.positions) {
    if (!(press.radius > 0.0)) shape_ = part_of(press.part);
    for (std::uint32_t face = 0; face < mesh.faces.size(); ++face)
      if (glm::distance(glm::dvec3(mesh.positions[mesh.faces[face].x]), place) < kAround)
        near_.emplace_back().face = FaceId(face);
  }

  // Returns the force at each depth, N.
  std::vector<double> forces() {
    std::vector<double> found;
    for (const double depth : press_.depths) {
      while (depth_ < depth - 1e-9) frame(std::min(depth_ + kSpeed * kFrame, depth));
      double sum = 0.0;
      for (int k = 0; k < kSettling + kCounted; ++k) {
        const double force = frame(depth);
        if (k >= kSettling) sum += force / kCounted;
      }
      found.push_back(sum);
    }
    return found;
  }

 private:
  ToolStep tool_to(double depth) {
    const double above = shape_ ? 0.0025 : press_.radius;
    const auto tip = [&](double d) { return place_ + glm::dvec3(0.0, 0.0, above - d); };
    const glm::dvec3 pivot = tip(depth) + glm::dvec3(0.0, 0.0, 0.2);
    if (!shape_) return {pivot, tip(depth_), tip(depth), press_.radius};
    motion_ = instrument_motion({{pivot, tip(depth_), 0.0025}, 0.0, 0.0}, {{pivot, tip(depth), 0.0025}, 0.0, 0.0});
    ToolStep tool = motion_.shaft;
    tool.part = {&*shape_, &motion_};
    return tool;
  }

  double frame(double to) {
    const ToolStep tool = tool_to(to);
    depth_ = to;
    begin_candidates(contacts_, state_.dents);
    add_candidates(tool, near_, mesh_.faces, around_, positions_, contacts_);
    const int pieces = piece_count({&tool, 1}, contacts_);
    double force = 0.0;
    for (int number = 0; number < pieces; ++number) {
      const ToolStep piece = piece_of(tool, number, pieces);
      begin_contacts(contacts_, {model_.embedding, state_.v, kFrame / pieces, state_.dents});
      add_contacts(piece, mesh_.faces, positions_, contacts_);
      const glm::vec3 push =
          step(model_, state_, {{&piece, 1}, contacts_.contacts, {}}, static_cast<float>(kFrame / pieces));
      force += static_cast<double>(push.z) / pieces;
      embed_surface(model_, state_.x, positions_);
    }
    return force;
  }

  const Press& press_;
  const TriangleMesh& mesh_;
  const TissueModel& model_;
  const glm::dvec3 place_;
  SteppedTissue state_;
  std::vector<glm::vec3> positions_;
  std::optional<PartShape> shape_;
  InstrumentMotion motion_;
  ContactList contacts_;
  FacesAround around_ = faces_around(mesh_.faces, mesh_.positions.size());
  std::vector<Touch> near_;
  double depth_ = -kGap;
};

// Presses at n x n places of the cell around the middle. Returns the forces at each depth, ascending, N.
std::vector<std::vector<double>> forces_at_places(const Press& press, int n) {
  const TriangleMesh mesh = make_block({press.side, press.side, press.height}, press.edge);
  const TissueModel model = glued_block(press, mesh);
  float top = -INFINITY;
  for (const glm::vec3& p : mesh.positions) top = std::max(top, p.z);
  const glm::dvec2 first(model.rest[0]), corner = first - press.spacing * glm::floor(first / press.spacing + 0.5);
  std::vector<std::vector<double>> found(press.depths.size());
  for (int i = 0; i < n * n; ++i) {
    glm::dvec2 at = corner + press.spacing / n * glm::dvec2(i % n, i / n);
    if (!(press.radius > 0.0)) at -= press.spacing * glm::floor(at / press.spacing + 0.5);
    const std::vector<double> forces = Stage(press, mesh, model, {at, double(top)}).forces();
    for (std::size_t k = 0; k < forces.size(); ++k) found[k].push_back(forces[k]);
  }
  for (std::vector<double>& forces : found) std::ranges::sort(forces);
  return found;
}

void print_ball(const Press& press, int places) {
  fmt::print("{:>12} {:>9.2f} {:>9.1f}", fmt::format("ball {:.1f}", 1e3 * press.radius), 1e3 * press.spacing,
             1e3 * press.height);
  const std::vector<std::vector<double>> found = forces_at_places(press, places);
  for (std::size_t k = 0; k < found.size(); ++k) {
    const double hertz = hertz_on_layer(kModulus, kPoisson, press.radius, press.depths[k], press.height);
    fmt::print("   {:.1f}: {:.2f} {:.2f} {:.2f}", 1e3 * press.depths[k], found[k].front() / hertz,
               found[k][found[k].size() / 2] / hertz, found[k].back() / hertz);
  }
  fmt::print("\n");
  std::fflush(stdout);
}

void print_balls(int places, TissueLaw law) {
  fmt::print("depth mm: smallest, median, largest of {} places over Hertz on a layer\n", places * places);
  fmt::print("{:>12} {:>9} {:>9}\n", "tip mm", "spacing", "height");
  for (const double radius : {2.5e-3, 5e-3})
    for (const auto& [spacing, height] : {std::pair{5e-3, 0.04},
                                          {5e-3, 0.01},
                                          {5e-3, 0.005},
                                          {9e-3, 0.036},
                                          {9e-3, 0.04},
                                          {9e-3, 0.018},
                                          {9e-3, 0.009},
                                          {12e-3, 0.048}}) {
      const double side = 2.0 * spacing * std::ceil(6.0 * std::max(radius, 5e-3) / spacing);
      std::vector<double> depths;
      for (const double share : {0.2, 0.4, 0.6, 0.8, 1.0}) depths.push_back(share * radius);
      print_ball({radius, {}, spacing, height, side, 0.0025, depths, law}, places);
    }
}

// A block of whole cells of 9 and of 5 mm.
constexpr double kSide = 0.09, kHeight = 0.045;  // m
constexpr double kGrowth = 0.6, kRefined = 1.5;  // 1  of the reference

// A shape, pressed to depths in radii of its edge and then in millimetres, on elements of a share of that radius.
struct Pressed {
  std::string name;
  bool ball;
  PressShape shape;
  double finest;               // 1  of the radius, at most a third
  std::vector<double> depths;  // m
};

std::vector<Pressed> pressed_shapes(const std::string& only) {
  std::vector<Pressed> found;
  for (const double radius : {2.5e-3, 5e-3})
    found.push_back({fmt::format("ball {:.1f}", 1e3 * radius), true, {{{0.0, radius}}, 0.0, radius}, 0.15, {}});
  // In millimetres as far as the elements find a balance.
  found.push_back({"wire", false, shape_of("wire"), 1.0 / 3.0, {1e-3, 1.5e-3}});
  found.push_back({"blade", false, shape_of("blade"), 1.0 / 3.0, {5e-4, 7.5e-4}});
  found.push_back({"jaw", false, shape_of("jaw"), 1.0 / 3.0, {1e-3, 1.5e-3, 2e-3}});
  std::erase_if(found, [&](const Pressed& p) { return !only.empty() && p.name != only; });
  for (Pressed& p : found)
    for (const double share : {2.0, 1.5, 1.0, 0.5}) p.depths.insert(p.depths.begin(), share * p.shape.radius);
  return found;
}

// Rows of a table of Markdown: the reference in mN, on the finer elements and extrapolated; then the tissue over it.
void print_against_reference(Pressed pressed, int places) {
  fmt::print("| {}, depth (mm) |", pressed.name);
  for (const double depth : pressed.depths) fmt::print(" {:.3g} |", 1e3 * depth);
  const PressElements elements{pressed.finest * pressed.shape.radius, kGrowth};
  const std::vector<ExtrapolatedForce> reference =
      extrapolated({kSide, kHeight, kModulus, kPoisson}, pressed.shape, elements, kRefined, pressed.depths);
  fmt::print("\n| {}, reference (mN; finer elements) |", pressed.name);
  for (const ExtrapolatedForce& at : reference) fmt::print(" {:.2f}; {:.2f} |", 1e3 * at.force, 1e3 * at.finer);
  fmt::print("\n");
  std::fflush(stdout);
  pressed.depths.resize(reference.size());
  for (const TissueLaw law : kTissueLaws)
    for (const double spacing : {9e-3, 5e-3}) {
      const Press press{pressed.ball ? pressed.shape.radius : 0.0,
                        pressed.shape,
                        spacing,
                        kHeight,
                        kSide,
                        0.00225,
                        pressed.depths,
                        law};
      const std::vector<std::vector<double>> found = forces_at_places(press, places);
      fmt::print("| {}, {:.0f}, {} |", pressed.name, 1e3 * spacing, name_of(law));
      for (std::size_t k = 0; k < found.size(); ++k)
        fmt::print(" {:.2f} {:.2f} {:.2f} |", found[k].front() / reference[k].force,
                   found[k][found[k].size() / 2] / reference[k].force, found[k].back() / reference[k].force);
      fmt::print("\n");
      std::fflush(stdout);
    }
}

}  // namespace
}  // namespace trocar::bench

int main(int argc, char** argv) {
  using namespace trocar;
  using namespace trocar::bench;
  CLI::App app("Presses tips into blocks of tissue at places of a lattice cell.");
  int places = 5;
  bool rising = false, parts = false;
  std::string only;
  app.add_option("--places", places, "Places of a cell along each side")->check(CLI::Range(1, 20));
  app.add_flag("--rising", rising, "The law `rising`");
  app.add_flag("--parts", parts, "Balls, wire, blade and jaw over fine finite elements, with both laws");
  app.add_option("--only", only, "With --parts: one shape, such as jaw or \"ball 2.5\"");
  CLI11_PARSE(app, argc, argv);
  if (!parts) return print_balls(places, rising ? TissueLaw::Rising : TissueLaw::Springs), 0;
  fmt::print("smallest, median, largest of {} places over the reference; spacing in mm\n", places * places);
  for (const Pressed& pressed : pressed_shapes(only)) print_against_reference(pressed, places);
}
