// Defines the options that `query` and `compare` share: a mesh, a trajectory and the kind of query.
#pragma once

#include <memory>
#include <string>

#include "app/compare/frame_source.hpp"

namespace CLI {
class App;
}

namespace trocar {

struct QueryOptions {
  std::string mesh, trajectory;
  std::string radius_mm;  // mm; a text, so that "abc" and "nan" get an error message with a remedy
  std::string mode = "swept", cover = "capsule", set = "exact";
  int every = 1;
  double scale = 1.0;  // mm per unit of the mesh file
};

void add_query_options(CLI::App& command, QueryOptions& options, bool required);
QueryKind query_kind(const QueryOptions& options);
// Loads and checks mesh, trajectory and radius. Throws InputError.
std::unique_ptr<FrameSource> load_query_source(const QueryOptions& options, double wobble_fraction);

}  // namespace trocar
