#include "app/commands/scene_picture.hpp"

#include <cmath>

#include "app/compare/backends.hpp"
#include "app/view/view.hpp"
#include "sim/device/script_device.hpp"
#include "sim/task/performed_session.hpp"

namespace trocar {
namespace {

void draw_session(const Session& session, const TaskRun* task, const ScenePicture& picture, double time,
                  const std::filesystem::path& file, GlContext& context) {
  SessionPicture drawn(context, session);
  PictureTarget target(picture.width, picture.height);
  SessionLook look{.task = task};
  look.settings.round_field = false;
  look.settings.time = time;
  target.bind();
  drawn.draw(session, look, picture.width, picture.height);
  target.save_png(file);
  PictureTarget::unbind();
}

void draw_task(const Scene& scene, const ScenePicture& picture, const std::filesystem::path& file, Backends& backends) {
  PerformedSession performed(scene, style_of(Skill::Expert), 1, backends, "scan");
  do performed.step();
  while (performed.time() < picture.time && !performed.task().feed().finished);
  draw_session(performed.session(), &performed.task(), picture, performed.time(), file, *backends.context());
}

void draw_scripts(const Scene& scene, const ScenePicture& picture, const std::filesystem::path& file,
                  Backends& backends) {
  Session session(scene, backends, "scan", {}, [](const InstrumentScene& instrument) {
    return make_script_device({instrument.pivot, instrument.tip, instrument.script});
  });
  const auto frames = static_cast<std::uint64_t>(std::floor(picture.time * scene.frame_rate));
  const double dt = 1.0 / scene.frame_rate;
  for (std::uint64_t frame = 0; frame <= frames; ++frame) session.step({frame, static_cast<double>(frame) * dt}, dt);
  draw_session(session, nullptr, picture, static_cast<double>(frames) * dt, file, *backends.context());
}

}  // namespace

void draw_scene_picture(const Scene& scene, const ScenePicture& picture, const std::filesystem::path& file,
                        Backends& backends) {
  if (scene.task)
    draw_task(scene, picture, file, backends);
  else
    draw_scripts(scene, picture, file, backends);
}

}  // namespace trocar
