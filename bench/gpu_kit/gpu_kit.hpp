// The measurements of the GPU kit. Each returns rows as JSON (docs/gpu-kit.md names the keys) and runs in a process of
// its own, so that a driver that crashes costs one section only. Times in milliseconds.
// Tested in tests/bench/gpu_kit_test.cpp
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/compare/backends.hpp"
#include "geometry/tool_volume.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar::bench {

// An organ of any number of faces that needs no file: an ellipsoid of a liver's size that wobbles, so that every update
// changes all positions, with 5 mm instruments that sweep through it.

// Makes an ellipsoid of rings of vertices from pole to pole, with about this number of faces (at least 2,000).
TriangleMesh make_ellipsoid(std::size_t faces);

struct WobbleFrame {
  std::vector<glm::vec3> positions;  // [vertex]
  std::vector<ToolVolume> tools;     // [tool]
};

// Makes a cycle of 16 frames of the wobbling mesh. Every instrument touches the organ in every frame.
std::vector<WobbleFrame> make_wobble_frames(const TriangleMesh& mesh, int tools);

using Json = nlohmann::ordered_json;

struct KitOptions {
  std::size_t largest_faces = 1'000'000;  // 1  of the tables of sizes
  int frames = 300;                       // 1  timed per row, >= 1
  int motions = 100;                      // 1  random motions of 10 frames, half on each organ, >= 0
  std::filesystem::path mesh;             // of the recorded motion; empty: the liver of the data folder
  std::filesystem::path trajectory;       // empty: no recorded motion
};

// Compares the backend with the double-precision reference: random motions over liver and stomach, static and swept,
// both covers, both sets; the recorded motion; an organ of the largest size. A row for each: what, queries, touched,
// borderline, disagreements.
Json agreement_rows(const std::string& backend, Backends& backends, const KitOptions& options);

// Measures a frame (update, query and read-back) of one instrument against the number of faces, with the medians and
// 99th percentiles of every stage. `compute` is measured in every variant that it has.
Json size_rows(const std::string& backend, Backends& backends, const KitOptions& options);

// Measures a frame with 1 to 16 instruments on one organ of 100,000 faces.
Json tool_rows(const std::string& backend, Backends& backends, const KitOptions& options);

// Returns vendor, renderer, version and limits of the OpenGL context, or {"none": reason}.
Json context_facts(Backends& backends);

// The page of the GPU kit: its measurements as a Markdown text with tables.

// Returns the sum of the disagreements of all rows.
std::uint64_t disagreements_of(const Json& results);

// `results`: as measure.json (docs/gpu-kit.md).
std::string kit_page(const Json& results);

}  // namespace trocar::bench
