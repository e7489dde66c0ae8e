// Names what the anatomy of a scene is varied by (sim/scene/anatomy.hpp). Units: metres; the file is in millimetres.
// Format: docs/file-formats.md   Tested in tests/sim/anatomy_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <string>
#include <type_traits>

#include "sim/scene/scene_key.hpp"

namespace trocar {

struct AnatomyScene {
  std::string duct, artery, main_duct;  // organs that are tubes
  std::string bed;                      // layer
  glm::dvec3 front{0.0};  // m  in the liver: where an artery begins that crosses in front of the main duct
  glm::dvec3 near{0.0};   // m  in the liver: where a short artery begins
};

template <typename Keys>
void declare(Keys& keys, std::type_identity<AnatomyScene>) {
  keys.text({"duct", "", "the cystic duct, a tube whose path starts at the gallbladder", Need::Required},
            &AnatomyScene::duct);
  keys.text({"artery", "", "the cystic artery, a tube whose path ends at the gallbladder", Need::Required},
            &AnatomyScene::artery);
  keys.text({"main_duct", "", "the common duct, a tube whose path starts at the liver", Need::Required},
            &AnatomyScene::main_duct);
  keys.text({"bed", "", "the layer between gallbladder and liver", Need::Required}, &AnatomyScene::bed);
  keys.position(
      {"artery_in_front_mm", "mm",
       "a point in the liver: the origin of an artery that crosses in front of the common duct", Need::Required},
      &AnatomyScene::front);
  keys.position({"short_artery_mm", "mm", "a point in the liver: the origin of a short artery", Need::Required},
                &AnatomyScene::near);
}

}  // namespace trocar
