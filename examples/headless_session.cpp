// Runs a scene without a window: a script moves its instruments; prints touched faces, the check and the force.
//   headless_session SCENE.toml [FRAMES]
#include <cstdio>
#include <cstdlib>
#include <trocar/sim.hpp>

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: headless_session SCENE.toml [FRAMES]\n");
    return 2;
  }
  const int frames = argc > 2 ? std::atoi(argv[2]) : 120;
  try {
    const trocar::Scene scene = trocar::load_scene(argv[1]);
    trocar::CpuBackends backends;
    // The answers of `scan` are checked in every frame against a tree of oriented bounding boxes.
    trocar::Session session(scene, backends, "scan", {{"obb-refit", 1}}, [](const trocar::InstrumentScene& instrument) {
      return trocar::make_script_device({instrument.pivot, instrument.tip, instrument.script});
    });
    const double tick = 1.0 / scene.frame_rate;
    std::size_t touched = 0;
    for (int frame = 0; frame < frames; ++frame) {
      session.step({static_cast<std::size_t>(frame), frame * tick}, tick);
      touched += session.touched();
      if (frame % 20 != 0) continue;
      std::printf("frame %d: %u touched faces", frame, session.touched());
      for (const trocar::Instrument& instrument : session.instruments())
        std::printf(", %s %.2f N", instrument.name.c_str(), double(glm::length(instrument.force)));
      std::printf("\n");
    }
    std::printf("%zu frames, %zu touched faces, %llu disagreements\n", session.frames(), touched,
                static_cast<unsigned long long>(session.disagreements()));
    return session.disagreements() == 0 ? 0 : 1;
  } catch (const trocar::InputError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
