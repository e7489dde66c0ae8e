// Writes a short attempt as the page saves one, for tests of documents: make_attempt SCENE FRAMES attempt.json. SCENE
// is below the program's data folder, "scenes/tasks/touch_targets.toml".
#include <cstdlib>
#include <fstream>

#include "sim/support/files.hpp"
#include "tests/sim/recording/logged_session.hpp"

int main(int count, char** arguments) {
  if (count != 4) return 2;
  const trocar::Scene scene = trocar::load_scene(trocar::data_file(arguments[1]));
  const auto frames = static_cast<std::size_t>(std::atoi(arguments[2]));
  std::ofstream(arguments[3]) << trocar::attempt_text(trocar::test::perform_logged(scene, arguments[1], frames));
  return 0;
}
