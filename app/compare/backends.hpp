// Defines the table of the touch-query backends, creates each backend by its command-line name, tries them on known
// triangles and on the organs of a scene, and chooses one for this machine.
// Units: metres, milliseconds.   Tested in tests/app/compare_test.cpp
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "geometry/mesh_view.hpp"
#include "gpu_collision/queries.hpp"
#include "sim/session/cpu_backends.hpp"

namespace trocar {

struct BackendRow {
  std::string_view name;   // on the command line and in recordings
  std::string_view room;   // top-level folder of the code
  std::string_view needs;  // of the machine
  std::string_view use;    // what to use it for
};

// Returns all backends in the order in which tables list them, without `auto`, and trees with their default split only.
// The names, the help of the commands, `trocar doctor`, `compare --backends all` and the table in docs/architecture.md
// come from these rows.
std::span<const BackendRow> backend_table();
const std::vector<std::string>& backend_names();
// Returns the table as text, for the help of a command.
std::string backend_help();

// Creates backends. Owns the off-screen OpenGL context and creates it when a backend first needs one.
class Backends final : public BackendMaker {
 public:
  Backends() = default;
  // Uses the context of a window, which must outlive this object. Null: creates an off-screen context as above.
  explicit Backends(GlContext* window_context) : adopted_(window_context) {}

  const std::vector<std::string>& names() const override { return backend_names(); }
  std::unique_ptr<TouchQuery> make(std::string_view name) override;
  // `auto` on a GPU: the fastest of scan, compute and occlusion, timed on the organs; compute without organs. On a
  // software renderer scan is faster at every size measured (docs/results.md), so nothing is timed there.
  BackendChoice resolve(std::string_view name, std::span<const MeshView> organs) override;

  // Returns the OpenGL context and creates it if necessary; nullptr when the machine has no OpenGL.
  GlContext* context();
  const std::string& why_no_context() const { return why_; }

 private:
  GlContext& needed_context(std::string_view backend);
  BackendChoice choose(std::span<const MeshView> organs);

  GlContext* adopted_ = nullptr;
  std::unique_ptr<GlContext> owned_;
  bool tried_ = false;
  std::string why_;
};

// These functions serve commands without a session, which stop at a backend fault; a session continues with scan.
// require_start(), after rebuild(): InputError when the backend cannot load the organ.
// require_answer(), after a query: RunError when the query failed and its answer is invalid.
void require_start(const TouchQuery& query);
void require_answer(const TouchQuery& query);

// Parses "a,b,c" or "all" into a list of names. `all` omits the backends that this machine cannot run and names them on
// stderr.
// Throws InputError for an unknown name or an empty list.
std::vector<std::string> backend_list(std::string_view text, Backends& backends);

// Returns the renderer and OpenGL version, as in "llvmpipe (LLVM 15.0.6, 256 bits), 4.5 (Compatibility Profile) Mesa
// 22.3.6"; "none (reason)" without OpenGL. Tables and recordings show it.
std::string gl_description(Backends& backends);

struct BackendTrial {
  std::string name;
  double median_ms = 0.0;  // of a frame: update, query and read-back of all organs
  int frames = 0;          // that were timed; 0: the backend does not work here
};

// Times each backend on frames in which a 5 mm instrument enters every organ. A backend that is several times slower
// than the best before it is timed on few frames. Backends that this machine cannot run are kept with 0 frames.
std::vector<BackendTrial> time_backends(BackendMaker& backends, std::span<const std::string> names,
                                        std::span<const MeshView> organs);

// Returns the fastest backend, the first of equals, with the times of all as the reason. Throws InputError when none
// works.
BackendChoice fastest(std::span<const BackendTrial> trials);

// Returns one phrase that begins with "works", "WRONG" (another answer), "FAILS" (a fault) or "not available". Throws
// InputError for an unknown name.
std::string verdict_on_known_case(BackendMaker& backends, std::string_view name);

}  // namespace trocar
