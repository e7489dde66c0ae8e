#pragma once

namespace trocar {

inline constexpr const char* kVersion = TROCAR_VERSION;

}  // namespace trocar
