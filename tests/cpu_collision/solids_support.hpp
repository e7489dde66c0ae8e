// Reads the scene of two objects with poses from a file, for the tests of solids and trees. Units: those of the file.
#pragma once

#include <filesystem>
#include <fstream>
#include <glm/glm.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "mesh/triangle_mesh.hpp"

namespace trocar::test {

struct PosedScene {
  struct Frame {
    glm::dvec3 at[2];
    glm::dmat3 turn[2];  // as the rows of the file
  };
  TriangleMesh objects[2];
  std::vector<Frame> frames;

  // Returns object `o` at its pose of frame `f`, rounded to float.
  TriangleMesh posed(int o, std::size_t f) const {
    TriangleMesh mesh = objects[o];
    for (glm::vec3& p : mesh.positions) p = glm::vec3(frames[f].turn[o] * glm::dvec3(p) + frames[f].at[o]);
    return mesh;
  }
};

// Returns the numbers between name=" and the next quote.
inline std::vector<double> numbers_of(const std::string& text, const std::string& name) {
  const std::size_t start = text.find(name + "=\"");
  if (start == std::string::npos) return {};
  const std::size_t from = start + name.size() + 2;
  std::istringstream in(text.substr(from, text.find('"', from) - from));
  std::vector<double> values;
  for (double value; in >> value;) values.push_back(value);
  return values;
}

// Reads the format <MODEL><OBJECT><GRID x y z/><TRIA g1 g2 g3/></OBJECT>...</MODEL><MOTION><FRAME obj1_pos obj1_dc
// .../></MOTION>
inline PosedScene load_posed_scene(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::ostringstream all;
  all << in.rdbuf();
  const std::string text = all.str();
  PosedScene scene;
  int object = -1;
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    const std::string tag = text.substr(at, text.find('>', at) - at);
    if (tag.starts_with("<OBJECT")) ++object;
    if (tag.starts_with("<GRID")) {
      scene.objects[object].positions.emplace_back(numbers_of(tag, " x")[0], numbers_of(tag, " y")[0],
                                                   numbers_of(tag, " z")[0]);
    }
    if (tag.starts_with("<TRIA")) {
      scene.objects[object].faces.push_back(
          glm::uvec3(numbers_of(tag, "g1")[0], numbers_of(tag, "g2")[0], numbers_of(tag, "g3")[0]) - 1u);
    }
    if (tag.starts_with("<FRAME")) {
      PosedScene::Frame frame{};
      for (int o = 0; o < 2; ++o) {
        const std::string name = "obj" + std::to_string(o + 1);
        const auto pos = numbers_of(tag, name + "_pos"), turn = numbers_of(tag, name + "_dc");
        frame.at[o] = {pos[0], pos[1], pos[2]};
        for (int row = 0; row < 3; ++row) {
          for (int column = 0; column < 3; ++column) frame.turn[o][column][row] = turn[row * 3 + column];
        }
      }
      scene.frames.push_back(frame);
    }
  }
  return scene;
}

}  // namespace trocar::test
