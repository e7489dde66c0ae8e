// Tests damaged VTP files.
#include "tests/mesh/damaged_files.hpp"

namespace trocar {
namespace {

constexpr test::Format kVtpFormats[] = {
    {"vtp", mesh_io::read_vtp, mesh_io::write_vtp, MeshEncoding::Ascii, 4000},
    {"binary vtp", mesh_io::read_vtp, mesh_io::write_vtp, MeshEncoding::Binary, 4000},
};

TEST(MeshIoVtpFuzz, CutAtEveryLength) { test::cut_at_every_length(kVtpFormats); }

TEST(MeshIoVtpFuzz, CutFilesWithCountsAreRefused) { test::cut_files_with_counts(kVtpFormats); }

TEST(MeshIoVtpFuzz, FlippedBytes) { test::flip_bytes(kVtpFormats); }

}  // namespace
}  // namespace trocar
