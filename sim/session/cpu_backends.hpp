// Makes the touch queries of cpu_collision by their names, for a session without OpenGL.
// Tested in tests/sim/cpu_backends_test.cpp
#pragma once

#include "sim/session/backend_maker.hpp"

namespace trocar {

// `auto` is scan, the fastest on a CPU. Trees accept a split: "aabb:median-refit".
class CpuBackends final : public BackendMaker {
 public:
  const std::vector<std::string>& names() const override;
  std::unique_ptr<TouchQuery> make(std::string_view name) override;
  BackendChoice resolve(std::string_view name, std::span<const MeshView> organs) override;
};

}  // namespace trocar
