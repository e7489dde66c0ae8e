// Writes the data of a report's page as one JSON text: attempts, summaries, learning curves. Large arrays are typed
// arrays in base64, little endian: {"type": "f32" | "u32" | "u16", "data": "..."}; positions are in millimetres.
// Positions of paths and vertices are 16-bit steps between the two corners of a box.
// Read by app/report/web/decode.js.   Tested in tests/app/report_test.cpp and tests/report
#pragma once

#include <string>
#include <vector>

#include "app/report/session_summary.hpp"
#include "sim/score/attempt.hpp"
#include "sim/score/learning_curve.hpp"

namespace trocar {

// Origin of a recording, shown on the page.
struct RecordingFacts {
  bool clean = true;                        // false: a killed process left it behind
  std::string gl, mode, cover, frame_rate;  // as recorded
  std::string backend_why;                  // reason for the first backend; empty in older recordings
};

struct ReportSession {
  Attempt attempt;
  RecordingFacts facts;
  SessionSummary summary;
};

// Returns a JSON text that is safe inside a <script> element, because it contains no '<'. Invalid UTF-8 bytes are
// replaced.
// `curve`: of several attempts, in the order of the sessions; null for a single one.
std::string report_json(const std::vector<ReportSession>& sessions, const LearningCurve* curve = nullptr);

}  // namespace trocar
