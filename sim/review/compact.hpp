// trocar file pack --compact and its inverse: a recording without what its session's inputs determine.
// Layout: docs/file-formats.md.   Tested in tests/sim/pack_test.cpp
#pragma once

#include <filesystem>
#include <functional>

#include "sim/record/record_sink.hpp"

namespace trocar {

// Called with the number of finished frames; returns false to stop.
using FramesDone = std::function<bool(std::size_t)>;

// Writes the compact form of a full or packed recording. Runs its session again and compares everything that the
// compact form lacks, bit for bit. Throws InputError when the session gives another bit, or the recording cannot be
// computed again; RunError when writing fails or `done` stops it. `out` is complete or absent and replaces only a
// finished recording.
void compact_recording(const std::filesystem::path& in, const std::filesystem::path& out, const FramesDone& done);

// Computes a compact recording again and writes it as a full one. Checks every frame against its checksum and its
// touched faces. Errors as above.
void expand_recording(const std::filesystem::path& compact, const std::filesystem::path& out, const FramesDone& done);

}  // namespace trocar
