// Checks that every GPU backend must pass. Its answer must equal the reference's on organs and tools of every kind, on
// difficult faces (points, lines, thin, tiny, huge and duplicate ones), with several tools, and after updates and
// rebuilds; a frame must not allocate. Units: metres.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cpu_collision/reference.hpp"
#include "geometry/touch.hpp"
#include "gpu_collision/drawn_query.hpp"
#include "gpu_collision/gl_context.hpp"
#include "gpu_collision/gl_objects.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar::checks {

constexpr std::uint32_t kSeed = 1999;

// Returns the volumes of random steps near a mesh of the size of shapes::icosphere: static, paper and capsule in turn;
// only capsule covers for the exact set.
std::vector<ToolVolume> random_tools(std::uint32_t seed, int count, TouchSet set);

// Returns points, lines, slivers, duplicates, faces smaller than a float step, and faces larger than any volume, in and
// around the volume of `tool`, many of them exactly on its planes.
TriangleMesh hostile_faces(std::uint32_t seed, const ToolVolume& tool);

// Checks the sizes of the answer, its order, and no disagreement with the reference, tool by tool. Returns the number
// of touched faces.
std::size_t expect_agreement(TouchQuery& query, const MeshView& mesh, std::span<const ToolVolume> tools, TouchSet set,
                             const std::string& what);

// These are the checks; each gives `query` its own mesh.
void check_random_tools(TouchQuery& query, TouchSet set, int tools);
void check_hostile_faces(TouchQuery& query, TouchSet set, int tools);
// Volumes at every case switch, and volumes of a few micrometres.
void check_switches_of_case(TouchQuery& query);
void check_tiny_volumes(TouchQuery& query);
void check_several_tools(TouchQuery& query);
void check_nothing_to_do(TouchQuery& query);
void check_single_faces(TouchQuery& query);
void check_everything_inside(TouchQuery& query);
void check_new_positions(TouchQuery& query);
void check_new_topology(TouchQuery& query);
void check_repeatable(TouchQuery& query);
void check_no_allocation(TouchQuery& query);
void check_times(TouchQuery& query);
// Makes the query in a context that a renderer has left in an unusual state (query_checks.hpp). The query must answer
// correctly and leave that state unchanged.
void check_good_guest(const std::function<std::unique_ptr<TouchQuery>()>& make, const GlInfo& info);

// Calls rebuild, change_faces, update, touched, submit and collect in any order: a query object must answer like a new
// object with the same mesh. Units: metres. Used by tests/gpu_collision/query_test.cpp and
// tests/app/compare_test.cpp

using QueryMaker = std::function<std::unique_ptr<TouchQuery>()>;

struct SequencePlan {
  std::uint32_t first_seed = 1;
  int sequences = 12;
  int calls = 30;  // of rebuild, change_faces, update and touched, in each sequence
};

// `make`: the object under test; `make_fresh`: a new object. Every third query is made in two steps, some of them are
// never collected. Prints the seeds.
void check_random_sequences(const std::string& what, const QueryMaker& make, const QueryMaker& make_fresh,
                            const SequencePlan& plan);

// Sets a renderer's OpenGL state to unusual values and takes a snapshot of it. A query that shares the context must
// answer correctly and leave this state unchanged. Units: none.

}  // namespace trocar::checks

namespace trocar {

// During its lifetime everything that a backend may touch has an unusual setting.
class HostileRenderer {
 public:
  explicit HostileRenderer(const GlInfo& info);
  ~HostileRenderer();
  // Rebinds the slots of storage and feedback: whole buffers where there were ranges, and ranges where there were
  // buffers.
  void swap_slots(const GlInfo& info);
  HostileRenderer(const HostileRenderer&) = delete;
  HostileRenderer& operator=(const HostileRenderer&) = delete;

 private:
  void set_fixed_function();
  void bind_buffers();
  void bind_storage();
  void bind_storage_slots(unsigned first);
  void bind_textures();
  void set_switches_and_values();

  const bool compatibility_;
  gl::Program program_;
  gl::VertexArray vertex_array_;
  gl::Buffer array_, feedback_, copy_read_, copy_write_, storage_;
  gl::OnePixelTarget target_;
  std::array<gl::Name, 7> textures_{};  // for the units that `compute` uses, then a 2D texture
  gl::Name renderbuffer_ = 0, pipeline_ = 0;
  std::array<gl::Name, 64> selection_{};
};

// Returns one line "name = values" per item of state.
std::vector<std::string> gl_snapshot(const GlInfo& info);

}  // namespace trocar
