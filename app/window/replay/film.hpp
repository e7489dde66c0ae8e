// Makes a film of a recording: what the scope saw, with the task's state, its events, its score and a timeline.
// Without the name of the person, so that it can be shown.
// Units: seconds from the recording's first frame, on the clock of the score; pixels.   Tested in
// tests/app/film_test.cpp
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>

#include "app/view/drawn.hpp"
#include "gpu_collision/gl_context.hpp"

namespace trocar {

struct FilmPlan {
  double from = 0.0, to = 1e9;          // s     of the recording; beyond its end: its end
  double speed = 1.0;                   // 1     seconds of the recording in a second of the film; > 0
  int rate = 15;                        // 1/s   pictures
  int width = 960, height = 540;        // px    even
  bool plain = false;                   //       the scope's picture alone
  std::optional<Quality> quality = {};  //  empty: high, or medium where a CPU draws
};

struct FilmSummary {
  std::size_t pictures = 0;
  double duration = 0.0;  // s  of the film
};

// Called with the number of finished pictures and that of all; returns false to stop.
using PicturesDone = std::function<bool(std::size_t done, std::size_t all)>;

// Writes the film as MP4. Draws frames in the context, which must be current. `out` is complete or as before. Throws
// InputError: no recording, a time after its end, odd sizes, an output that cannot be written, no ffmpeg; RunError:
// a full disk, or `done` stopped it.
FilmSummary write_film(const std::filesystem::path& recording, const std::filesystem::path& out, const FilmPlan& plan,
                       GlContext& context, const PicturesDone& done);

}  // namespace trocar
