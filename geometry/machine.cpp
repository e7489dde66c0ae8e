#include "geometry/machine.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "geometry/error.hpp"

namespace trocar {
namespace {

Instructions most_allowed() {
  const char* named = std::getenv("TROCAR_INSTRUCTIONS");
  const std::string name = named ? named : "";
  if (name.empty() || name == "avx512") return Instructions::Avx512;
  if (name == "avx2") return Instructions::Avx2;
  if (name == "plain") return Instructions::Plain;
  throw InputError(
      "the environment variable TROCAR_INSTRUCTIONS is not plain, avx2 or avx512; unset it or use one of these");
}

}  // namespace

Instructions best_instructions() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2")) return Instructions::Plain;
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") ? Instructions::Avx512
                                                                                 : Instructions::Avx2;
#else
  return Instructions::Plain;
#endif
}

Instructions instructions() {
  static const Instructions chosen = std::min(best_instructions(), most_allowed());
  return chosen;
}

}  // namespace trocar
