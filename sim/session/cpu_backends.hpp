// Makes touch queries by the names of their backends: the interface, and the backends of cpu_collision for a session
// without OpenGL.   Tested in tests/sim/session/session_test.cpp
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "geometry/touch.hpp"

namespace trocar {

// Defines how a session makes a touch query by the name of its backend. The program decides which backends exist
// (app/compare/backends.hpp). The session itself makes only scan, which replaces a backend that fails.
struct BackendChoice {
  std::string name;
  std::string why;  // one sentence
};

class BackendMaker {
 public:
  virtual ~BackendMaker() = default;
  // Returns the names of all backends, without `auto`, in the order in which tables list them.
  virtual const std::vector<std::string>& names() const = 0;
  // Makes a query of this backend. Throws InputError for an unknown name, or when this machine lacks what the backend
  // needs.
  virtual std::unique_ptr<TouchQuery> make(std::string_view name) = 0;
  // Returns the backend for `auto` with the reason for it, and any other known name unchanged. `organs`: those that it
  // will answer about, if they are known; `auto` may then time backends on them. Throws InputError for an unknown name.
  virtual BackendChoice resolve(std::string_view name, std::span<const MeshView> organs) = 0;
};

// `auto` is scan, the fastest on a CPU. Trees accept a split: "aabb:median-refit".
class CpuBackends final : public BackendMaker {
 public:
  const std::vector<std::string>& names() const override;
  std::unique_ptr<TouchQuery> make(std::string_view name) override;
  BackendChoice resolve(std::string_view name, std::span<const MeshView> organs) override;
};

}  // namespace trocar
