#include "bench/gallbladder_peel.hpp"

#include <algorithm>

#include "geometry/error.hpp"
#include "tests/sim/scene_tissue.hpp"

namespace trocar::bench {
namespace {

constexpr double kFrame = 1.0 / 60.0;  // s
constexpr double kHeld = 0.014;        // m  tissue within this distance of the fundus is held
constexpr float kLimit = 20.f;         // N  of a hold
constexpr std::size_t kMean = 6;       // frames
constexpr double kBin = 0.006;         // m  of the width

// Liver and gallbladder alone, on the bed alone, without breathing.
Scene bed_alone(Scene scene) {
  std::erase_if(scene.organs, [](const OrganScene& o) { return o.name != "liver" && o.name != "gallbladder"; });
  std::erase_if(scene.layers, [](const LayerScene& layer) { return layer.name != "bed"; });
  scene.bands.clear();
  scene.breathing.amplitude = 0.f;
  if (scene.organs.size() != 2 || scene.layers.size() != 1)
    throw InputError(scene.file.string() + ": needs the organs liver and gallbladder and the layer bed");
  return scene;
}

struct BedShape {
  glm::dvec3 fundus{0.0};          // m  the point of the gallbladder that is farthest along the bed, and up
  glm::dvec3 along{0.0}, up{0.0};  // 1  from fundus to neck; away from the liver
  double start = 0.0, length = 0.0;
};

glm::dvec3 mean_of(const std::vector<glm::vec3>& points) {
  glm::dvec3 sum(0.0);
  for (const glm::vec3& p : points) sum += glm::dvec3(p) / static_cast<double>(points.size());
  return sum;
}

// The axis of the bed is that of its two farthest fibres; the fundus is its front end.
BedShape shape_of(const std::vector<Fibre>& fibres, const std::vector<glm::vec3>& gallbladder) {
  std::vector<glm::vec3> bed;
  for (const Fibre& fibre : fibres) bed.push_back(fibre.a.point);
  BedShape shape;
  glm::dvec3 ends[2]{};
  for (const glm::vec3& p : bed)
    for (const glm::vec3& q : bed)
      if (p.z >= q.z && glm::distance(glm::dvec3(p), glm::dvec3(q)) > shape.length)
        shape.length = glm::distance(glm::dvec3(p), glm::dvec3(q)), ends[0] = p, ends[1] = q;
  shape.along = glm::normalize(ends[1] - ends[0]);
  shape.start = glm::dot(ends[0], shape.along);
  const glm::dvec3 away = mean_of(gallbladder) - mean_of(bed);
  shape.up = glm::normalize(away - glm::dot(away, shape.along) * shape.along);
  double farthest = -INFINITY;
  for (const glm::vec3& p : gallbladder)
    if (const double far = glm::dot(glm::dvec3(p), shape.up - shape.along); far > farthest)
      farthest = far, shape.fundus = p;
  return shape;
}

double area_of(const Fibre& fibre, const LayerParams& layer) {
  return static_cast<double>(fibre.stiffness * layer.thickness / layer.modulus);
}

std::vector<PeelPoint> theory_of(const std::vector<Fibre>& fibres, const LayerParams& layer, const BedShape& shape,
                                 const GallbladderPeel& peel) {
  std::vector<double> areas(static_cast<std::size_t>(shape.length / kBin) + 1, 0.0);
  for (const Fibre& fibre : fibres)
    areas[static_cast<std::size_t>((glm::dot(glm::dvec3(fibre.a.point), shape.along) - shape.start) / kBin)] +=
        area_of(fibre, layer);
  std::vector<PeelPoint> points;
  double before = 0.0;
  for (const double area : areas) {
    points.push_back({(before + 0.5 * area) / peel.area * shape.length, peel.fracture_energy * area / kBin});
    before += area;
  }
  return points;
}

}  // namespace

GallbladderPeel peel_gallbladder(const Scene& whole, double speed) {
  const Scene scene = bed_alone(whole);
  test::SceneTissue tissue(scene);
  const std::size_t sac = scene.organs[0].name == "gallbladder" ? 0 : 1;
  const Organ& organ = tissue.organs()[sac];
  const LayerParams& layer = scene.layers[0].params;
  const std::vector<Fibre>& fibres = tissue.bonds().fibres;
  const BedShape shape = shape_of(fibres, organ.mesh.positions);
  GallbladderPeel peel;
  peel.length = shape.length;
  peel.fracture_energy =
      0.5 * static_cast<double>(layer.modulus * layer.thickness * layer.break_strain * layer.break_strain);
  for (const Fibre& fibre : fibres) peel.area += area_of(fibre, layer);
  peel.theory = theory_of(fibres, layer, shape, peel);
  std::vector<std::size_t> held;
  for (std::size_t v = 0; v < organ.mesh.positions.size(); ++v)
    if (glm::distance(glm::dvec3(organ.mesh.positions[v]), shape.fundus) < kHeld) held.push_back(v);
  const glm::vec3 way(shape.along + shape.up);
  double lifted = 0.0;
  PeelPoint mean{};
  for (std::size_t frame = 1; peel.area > 0.0 && lifted < 4.0 * shape.length; ++frame) {
    std::vector<std::vector<TissueHold>> holds(2);
    const auto from = static_cast<float>(lifted), to = static_cast<float>(lifted + speed * kFrame);
    for (const std::size_t v : held) {
      const glm::vec3& rest = organ.mesh.positions[v];
      holds[sac].push_back({organ.tissue.embedding[v], rest + from * way, rest + to * way, kLimit});
    }
    tissue.step(static_cast<float>(kFrame), holds);
    lifted += speed * kFrame;
    glm::vec3 force(0.f);
    for (std::size_t k = 0; k < held.size(); ++k) force -= hold_force(organ.state, k);
    peel.work += static_cast<double>(glm::dot(force, way)) * speed * kFrame;
    double loose = 0.0;
    for (std::size_t f = 0; f < fibres.size(); ++f)
      if (!tissue.bonds().intact[f]) loose += area_of(fibres[f], layer);
    mean.force += static_cast<double>(glm::length(force)) / double(kMean);
    mean.peeled += loose / peel.area * shape.length / double(kMean);
    if (frame % kMean == 0) peel.measured.push_back(mean), mean = {};
    if (loose > 0.999 * peel.area) break;
  }
  return peel;
}

}  // namespace trocar::bench
