#include "sim/hdf5/column_file.hpp"

#include <hdf5.h>

#include <algorithm>
#include <span>
#include <utility>

#include "geometry/error.hpp"
#include "sim/hdf5/recording_bytes.hpp"

namespace trocar {
namespace {

constexpr hsize_t kUserBlock = 512;                        // bytes, the smallest that HDF5 allows
constexpr std::size_t kMemoryStep = std::size_t{1} << 20;  // bytes by which the file in memory grows
constexpr hsize_t kRowsPerChunk = 16384;
constexpr unsigned kColumnDeflateLevel = 4;
constexpr const char* kGroup = "table";

// An HDF5 id of any kind, closed at the end of its scope.
class ColumnId {
 public:
  explicit ColumnId(hid_t id) : id_(id) {
    if (id < 0) throw RunError("HDF5 could not make the table; is there enough memory?");
  }
  ~ColumnId() { H5Idec_ref(id_); }
  ColumnId(const ColumnId&) = delete;
  ColumnId& operator=(const ColumnId&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
};

void require_made(bool fine) {
  if (!fine) throw RunError("HDF5 could not make the table; is there enough memory?");
}

// Returns the texts one after the other, each filled with zeros to the length of the longest.
std::string fixed_texts(const std::vector<std::string>& texts, std::size_t length) {
  std::string all(texts.size() * length, '\0');
  for (std::size_t i = 0; i < texts.size(); ++i)
    std::copy(texts[i].begin(), texts[i].end(), all.begin() + static_cast<std::ptrdiff_t>(i * length));
  return all;
}

// H5Fget_file_image() of HDF5 1.10 clears the flag of a writer in the superblock, but keeps the checksum of before.
void seal_superblock(char* superblock) {
  constexpr std::size_t kChecked = Superblock::kBytes - sizeof(std::uint32_t);
  const std::uint32_t sum = lookup3(std::as_bytes(std::span(superblock, kChecked)));
  for (unsigned k = 0; k < sizeof sum; ++k) superblock[kChecked + k] = static_cast<char>(sum >> (8 * k) & 0xff);
}

}  // namespace

ColumnFile::ColumnFile(const std::string& kind) : kind_(kind.substr(0, kUserBlock - 1)) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const ColumnId access(H5Pcreate(H5P_FILE_ACCESS)), create(H5Pcreate(H5P_FILE_CREATE));
  H5Pset_fapl_core(access, kMemoryStep, false);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  H5Pset_userblock(create, kUserBlock);
  H5Pset_obj_track_times(create, false);
  file_ = H5Fcreate("table", H5F_ACC_TRUNC, create, access);
  const ColumnId layout(H5Pcreate(H5P_GROUP_CREATE));
  H5Pset_link_creation_order(layout, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  H5Pset_obj_track_times(layout, false);
  group_ = file_ < 0 ? -1 : H5Gcreate2(file_, kGroup, H5P_DEFAULT, layout, H5P_DEFAULT);
  require_made(group_ >= 0);
}

ColumnFile::~ColumnFile() {
  if (group_ >= 0) H5Gclose(group_);
  if (file_ >= 0) H5Fclose(file_);
}

void ColumnFile::add_attribute(const std::string& name, const std::string& text) {
  const ColumnId type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, text.size() + 1);
  H5Tset_cset(type, H5T_CSET_UTF8);
  const ColumnId space(H5Screate(H5S_SCALAR));
  const ColumnId attribute(H5Acreate2(file_, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT));
  require_made(H5Awrite(attribute, type, text.c_str()) >= 0);
}

void ColumnFile::add(const FileColumn& column) {
  const hsize_t rows = column.is_text ? column.texts.size() : column.numbers.size();
  const ColumnId space(H5Screate_simple(1, &rows, nullptr)), create(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_obj_track_times(create, false);
  if (rows > 0) {
    const hsize_t chunk = std::min(rows, kRowsPerChunk);
    H5Pset_chunk(create, 1, &chunk);
    H5Pset_shuffle(create);
    H5Pset_deflate(create, kColumnDeflateLevel);
  }
  if (!column.is_text) {
    const ColumnId set(
        H5Dcreate2(group_, column.name.c_str(), H5T_IEEE_F64LE, space, H5P_DEFAULT, create, H5P_DEFAULT));
    return require_made(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, column.numbers.data()) >= 0);
  }
  std::size_t length = 1;
  for (const std::string& text : column.texts) length = std::max(length, text.size());
  const ColumnId type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, length);
  H5Tset_cset(type, H5T_CSET_UTF8);
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  const ColumnId set(H5Dcreate2(group_, column.name.c_str(), type, space, H5P_DEFAULT, create, H5P_DEFAULT));
  require_made(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, fixed_texts(column.texts, length).data()) >= 0);
}

std::string ColumnFile::bytes() {
  require_made(H5Gclose(std::exchange(group_, -1)) >= 0 && H5Fflush(file_, H5F_SCOPE_GLOBAL) >= 0);
  const ssize_t size = H5Fget_file_image(file_, nullptr, 0);
  require_made(size > 0);
  std::string all = kind_;  // the bytes that HDF5 returns begin after the user block
  all.resize(kUserBlock + static_cast<std::size_t>(size), '\0');
  require_made(H5Fget_file_image(file_, all.data() + kUserBlock, static_cast<std::size_t>(size)) == size);
  seal_superblock(all.data() + kUserBlock);
  return all;
}

}  // namespace trocar
