#include "app/window/step_pictures.hpp"

#include <imgui.h>

#include <utility>

#include "geometry/error.hpp"

namespace trocar {

void StepPictures::load(const TaskStep& step, Picture& picture) {
  picture.tried = true;
  if (step.picture.empty()) return;
  try {
    picture.texture.emplace(step.picture);
  } catch (const InputError& error) {
    fault_ = error.what();
  }
}

void StepPictures::draw(const TaskScene& task, std::size_t step) {
  if (pictures_.size() < task.steps.size()) pictures_.resize(task.steps.size());
  if (step >= pictures_.size()) return;
  Picture& picture = pictures_[step];
  if (!picture.tried) load(task.steps[step], picture);
  if (picture.texture) picture.texture->draw(ImGui::GetContentRegionAvail().x);
}

std::string StepPictures::new_fault() { return std::exchange(fault_, {}); }

}  // namespace trocar
