// Feeds files to the scene reader. An accepted scene is written and read again; both texts must be equal.
#include "sim/scene/scene.hpp"
#include "sim/scene/scene_writer.hpp"
#include "tests/fuzz/fuzz_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trocar;
  using namespace trocar::fuzz;
  const std::filesystem::path file = "scenes/fuzz.toml";
  std::string text(reinterpret_cast<const char*>(data), size);
  Scene scene;
  if (!accepted([&] { scene = parse_scene(text, file); })) return 0;
  std::string written, again;
  if (!accepted([&] { written = scene_text(scene, file); })) return 0;
  require(accepted([&] { again = scene_text(parse_scene(written, file), file); }), "a written scene is refused");
  require(written == again, "a scene that was written and read again is different");
  return 0;
}
