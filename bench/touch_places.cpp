// trocar_touch_places: the force of a frictionless tip pressed slowly into a block that is glued to its base, at places
// of a lattice cell, against theory and against finer lattices. A ball is the round end of a shaft; its force is
// compared with Hertz and the factor of a glued layer (Dimitriadis et al., Biophys. J. 82, 2002). Wire, blade and jaw
// are parts; they have no closed form, so that lattices of four spacings stand side by side. Force: mean of ten frames
// at rest at each depth, of the contacts of the step. Units: metres, newtons, pascals.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "deform/contact/contact.hpp"
#include "deform/reference/specimen.hpp"
#include "deform/solid/tissue.hpp"
#include "geometry/part.hpp"

namespace trocar::bench {
namespace {

constexpr double kModulus = 6000.0, kPoisson = 0.46;               // Pa, 1
constexpr double kFrame = 1.0 / 60.0, kSpeed = 0.03, kGap = 3e-4;  // s, m/s, m  above the block at first
constexpr int kSettling = 10, kCounted = 10;                       // frames at each depth

struct Press {
  double radius = 0.0;           // m, of a ball; 0: the part
  std::string part;              // "wire", "blade", "jaw"
  double spacing, height, side;  // m, of lattice and block
  double edge;                   // m, of the faces
  std::vector<double> depths;    // m, ascending
  TissueLaw law = TissueLaw::Springs;
};

PartShape shape_of(const std::string& part) {
  PartShape shape;
  const auto add_box = [&](double x, double y, double low, double high) {
    for (const double z : {low, high})
      for (const double side : {-1.0, 1.0})
        for (const double end : {-1.0, 1.0}) shape.corners.emplace_back(side * x, end * y, z);
  };
  if (part == "wire") {
    shape.radius = 4.5e-4, shape.corners = {{0.0, -4e-3, 4.5e-4}, {0.0, 4e-3, 4.5e-4}};
  } else if (part == "jaw") {
    shape.radius = 2.5e-4, add_box(1.55e-3, 8e-3, 2.5e-4, 2e-3);
  } else {
    shape.radius = 1.5e-4;
    for (const double end : {-5e-3, 5e-3}) shape.corners.emplace_back(0.0, end, 1.5e-4);
    for (const double end : {-5e-3, 5e-3})
      for (const double side : {-8e-4, 8e-4}) shape.corners.emplace_back(side, end, 3e-3);
  }
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

// One press at a place. Every face is a candidate for contacts.
class Stage {
 public:
  Stage(const Press& press, const TriangleMesh& mesh, const TissueModel& model, const glm::dvec3& place)
      : press_(press),
        mesh_(mesh),
        model_(model),
        place_(place),
        state_(rest_state(model)),
        positions_(mesh.positions) {
    if (!(press.radius > 0.0)) shape_ = shape_of(press.part);
    for (std::uint32_t face = 0; face < mesh.faces.size(); ++face) all_.emplace_back().face = FaceId(face);
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
    add_candidates(tool, all_, mesh_.faces, around_, positions_, contacts_);
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
  std::vector<Touch> all_;
  double depth_ = -kGap;
};

// Presses at n x n places of a cell near the middle, and prints smallest, median and largest.
void print_places(const Press& press, int n) {
  const TriangleMesh mesh = make_block({press.side, press.side, press.height}, press.edge);
  const TissueModel model = glued_block(press, mesh);
  float top = -INFINITY;
  for (const glm::vec3& p : mesh.positions) top = std::max(top, p.z);
  const glm::dvec2 first(model.rest[0]), corner = first - press.spacing * glm::floor(first / press.spacing + 0.5);
  std::vector<std::vector<double>> found(press.depths.size());
  for (int i = 0; i < n * n; ++i) {
    const glm::dvec2 at = corner + press.spacing / n * glm::dvec2(i % n, i / n);
    const std::vector<double> forces = Stage(press, mesh, model, {at, double(top)}).forces();
    for (std::size_t k = 0; k < forces.size(); ++k) {
      const double unit =
          press.radius > 0.0 ? hertz_on_layer(kModulus, kPoisson, press.radius, press.depths[k], press.height) : 1e-3;
      found[k].push_back(forces[k] / unit);
    }
  }
  fmt::print("{:>12} {:>9.2f} {:>9.1f}",
             press.radius > 0.0 ? fmt::format("ball {:.1f}", 1e3 * press.radius) : press.part, 1e3 * press.spacing,
             1e3 * press.height);
  for (std::size_t k = 0; k < found.size(); ++k) {
    std::ranges::sort(found[k]);
    const int digits = press.radius > 0.0 ? 2 : 0;
    fmt::print("   {:.1f}: {:.{}f} {:.{}f} {:.{}f}", 1e3 * press.depths[k], found[k].front(), digits,
               found[k][found[k].size() / 2], digits, found[k].back(), digits);
  }
  fmt::print("\n");
  std::fflush(stdout);
}

}  // namespace
}  // namespace trocar::bench

int main(int argc, char** argv) {
  using namespace trocar;
  using namespace trocar::bench;
  CLI::App app("Presses tips into blocks of tissue at places of a lattice cell.");
  int places = 5;
  bool rising = false;
  app.add_option("--places", places, "Places of a cell along each side")->check(CLI::Range(1, 20));
  app.add_flag("--rising", rising, "The law `rising`");
  CLI11_PARSE(app, argc, argv);
  const TissueLaw law = rising ? TissueLaw::Rising : TissueLaw::Springs;
  fmt::print("depth mm: smallest, median, largest of {} places; balls over Hertz on a layer, parts in mN\n",
             places * places);
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
      print_places({radius, "", spacing, height, side, 0.0025, depths, law}, places);
    }
  for (const std::string part : {"wire", "blade", "jaw"})
    for (const double spacing : {9e-3, 4.5e-3, 2.25e-3, 1.5e-3})
      print_places({0.0, part, spacing, 0.018, 0.036, std::min(spacing, 0.00225), {5e-4, 1e-3, 2e-3, 3e-3, 4e-3}, law},
                   spacing > 4e-3 ? places : 1);
}
