#include "app/window/ghost_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "deform/model_version.hpp"
#include "geometry/error.hpp"
#include "mesh/whole_file.hpp"
#include "sim/support/byte_archive.hpp"

namespace trocar {

template <typename Archive>
void fields(Archive& archive, GhostPose& pose) {
  all(archive, pose.tip, pose.roll_deg, pose.grip);
}

template <typename Archive>
void fields(Archive& archive, Ghost& ghost) {
  all(archive, ghost.step, ghost.tools, ghost.progress, ghost.poses);
}

namespace {

constexpr FileKind kGhostFile{"ghost", 64u << 20};
constexpr std::uint64_t kSignature = 0x3174736f68676374;  // "tcghost1"

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

bool finite(const GhostPose& pose) {
  return std::isfinite(pose.tip.x + pose.tip.y + pose.tip.z) && std::isfinite(pose.roll_deg) &&
         std::isfinite(pose.grip);
}

bool sound(const Ghost& ghost) {
  return ghost.step > 0.0 && ghost.samples() > 0 && ghost.poses.size() == ghost.samples() * ghost.tools &&
         std::ranges::is_sorted(ghost.progress) && std::ranges::all_of(ghost.poses, finite);
}

}  // namespace

std::uint64_t ghost_key(const Scene& scene) {
  const std::string version = fmt::format("model {}\n", kModelVersion);
  return checksum_of(bytes_of(scene.text), checksum_of(bytes_of(version)));
}

std::filesystem::path ghost_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && std::filesystem::path(cache).is_absolute())
    return std::filesystem::path(cache) / "trocar/ghosts";
  if (const char* home = std::getenv("HOME"); home && *home)
    return std::filesystem::path(home) / ".cache/trocar/ghosts";
  return {};
}

std::filesystem::path ghost_file(const std::filesystem::path& folder, std::uint64_t key) {
  return folder / fmt::format("{:016x}.ghost", key);
}

// The file: signature, key, the ghost, the checksum of all bytes before.
std::optional<Ghost> load_ghost(const std::filesystem::path& folder, std::uint64_t key) {
  std::error_code error;
  const auto file = ghost_file(folder, key);
  if (folder.empty() || !std::filesystem::exists(file, error)) return {};
  try {
    const std::string text = read_whole_file(file, kGhostFile);
    std::uint64_t sum = 0;
    if (text.size() < sizeof sum) return {};
    const auto bytes = bytes_of(text).first(text.size() - sizeof sum);
    std::memcpy(&sum, text.data() + bytes.size(), sizeof sum);
    if (sum != checksum_of(bytes)) return {};
    ByteReader reader(bytes);
    std::uint64_t signature = 0, of = 0;
    Ghost ghost;
    all(reader, signature, of);
    if (signature != kSignature || of != key) return {};
    field(reader, ghost);
    if (!reader.at_end() || !sound(ghost)) return {};
    return ghost;
  } catch (const std::runtime_error&) {
    return {};
  }
}

bool save_ghost(const std::filesystem::path& folder, std::uint64_t key, const Ghost& ghost) {
  if (folder.empty() || !sound(ghost)) return false;
  try {
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    ByteWriter writer;
    std::uint64_t signature = kSignature, of = key;
    Ghost written = ghost;
    all(writer, signature, of, written);
    std::vector<std::byte> bytes = writer.take();
    const std::uint64_t sum = checksum_of(bytes);
    WholeFile file(ghost_file(folder, key));
    file.stream().write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    file.stream().write(reinterpret_cast<const char*>(&sum), sizeof sum);
    file.commit();
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

}  // namespace trocar
