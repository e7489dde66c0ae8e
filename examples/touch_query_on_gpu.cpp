// The touch query in compute shaders, off-screen, on a sheet of two triangles.
#include <cstdio>
#include <trocar/collision.hpp>
#include <trocar/gpu_collision.hpp>

int main() {
  std::string why;
  const auto context = trocar::make_offscreen_context(why);
  if (!context) {
    std::fprintf(stderr, "no OpenGL: %s\n", why.c_str());
    return 1;
  }
  std::printf("%s\n", context->info().renderer.c_str());
  const trocar::TriangleMesh mesh{
      {{-0.05f, -0.05f, 0.f}, {0.05f, -0.05f, 0.f}, {0.05f, 0.05f, 0.f}, {-0.05f, 0.05f, 0.f}}, {{0, 1, 2}, {0, 2, 3}}};
  try {
    const auto query = trocar::make_compute_query(*context);
    query->rebuild(mesh.view());
    query->update(mesh.positions);
    const trocar::ToolVolume volume = trocar::static_volume({{0.02, -0.02, 0.2}, {0.02, -0.02, -0.01}, 0.0025});
    const trocar::TouchList list = query->touched({&volume, 1}, trocar::TouchSet::Volume);
    if (query->fault() != trocar::TouchFault::None) {
      std::fprintf(stderr, "%s\n", std::string(sentence_of(query->fault())).c_str());
      return 1;
    }
    for (const trocar::Touch& touch : list.touches) std::printf("face %u\n", index(touch.face));
  } catch (const trocar::InputError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
