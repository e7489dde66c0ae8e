// Summarises one recording for the report: timelines and paths of every instrument, contact on the organs, times of the
// stages, agreement of the backends. A long recording is divided into bins of equal numbers of frames. Each bin keeps
// its lowest and highest value, so that the size is bounded and no peak is lost.
// Units: metres, seconds, newtons, pascals; milliseconds for stage times.   Tested in tests/app/report_test.cpp
#pragma once

#include <cstdint>
#include <functional>
#include <glm/glm.hpp>
#include <string>
#include <vector>

#include "sim/hdf5/recording.hpp"
#include "sim/scene/scope.hpp"

namespace trocar {

struct SummaryLimits {
  std::size_t bins = 4096;   // of a timeline, at most
  std::size_t steps = 8192;  // of a path, at most
  bool surfaces = true;      // the organs' shapes and contacts
};

// Lowest and highest value of the frames of each bin.
struct Envelope {
  std::vector<float> low, high;  // [bin]
};

struct Span {
  double from, to;  // s
};

struct ToolSummary {
  std::string name;
  double radius = 0.0;                                            // m
  Envelope force, speed, touched;                                 // N, m/s of the tip, faces
  std::vector<glm::vec3> pivot, tip;                              // [step] m
  std::vector<Span> energy, out_of_view, inside, without_device;  // diathermy; tip unseen; tip in organ; no valid pose
};

struct FaceContact {
  std::uint32_t face;  // id
  float seconds;       // s   of all frames in which a tool touched it
  float pressure;      // Pa  the highest
};

// Creation or removal of a face during the session.
struct FaceMoment {
  std::uint32_t face;  // id
  float time;          // s
};

struct OrganSummary {
  std::string name;
  std::vector<glm::vec3> rest;       // [vertex] m
  std::vector<glm::uvec3> faces;     // [id]
  std::vector<FaceMoment> born;      // created during the session, by time
  std::vector<FaceMoment> removed;   // removed, by time
  std::vector<FaceContact> contact;  // by face
  double touched_area = 0.0;         // m^2  at rest, of all touched faces
};

struct StageSummary {
  std::string name;
  double median, p99, longest;  // ms
};

// A frame counts as checked when its check took longer than 2 microseconds. If that holds for less than one frame of a
// hundred, and nothing disagreed, it is timer noise and no frame counts as checked.
struct CheckSummary {
  std::size_t frames = 0, frames_disagreeing = 0;
  std::uint64_t faces = 0;  // total disagreements
};

// Faces compared with the double reference; all 0: not known.
struct SampleSummary {
  std::uint64_t faces = 0, answers = 0, wrong = 0;  // compared; number of all answers; wrong
};

// A backend that answered from this frame on.
struct BackendSummary {
  std::string name;
  std::size_t frame = 0;  // first
  double time = 0.0;      // s  of that frame
  std::string fault;      // why the previous one failed, a sentence; empty: it was switched, or this is the first
};
std::vector<BackendSummary> summarise_backends(const Recording& recording);

struct SessionSummary {
  double begin = 0.0, end = 0.0;  // s
  std::size_t frames = 0;
  std::vector<float> bin_time;   // [bin] s  of its first frame
  std::vector<float> step_time;  // [step] s
  std::vector<ToolSummary> tools;
  std::vector<Span> collisions;  // of instruments with each other
  std::vector<glm::vec3> scope;  // [step] m  its tip
  std::vector<OrganSummary> organs;
  std::vector<StageSummary> stages;
  StageSummary frame_time{"frame", 0.0, 0.0, 0.0};  // sum of a frame's stages
  CheckSummary check;
  SampleSummary sample;
  std::vector<BackendSummary> backends;  // the first, then each replacement
};

// Summarises a recording. `lens`: of the recorded scene. Calls `progress` with the number of frames done.
SessionSummary summarise_session(const Recording& recording, const Lens& lens, const SummaryLimits& limits,
                                 const std::function<void(std::size_t)>& progress);

}  // namespace trocar
