// Encodes bytes as text for a page, in base64 (RFC 4648 section 4).   Tested in tests/app/report_test.cpp
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace trocar {

std::string base64(std::span<const std::byte> bytes);

}  // namespace trocar
