// Rewrites recordings: copies their complete frames (trocar file recover), packs them without loss and unpacks them,
// also under the same name.   Tested in tests/sim/recording/recording_faults_test.cpp and pack_test.cpp
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sim/hdf5/h5_file.hpp"
#include "sim/hdf5/recording.hpp"

namespace trocar {

// Copies attributes, and all tables that both forms store in the same way; the tables of a full recording are stored
// plain, those of other forms are compressed. `from`: the file of `recording`. Returns the number of touches. Throws
// RunError when a write fails.
std::uint64_t copy_recording(const Recording& recording, const H5File& from, H5File& to, RecordingForm form);

// trocar file pack and unpack: rewrite a recording in its packed form, without loss, and back (RecordingForm).

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

// Replaces a full recording by its packed form under the same name, so that everything that refers to it stays valid.
// The packed copy is written beside it, read back, compared bit for bit and synced before the two files exchange their
// names in one step: whenever the program is killed, a whole recording has the name. Programs may read the recording
// meanwhile; only one packs it.

struct PackedSize {
  std::uint64_t full = 0, packed = 0;  // bytes
};

// Packs a finished, full recording in place; it keeps its owner, permissions and dates. Throws InputError when it is
// not such a recording, another program is packing it, it was removed or changed meanwhile, or the packed form would
// lose anything; RunError when the disk has too little room for both, writing fails, or `go_on` stops it. After an
// error the recording is unchanged.
PackedSize pack_in_place(const std::filesystem::path& recording, const GoOn& go_on = {});

// Returns the finished attempts of people in a folder that are not packed, the smallest first.
std::vector<std::filesystem::path> attempts_to_pack(const std::filesystem::path& folder);
// Removes what packing left in a folder when its program was killed. Removes nothing that is the only copy of a
// recording.
void remove_pack_leftovers(const std::filesystem::path& folder, const GoOn& go_on = {});

// The file beside a recording that packing uses.
std::filesystem::path packing_file(const std::filesystem::path& recording);

}  // namespace trocar
