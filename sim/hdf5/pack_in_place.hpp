// Replaces a full recording by its packed form under the same name, so that everything that refers to it stays valid.
// The packed copy is written beside it, read back, compared bit for bit and synced before the two files exchange their
// names in one step: whenever the program is killed, a whole recording has the name. Programs may read the recording
// meanwhile; only one packs it.   Tested in tests/sim/pack_in_place_test.cpp (kill -9 included)
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "sim/hdf5/pack.hpp"

namespace trocar {

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
