// Every touch-query backend by its command-line name, and the choice of one for this machine.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "geometry/touch_query.hpp"
#include "gpu_collision/queries.hpp"

namespace trocar {

// In the order tables show them. `auto` is not among them.
const std::vector<std::string>& backend_names();

struct BackendChoice {
  std::string name;
  std::string why;  // one sentence
};

// Makes backends; owns the off-screen OpenGL context, created when a backend first needs one.
class Backends {
 public:
  Backends() = default;
  // Uses the context of a window, which must outlive this object; null: as above.
  explicit Backends(GlContext* window_context) : adopted_(window_context) {}

  // Error: InputError for an unknown name, or when this machine lacks what the backend needs.
  std::unique_ptr<TouchQuery> make(std::string_view name);
  // As above for a backend on OpenGL whose position buffer the renderer shares; nullptr for one on the CPU.
  std::unique_ptr<GpuTouchQuery> make_on_gpu(std::string_view name);
  // The fastest backend for this machine, and why.
  BackendChoice choose();
  // `auto` becomes choose(); any other name is checked. Error: InputError for an unknown name.
  BackendChoice resolve(std::string_view name);

  // The OpenGL context, created now if need be; nullptr when the machine has none.
  GlContext* context();
  const std::string& why_no_context() const { return why_; }

 private:
  GlContext& needed_context(std::string_view backend);

  GlContext* adopted_ = nullptr;
  std::unique_ptr<GlContext> owned_;
  bool tried_ = false;
  std::string why_;
};

// For callers without a session, which stop where a session goes on with scan. After rebuild(): InputError when the
// backend cannot take the organ. After a question: RunError when its answer is worthless.
void require_start(const TouchQuery& query);
void require_answer(const TouchQuery& query);

// "a,b,c" or "all" as a list of names. `all` leaves out what this machine cannot run and says so on stderr.
// Error: InputError for an unknown name or an empty list.
std::vector<std::string> backend_list(std::string_view text, Backends& backends);

// "compute on llvmpipe (LLVM 15.0.6, 256 bits), OpenGL 4.5": what a table or a recording says of this machine.
std::string gl_description(Backends& backends);

}  // namespace trocar
