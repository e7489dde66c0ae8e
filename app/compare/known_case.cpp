#include "app/compare/known_case.hpp"

#include <fmt/format.h>

#include <vector>

#include "geometry/error.hpp"
#include "geometry/touch.hpp"

namespace trocar {
namespace {

// A vertical tool 5 mm thick passes through the first triangle and misses the second.
struct KnownCase {
  std::vector<glm::vec3> positions = {{-0.02f, 0.f, -0.02f}, {0.02f, 0.f, -0.02f}, {0.f, 0.f, 0.03f},
                                      {0.10f, 0.f, 0.f},     {0.12f, 0.f, 0.f},    {0.11f, 0.f, 0.02f}};
  std::vector<glm::uvec3> faces = {{0, 1, 2}, {3, 4, 5}};
  ToolStep tool{{0.0, 0.2, 0.0}, {0.0, -0.01, 0.0}, {0.0, -0.01, 0.0}, 0.0025};
};

}  // namespace

std::string verdict_on_known_case(BackendMaker& backends, std::string_view name) {
  const std::string known_name = backends.resolve(name, {}).name;
  try {
    const KnownCase known;
    const auto query = backends.make(known_name);
    query->rebuild({known.positions, known.faces});
    query->update(known.positions);
    const ToolVolume volume = swept_volume(known.tool, Cover::Capsule);
    const auto touches = query->touched({&volume, 1}, TouchSet::Exact).touches;
    if (query->fault() != TouchFault::None) return fmt::format("FAILS: {}", sentence_of(query->fault()));
    const bool right = touches.size() == 1 && index(touches.front().face) == 0;
    return right ? fmt::format("works ({:.3f} ms on two faces)", query->times().total_ms())
                 : "WRONG: the touched faces differ from the known answer";
  } catch (const InputError& error) {
    return fmt::format("not available: {}", error.what());
  } catch (const RunError& error) {
    return fmt::format("FAILS: {}", error.what());
  }
}

}  // namespace trocar
