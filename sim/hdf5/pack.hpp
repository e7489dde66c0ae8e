// trocar file pack and unpack: rewrite a recording in its packed form, without loss, and back (RecordingForm).
// Tested in tests/sim/pack_test.cpp
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "sim/hdf5/recording.hpp"

namespace trocar {

// Throws InputError when a recording of this form, or one that is not finished, cannot be rewritten. `wanted`: the form
// that the caller can rewrite.
void require_finished(const Recording& recording, const std::filesystem::path& file, RecordingForm wanted);

// Returns false to stop.
using GoOn = std::function<bool()>;

// Writes the packed form of a recording, whose file is `from`. Throws RunError when writing fails or `go_on` stops it.
void write_packed(const Recording& recording, const H5File& from, H5File& to, const GoOn& go_on);

// Compares a full recording with its packed form: every table and every attribute, bit for bit. Returns what differs;
// an empty text: nothing. Throws InputError when one of them cannot be read, RunError when `go_on` stops it.
std::string difference_of_packed(const std::filesystem::path& full, const std::filesystem::path& packed,
                                 const GoOn& go_on);

// Each writes `out`, which is complete or absent and replaces only a finished recording. Throws InputError for a
// recording that is not finished or not of the right form, or an output that must not be replaced; RunError when
// writing fails.
void pack_recording(const std::filesystem::path& full, const std::filesystem::path& out);
void unpack_recording(const std::filesystem::path& packed, const std::filesystem::path& out);

}  // namespace trocar
