#include "app/record/h5_file.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "app/support/output_file.hpp"
#include "geometry/error.hpp"

namespace trocar {
namespace {

// Closes an HDF5 id of any kind at the end of a scope.
struct Scoped {
  hid_t id;
  ~Scoped() {
    if (id >= 0) H5Idec_ref(id);
  }
};

void silence_library() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

void require(bool fine, const std::string& what) {
  if (!fine) throw RunError(what + ": HDF5 refused; is the disk full or the file damaged?");
}

hid_t memory_type(Cell cell) {
  switch (cell) {
    case Cell::U8:
      return H5T_NATIVE_UINT8;
    case Cell::U32:
      return H5T_NATIVE_UINT32;
    case Cell::U64:
      return H5T_NATIVE_UINT64;
    case Cell::F32:
      return H5T_NATIVE_FLOAT;
    case Cell::F64:
      return H5T_NATIVE_DOUBLE;
  }
  return H5T_NATIVE_DOUBLE;
}

hid_t file_type(Cell cell) {
  switch (cell) {
    case Cell::U8:
      return H5T_STD_U8LE;
    case Cell::U32:
      return H5T_STD_U32LE;
    case Cell::U64:
      return H5T_STD_U64LE;
    case Cell::F32:
      return H5T_IEEE_F32LE;
    case Cell::F64:
      return H5T_IEEE_F64LE;
  }
  return H5T_IEEE_F64LE;
}

std::vector<hsize_t> with_rows(std::uint64_t rows, const std::vector<std::uint64_t>& row_shape) {
  std::vector<hsize_t> shape = {rows};
  shape.insert(shape.end(), row_shape.begin(), row_shape.end());
  return shape;
}

}  // namespace

H5Table::H5Table(std::int64_t id, Cell cell, std::vector<std::uint64_t> row_shape)
    : id_(id),
      cell_(cell),
      row_shape_(std::move(row_shape)),
      row_cells_(std::accumulate(row_shape_.begin(), row_shape_.end(), std::size_t{1}, std::multiplies<>())) {
  const Scoped space{H5Dget_space(id_)};
  std::vector<hsize_t> shape(row_shape_.size() + 1);
  require(H5Sget_simple_extent_dims(space.id, shape.data(), nullptr) >= 0, "table");
  rows_ = shape[0];
}

H5Table::~H5Table() {
  if (id_ >= 0) H5Dclose(id_);
}

H5Table::H5Table(H5Table&& other) noexcept
    : id_(std::exchange(other.id_, -1)),
      cell_(other.cell_),
      row_shape_(std::move(other.row_shape_)),
      row_cells_(other.row_cells_),
      rows_(other.rows_) {}

void H5Table::append(std::span<const std::byte> rows) {
  if (rows.empty()) return;
  const std::uint64_t count = rows.size() / row_bytes(), first = rows_;
  const auto shape = with_rows(first + count, row_shape_);
  require(H5Dset_extent(id_, shape.data()) >= 0, "recording");
  rows_ += count;
  // HDF5 takes a pointer to non-const for both directions of this call; writing does not touch the memory.
  transfer(first, count, const_cast<std::byte*>(rows.data()), true);
}

void H5Table::flush() { require(H5Dflush(id_) >= 0, "recording"); }

void H5Table::read(std::uint64_t first_row, std::span<std::byte> rows) const {
  if (!rows.empty()) transfer(first_row, rows.size() / row_bytes(), rows.data(), false);
}

void H5Table::transfer(std::uint64_t first_row, std::uint64_t count, void* memory, bool writing) const {
  const Scoped file_space{H5Dget_space(id_)};
  auto start = with_rows(first_row, std::vector<std::uint64_t>(row_shape_.size(), 0));
  const auto shape = with_rows(count, row_shape_);
  require(H5Sselect_hyperslab(file_space.id, H5S_SELECT_SET, start.data(), nullptr, shape.data(), nullptr) >= 0,
          "rows");
  const Scoped memory_space{H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr)};
  const hid_t type = memory_type(cell_);
  const herr_t status = writing ? H5Dwrite(id_, type, memory_space.id, file_space.id, H5P_DEFAULT, memory)
                                : H5Dread(id_, type, memory_space.id, file_space.id, H5P_DEFAULT, memory);
  require(status >= 0, writing ? "recording" : "reading a recording");
}

H5File H5File::create(const std::filesystem::path& path) {
  silence_library();
  if (std::error_code none;
      std::filesystem::is_regular_file(path, none) && std::filesystem::file_size(path, none) > 0 && !is_hdf5(path))
    throw InputError(
        fmt::format("{}: is there and is no recording, so it is not written over; name another file", path.string()));
  const Scoped access{H5Pcreate(H5P_FILE_ACCESS)};
  H5Pset_libver_bounds(access.id, H5F_LIBVER_V110, H5F_LIBVER_V110);
  const hid_t id = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id);
  if (id < 0)
    throw InputError(fmt::format("{}: cannot be written; check the folder and its permissions", path.string()));
  return H5File(id, path);
}

H5File H5File::open(const std::filesystem::path& path) {
  silence_library();
  if (!std::filesystem::is_regular_file(path)) {
    throw InputError(fmt::format("{}: cannot be read; check the name of the recording", path.string()));
  }
  hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const bool clean = id >= 0;
  if (!clean) id = H5Fopen(path.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, H5P_DEFAULT);
  if (id < 0) throw InputError(fmt::format("{}: is not a recording (HDF5) that can be opened", path.string()));
  H5File file(id, path);
  file.clean_ = clean;
  return file;
}

H5File::~H5File() {
  if (id_ >= 0) H5Fclose(id_);
}

H5File::H5File(H5File&& other) noexcept
    : id_(std::exchange(other.id_, -1)), path_(std::move(other.path_)), clean_(other.clean_) {}

void H5File::make_group(const std::string& path) {
  const Scoped create{H5Pcreate(H5P_GROUP_CREATE)};
  H5Pset_link_creation_order(create.id, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  const Scoped group{H5Gcreate2(id_, path.c_str(), H5P_DEFAULT, create.id, H5P_DEFAULT)};
  require(group.id >= 0, path_.string());
}

void H5File::set_text(const std::string& name, const std::string& value) { set_text("/", name, value); }

void H5File::set_text(const std::string& object, const std::string& name, const std::string& value) {
  const Scoped type{H5Tcopy(H5T_C_S1)};
  H5Tset_size(type.id, value.size() + 1);
  H5Tset_cset(type.id, H5T_CSET_UTF8);
  const Scoped space{H5Screate(H5S_SCALAR)};
  const Scoped attribute{
      H5Acreate_by_name(id_, object.c_str(), name.c_str(), type.id, space.id, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)};
  require(attribute.id >= 0 && H5Awrite(attribute.id, type.id, value.c_str()) >= 0, path_.string());
}

std::string H5File::text(const std::string& name) const {
  if (H5Aexists(id_, name.c_str()) <= 0) return {};
  const Scoped attribute{H5Aopen(id_, name.c_str(), H5P_DEFAULT)};
  const Scoped type{H5Aget_type(attribute.id)}, space{H5Aget_space(attribute.id)};
  if (H5Tget_class(type.id) != H5T_STRING || H5Sget_simple_extent_npoints(space.id) != 1)
    throw InputError(fmt::format("{}: its attribute {} is no text; it is no Trocar recording", path_.string(), name));
  // Python writes text of variable length.
  if (H5Tis_variable_str(type.id) > 0) {
    char* letters = nullptr;
    require(H5Aread(attribute.id, type.id, &letters) >= 0, path_.string());
    std::string value = letters ? letters : "";
    H5free_memory(letters);
    return value;
  }
  std::string value(H5Tget_size(type.id), '\0');
  require(H5Aread(attribute.id, type.id, value.data()) >= 0, path_.string());
  value.resize(std::min(value.size(), value.find('\0')));
  return value;
}

std::vector<std::string> H5File::groups_in(const std::string& path) const {
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5L_info_t*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    return 0;
  };
  H5Literate_by_name(id_, path.c_str(), H5_INDEX_CRT_ORDER, H5_ITER_INC, nullptr, collect, &names, H5P_DEFAULT);
  return names;
}

H5Table H5File::make_table(const std::string& path, Cell cell, std::vector<std::uint64_t> row_shape,
                           std::uint64_t rows_per_chunk) {
  const auto start = with_rows(0, row_shape), chunk = with_rows(rows_per_chunk, row_shape);
  auto limit = start;
  limit[0] = H5S_UNLIMITED;
  const Scoped space{H5Screate_simple(static_cast<int>(start.size()), start.data(), limit.data())};
  const Scoped create{H5Pcreate(H5P_DATASET_CREATE)};
  H5Pset_chunk(create.id, static_cast<int>(chunk.size()), chunk.data());
  const Scoped links{H5Pcreate(H5P_LINK_CREATE)};
  H5Pset_create_intermediate_group(links.id, 1);
  const hid_t id = H5Dcreate2(id_, path.c_str(), file_type(cell), space.id, links.id, create.id, H5P_DEFAULT);
  require(id >= 0, path_.string());
  return H5Table(id, cell, std::move(row_shape));
}

bool H5File::has_table(const std::string& path) const { return H5Lexists(id_, path.c_str(), H5P_DEFAULT) > 0; }

H5Table H5File::table(const std::string& path, Cell cell) const {
  const hid_t id = H5Dopen2(id_, path.c_str(), H5P_DEFAULT);
  if (id < 0) throw InputError(fmt::format("{}: has no table {}; it is no Trocar recording", path_.string(), path));
  const Scoped type{H5Dget_type(id)}, space{H5Dget_space(id)};
  std::vector<hsize_t> shape(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space.id)));
  H5Sget_simple_extent_dims(space.id, shape.data(), nullptr);
  if (shape.empty() || H5Tequal(type.id, file_type(cell)) <= 0) {
    H5Dclose(id);
    throw InputError(
        fmt::format("{}: table {} holds another kind of numbers; it is no Trocar recording", path_.string(), path));
  }
  return H5Table(id, cell, std::vector<std::uint64_t>(shape.begin() + 1, shape.end()));
}

void H5File::start_single_writer() {
  require(H5Fflush(id_, H5F_SCOPE_GLOBAL) >= 0 && H5Fstart_swmr_write(id_) >= 0, path_.string());
}

}  // namespace trocar
