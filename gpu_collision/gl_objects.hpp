// Defines small classes that own OpenGL objects, for all backends: buffers, programs, vertex arrays, GPU timers. Checks
// features of a context. No GL type appears here: names and enums are plain unsigned integers. A context must be
// current whenever one of these objects is made, used or destroyed.   Tested in tests/gpu_collision/gl_context_test.cpp
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "gpu_collision/gl_context.hpp"

namespace trocar::gl {

using Name = unsigned;
using Enum = unsigned;

// Throws InputError "backend NAME: this context is OpenGL X.Y, A.B is needed" when the context's version is lower.
void require_version(const GlContext& context, std::string_view backend, int major, int minor);
bool at_least(const GlInfo& info, int major, int minor);  // its version is this or newer
// Returns whether the current context has the extension; queries that context, not a table that was loaded for another
// one.
bool has_extension(std::string_view name);

// Returns the source text of gpu_collision/shaders/FILE, embedded at build time; asserts that the file exists.
std::string_view shader_source(std::string_view file);

// Owns one GL name and deletes it by `destroy`. It can be moved, not copied; 0 is empty.
template <void (*destroy)(Name)>
class Owned {
 public:
  Owned() = default;                                                       // empty
  explicit Owned(Name name) : name_(name) {}                               // takes it over
  Owned(Owned&& other) noexcept : name_(std::exchange(other.name_, 0)) {}  // empties `other`
  Owned& operator=(Owned&& other) noexcept {
    if (this != &other) {
      reset();
      name_ = std::exchange(other.name_, 0);
    }
    return *this;
  }
  ~Owned() { reset(); }  // as reset()

  void reset() {  // deletes the object; empty afterwards
    if (name_ != 0) destroy(std::exchange(name_, 0));
  }
  Name name() const { return name_; }                    // 0: empty
  explicit operator bool() const { return name_ != 0; }  // not empty

 private:
  Name name_ = 0;
};

void delete_buffer(Name name);        // 0 is ignored
void delete_program(Name name);       // 0 is ignored
void delete_vertex_array(Name name);  // 0 is ignored

using Buffer = Owned<delete_buffer>;
using Program = Owned<delete_program>;
using VertexArray = Owned<delete_vertex_array>;

Buffer make_buffer();             // a name without storage
VertexArray make_vertex_array();  // without attributes

struct ShaderStage {
  Enum type;                // GL_VERTEX_SHADER, ...
  std::string_view source;  // starts with its #version line
};
// Compiles and links a program of `stages`, [stage]. `varyings`, [output], may be empty; they are captured interleaved
// by transform feedback. Throws RunError "shader LABEL: <the driver's log>".
Program make_program(std::string_view label, std::span<const ShaderStage> stages,
                     std::span<const char* const> varyings = {});

// Measures the GPU time of one section per frame without waiting: a ring of queries reports the newest finished one.
// Sections of two timers must not overlap.
class Timer {
 public:
  Timer();  // makes its eight queries
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void begin();  // measures nothing while all queries are in flight
  void end();    // of the section that begin() started, if it measures
  // Returns the time, ms, of the newest section with a result (usually one to three frames old); 0 before the first.
  double latest_ms();

 private:
  static constexpr unsigned kDepth = 8;
  std::array<Name, kDepth> queries_{};
  unsigned next_ = 0, oldest_ = 0;  // running counts; slot = count % kDepth
  bool running_ = false;
  double latest_ms_ = 0.0;
};

}  // namespace trocar::gl
