// Runs our own backends as contestants of the bench.
#include "app/compare/backends.hpp"

#include <fmt/format.h>

#include <map>

#include "bench/contestant.hpp"
#include "geometry/error.hpp"
#include "study/trees/study_volumes.hpp"

namespace trocar::bench {
namespace {

class OwnBackend final : public Contestant {
 public:
  explicit OwnBackend(std::unique_ptr<TouchQuery> query) : query_(std::move(query)) {}
  void rebuild(const MeshView& mesh) override { query_->rebuild(mesh); }
  void update(std::span<const glm::vec3> positions) override { query_->update(positions); }
  void query(const ToolVolume& tool) override { touches_ = query_->touched({&tool, 1}, TouchSet::Volume).touches; }
  std::vector<FaceId> answer() const override {
    std::vector<FaceId> faces;
    for (const Touch& touch : touches_) faces.push_back(touch.face);
    return faces;
  }

 private:
  std::unique_ptr<TouchQuery> query_;
  std::span<const Touch> touches_;
};

const std::map<std::string, std::string, std::less<>> kHow = {
    {"scan", "outcodes over patches, our clip"},
    {"compute", "the same three steps in compute shaders, read back"},
    {"occlusion", "geometry-shader clip, samples-passed query first"},
    {"select", "GL_SELECT, the 1999 method"},
    {"bsp", "binary space partition rebuilt"},
};

// Describes a backend by the kind of volume and the kind of update, for example "octree of spheres refitted".
std::string how(const std::string& name) {
  static const std::map<std::string_view, std::string> volumes = {
      {"aabb", "axis-aligned boxes"}, {"sphere", "spheres"}, {"obb", "oriented boxes"}, {"kdop6", "6-DOPs"},
      {"kdop14", "14-DOPs"},          {"kdop18", "18-DOPs"}, {"kdop26", "26-DOPs"},     {"quospo", "QuOSPOs"}};
  const auto plan = tree_plan(name, kAllTreeVolumes);
  if (!plan) {
    const auto found = kHow.find(name);
    return found == kHow.end() ? "" : found->second;
  }
  return (plan->split == SplitRule::Octree ? "octree of " : "tree of ") + volumes.at(plan->volume->name) +
         (plan->update == TreeUpdate::Refit ? " refitted" : " rebuilt");
}

}  // namespace

struct OwnBackends::Impl {
  Backends backends;
};

OwnBackends::OwnBackends() : impl_(std::make_unique<Impl>()) {}
OwnBackends::~OwnBackends() = default;

std::string OwnBackends::gl_description() const { return trocar::gl_description(impl_->backends); }

std::vector<Entry> OwnBackends::entries() {
  std::vector<Entry> entries;
  for (const std::string& name : backend_list("all", impl_->backends)) {
    entries.push_back(
        {name, false, how(name), [this, name] { return std::make_unique<OwnBackend>(impl_->backends.make(name)); }});
  }
  return entries;
}

}  // namespace trocar::bench
