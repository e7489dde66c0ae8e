// Which faces of a mesh does a moving instrument touch?   touch_query MESH   (OBJ, PLY, STL or VTK, in millimetres)
#include <cstdio>
#include <trocar/collision.hpp>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: touch_query MESH\n");
    return 2;
  }
  try {
    const trocar::TriangleMesh mesh = trocar::load_mesh(argv[1]);
    const auto query = trocar::make_scan_query();
    query->rebuild(mesh.view());

    // An instrument of 5 mm enters through a trocar 200 mm in front of the first vertex; its tip slides by 10 mm.
    const glm::dvec3 first(mesh.positions.front());
    trocar::ToolStep step;
    step.pivot = first + glm::dvec3(0.0, 0.0, 0.200);
    step.tip_before = first;
    step.tip_after = first + glm::dvec3(0.010, 0.0, 0.0);
    step.radius = 0.0025;
    const trocar::ToolVolume volume = trocar::swept_volume(step, trocar::Cover::Capsule);

    // In every frame of a simulation: the new positions, then the query.
    query->update(mesh.positions);
    const trocar::TouchList list = query->touched({&volume, 1}, trocar::TouchSet::Exact);
    std::printf("%zu of %zu faces touched\n", list.touches.size(), mesh.faces.size());
    for (const trocar::Touch& touch : list.touches)
      std::printf("face %u, %.2f mm deep\n", index(touch.face), 1e3 * static_cast<double>(touch.depth));
  } catch (const trocar::InputError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  return 0;
}
