#include "sim/hdf5/h5_file.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <new>
#include <numeric>
#include <utility>

#include "geometry/error.hpp"
#include "sim/hdf5/recording_bytes.hpp"

namespace trocar {
namespace {

// The file driver (virtual file layer) through which HDF5 reads and writes RecordingBytes.

// HDF5 copies this structure into the property list and back, byte by byte.
struct DriverInfo {
  RecordingBytes* bytes;
};

// HDF5 fills the first member and passes a pointer to it to every function below.
struct DriverFile {
  H5FD_t common;
  RecordingBytes* bytes;
  haddr_t end_of_addresses;
};

DriverFile& file_of(H5FD_t* file) { return *reinterpret_cast<DriverFile*>(file); }
const DriverFile& file_of(const H5FD_t* file) { return *reinterpret_cast<const DriverFile*>(file); }

H5FD_t* open_file(const char*, unsigned flags, hid_t access, haddr_t) {
  const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access));
  if (!info) return nullptr;
  auto* file = new (std::nothrow) DriverFile{};
  if (!file) return nullptr;
  file->bytes = info->bytes;
  if (flags & H5F_ACC_TRUNC) file->bytes->resize(0);
  return &file->common;
}

herr_t close_file(H5FD_t* file) {
  delete &file_of(file);
  return 0;
}

// Every open file counts as a different file, so that the program that writes a recording can also read it.
int compare(const H5FD_t* first, const H5FD_t* second) { return first < second ? -1 : first > second ? 1 : 0; }

herr_t features(const H5FD_t*, unsigned long* flags) {
  if (flags)
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_SUPPORTS_SWMR_IO | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t end_of_addresses(const H5FD_t* file, H5FD_mem_t) { return file_of(file).end_of_addresses; }

herr_t set_end_of_addresses(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  file_of(file).end_of_addresses = address;
  return 0;
}

haddr_t end_of_file(const H5FD_t* file, H5FD_mem_t) { return file_of(file).bytes->size(); }

herr_t read_bytes(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, void* memory) {
  return file_of(file).bytes->read(address, {static_cast<std::byte*>(memory), size}) ? 0 : -1;
}

herr_t write_bytes(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, const void* memory) {
  file_of(file).bytes->write(address, {static_cast<const std::byte*>(memory), size});
  return 0;
}

herr_t set_length(H5FD_t* file, hid_t, hbool_t) {
  DriverFile& own = file_of(file);
  if (own.end_of_addresses != own.bytes->size()) own.bytes->resize(own.end_of_addresses);
  return 0;
}

// Readers of a live recording take no lock, so they never block its writer.
herr_t lock_file(H5FD_t* file, hbool_t exclusive) {
  RecordingBytes& bytes = *file_of(file).bytes;
  return bytes.live() || bytes.lock_for_hdf5(exclusive) ? 0 : -1;
}

herr_t unlock_file(H5FD_t* file) {
  file_of(file).bytes->unlock_for_hdf5();
  return 0;
}

H5FD_class_t driver_class() {
  H5FD_class_t driver{};
  driver.name = "trocar";
  driver.maxaddr = (haddr_t{1} << 62) - 1;
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(DriverInfo);
  driver.open = open_file;
  driver.close = close_file;
  driver.cmp = compare;
  driver.query = features;
  driver.get_eoa = end_of_addresses;
  driver.set_eoa = set_end_of_addresses;
  driver.get_eof = end_of_file;
  driver.read = read_bytes;
  driver.write = write_bytes;
  driver.truncate = set_length;
  driver.lock = lock_file;
  driver.unlock = unlock_file;
  constexpr H5FD_mem_t kMap[] = H5FD_FLMAP_DICHOTOMY;  // metadata and data are allocated separately
  std::copy(std::begin(kMap), std::end(kMap), driver.fl_map);
  return driver;
}

// Creates a file access property list for these bytes; H5Fopen and H5Fcreate then ignore their file name. Returns an
// HDF5 id that the caller closes. `bytes` must outlive the file.
std::int64_t make_file_access(RecordingBytes& bytes) {
  static const H5FD_class_t driver = driver_class();
  static const hid_t id = H5FDregister(&driver);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  const DriverInfo info{&bytes};
  H5Pset_driver(access, id, &info);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  return access;
}

// Checks of the tables of an untrusted file: all data are in this file, and no more than the file can hold. Each
// returns the fault as the second half of a sentence, or an empty text when there is no fault.

// Deflate has the highest compression ratio of the usual filters, 1032 : 1.
constexpr std::uint64_t kDensest = 1100;
// HDF5 keeps a whole chunk in memory; the recorder's chunks have 64 KiB, or one row.
constexpr std::uint64_t kLargestChunk = std::uint64_t{256} << 20;  // bytes

struct Properties {
  hid_t id;
  ~Properties() { H5Pclose(id); }
};

// Computes the number of bytes of all cells; false when it exceeds 64 bits.
bool product(const std::vector<unsigned long long>& shape, std::size_t cell_bytes, std::uint64_t& bytes) {
  bytes = cell_bytes;
  for (const std::uint64_t count : shape)
    if (__builtin_mul_overflow(bytes, count, &bytes)) return false;
  return true;
}

std::string fault_of_chunks(hid_t properties, std::size_t dimensions, std::size_t cell_bytes) {
  std::vector<hsize_t> chunk(dimensions);
  if (H5Pget_chunk(properties, static_cast<int>(dimensions), chunk.data()) != static_cast<int>(dimensions))
    return "has chunks of another shape";
  std::uint64_t bytes = 0;
  return product(chunk, cell_bytes, bytes) && bytes <= kLargestChunk ? "" : "has chunks larger than 256 MiB";
}

// Checks the path from the file's root to an object: every link must be a hard link, which stays in the same file.
std::string fault_of_links(std::int64_t file, const std::string& path) {
  for (std::size_t end = path.find('/', 1); end != 1; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    H5L_info_t link{};
    if (H5Lexists(file, part.c_str(), H5P_DEFAULT) <= 0) return fmt::format("has no {}", part);
    if (H5Lget_info(file, part.c_str(), &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD)
      return fmt::format("{} is a link to another object or another file", part);
    if (end == std::string::npos) break;
  }
  return {};
}

// Checks a table of this shape: no external files, no virtual dataset, chunks of at most 256 MiB, and no more data than
// `file_bytes` allows.
std::string fault_of_table(std::int64_t table, const std::vector<unsigned long long>& shape, std::size_t cell_bytes,
                           std::uint64_t file_bytes) {
  const Properties properties{H5Dget_create_plist(table)};
  const H5D_layout_t layout = H5Pget_layout(properties.id);
  if (layout == H5D_VIRTUAL) return "is a virtual dataset with data in other files";
  if (H5Pget_external_count(properties.id) != 0) return "has its data in other files";
  if (layout == H5D_CHUNKED)
    if (std::string fault = fault_of_chunks(properties.id, shape.size(), cell_bytes); !fault.empty()) return fault;
  const bool packed = layout == H5D_CHUNKED && H5Pget_nfilters(properties.id) > 0;
  const std::uint64_t stored = std::min<std::uint64_t>(H5Dget_storage_size(table), file_bytes);
  std::uint64_t bytes = 0;
  if (!product(shape, cell_bytes, bytes) || bytes / (packed ? kDensest : 1) > stored)
    return "claims more rows than its file can hold";
  // Rows without cells need no storage, so their number needs its own limit.
  if (bytes == 0 && shape.front() > file_bytes) return "claims more rows than its file can hold";
  return {};
}

// Closes an HDF5 id of any kind at the end of a scope.
struct Scoped {
  hid_t id;
  ~Scoped() {
    if (id >= 0) H5Idec_ref(id);
  }
};

// Turns off HDF5's printed diagnostics, a setting of each thread; this file throws exceptions instead. Also keeps HDF5
// from repeating failed writes at exit, for example on a full disk.
void silence_library() {
  static const herr_t no_work_at_exit = H5dont_atexit();
  thread_local const herr_t silent = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  static_cast<void>(no_work_at_exit), static_cast<void>(silent);
}

// Returns the file that an object is in.
std::string file_name(hid_t object) {
  const ssize_t length = H5Fget_name(object, nullptr, 0);
  std::string name(static_cast<std::size_t>(std::max<ssize_t>(0, length)), '\0');
  if (length > 0) H5Fget_name(object, name.data(), name.size() + 1);
  return name;
}

void require_written(bool fine, hid_t object) {
  if (!fine) throw RunError(file_name(object) + ": HDF5 could not write to the file");
}

void require_read(bool fine, hid_t object) {
  if (!fine) throw InputError(file_name(object) + ": HDF5 cannot read the whole file; is it damaged or cut short?");
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

// HDF5 repeats a read while the checksum shows that the writer is changing the metadata. HDF5's own limit is 100.
constexpr unsigned kLiveReadAttempts = 20;
// 1 fastest .. 9 smallest. On packed nodes 6 saves 1 % more and takes 1.3 times as long.
constexpr unsigned kDeflateLevel = 4;
// A recording has one group per organ.
constexpr std::size_t kMostGroups = 1000;
// Some 30 tables of each organ.
constexpr std::size_t kMostPaths = 100 * kMostGroups;

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
  require_read(H5Sget_simple_extent_dims(space.id, shape.data(), nullptr) >= 0, id_);
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
  silence_library();
  const std::uint64_t count = rows.size() / row_bytes(), first = rows_;
  const auto shape = with_rows(first + count, row_shape_);
  require_written(H5Dset_extent(id_, shape.data()) >= 0, id_);
  rows_ += count;
  // transfer() takes a non-const pointer for reading and writing; writing does not change the memory.
  transfer(first, count, const_cast<std::byte*>(rows.data()), true);
}

void H5Table::flush() { require_written(H5Dflush(id_) >= 0, id_); }

void H5Table::read(std::uint64_t first_row, std::span<std::byte> rows) const {
  if (rows.empty()) return;
  silence_library();
  transfer(first_row, rows.size() / row_bytes(), rows.data(), false);
}

void H5Table::transfer(std::uint64_t first_row, std::uint64_t count, void* memory, bool writing) const {
  const Scoped file_space{H5Dget_space(id_)};
  auto start = with_rows(first_row, std::vector<std::uint64_t>(row_shape_.size(), 0));
  const auto shape = with_rows(count, row_shape_);
  const herr_t selected =
      H5Sselect_hyperslab(file_space.id, H5S_SELECT_SET, start.data(), nullptr, shape.data(), nullptr);
  const Scoped memory_space{H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr)};
  const hid_t type = memory_type(cell_);
  if (writing)
    require_written(selected >= 0 && H5Dwrite(id_, type, memory_space.id, file_space.id, H5P_DEFAULT, memory) >= 0,
                    id_);
  else
    require_read(selected >= 0 && H5Dread(id_, type, memory_space.id, file_space.id, H5P_DEFAULT, memory) >= 0, id_);
}

H5File::H5File(std::unique_ptr<RecordingBytes> bytes, std::int64_t id, std::filesystem::path path)
    : bytes_(std::move(bytes)), id_(id), path_(std::move(path)) {}

H5File H5File::create(const std::filesystem::path& path) {
  silence_library();
  auto bytes = RecordingBytes::create(path);
  const Scoped access{make_file_access(*bytes)};
  const hid_t id = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id);
  if (id < 0)
    throw InputError(fmt::format("{}: cannot be written; check the folder and its permissions", path.string()));
  return H5File(std::move(bytes), id, path);
}

H5File H5File::open(const std::filesystem::path& path, const RecordingLock* lock) {
  silence_library();
  auto bytes = RecordingBytes::open(path, lock != nullptr);
  std::array<std::byte, 9> start{};
  if (bytes->read(0, start) && lacks_checksums(start))
    throw InputError(
        fmt::format("{}: its HDF5 metadata have no checksums, so damage would go unnoticed; rewrite it with "
                    "h5repack --latest",
                    path.string()));
  const Scoped access{make_file_access(*bytes)};
  const bool live = bytes->live() && bytes->mark() == WriterMark::Appending;
  if (live) H5Pset_metadata_read_attempts(access.id, kLiveReadAttempts);
  const hid_t id = H5Fopen(path.c_str(), live ? H5F_ACC_RDONLY | H5F_ACC_SWMR_READ : H5F_ACC_RDONLY, access.id);
  if (id >= 0) return H5File(std::move(bytes), id, path);
  if (bytes->live())
    throw InputError(
        fmt::format("{}: another program is creating this recording at the moment; try again", path.string()));
  if (bytes->mark() != WriterMark::None)
    throw InputError(
        fmt::format("{}: its program ended before it wrote a frame, or the file was cut short", path.string()));
  throw InputError(fmt::format("{}: is not a recording (HDF5) that can be opened", path.string()));
}

H5File::~H5File() {
  if (id_ >= 0) H5Fclose(id_);
}

H5File::H5File(H5File&& other) noexcept
    : bytes_(std::move(other.bytes_)), id_(std::exchange(other.id_, -1)), path_(std::move(other.path_)) {}

bool H5File::clean() const { return bytes_->mark() == WriterMark::None; }
bool H5File::live() const { return bytes_->live(); }
std::string H5File::fault() const { return bytes_->fault(); }
bool H5File::deleted() const { return bytes_->deleted(); }
std::filesystem::path H5File::moved_to() const { return bytes_->moved_to(); }

void H5File::close() {
  silence_library();
  const bool closed = H5Fclose(std::exchange(id_, -1)) >= 0;
  if (closed) bytes_->sync();
  if (const std::string what = fault(); !what.empty()) throw RunError(fmt::format("{}: {}", path_.string(), what));
  if (!closed) throw RunError(fmt::format("{}: HDF5 could not close the file", path_.string()));
}

void H5File::make_group(const std::string& path) {
  const Scoped create{H5Pcreate(H5P_GROUP_CREATE)};
  H5Pset_link_creation_order(create.id, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  const Scoped group{H5Gcreate2(id_, path.c_str(), H5P_DEFAULT, create.id, H5P_DEFAULT)};
  require_written(group.id >= 0, id_);
}

void H5File::set_text(const std::string& name, const std::string& value) { set_text("/", name, value); }

void H5File::set_text(const std::string& object, const std::string& name, const std::string& value) {
  const Scoped type{H5Tcopy(H5T_C_S1)};
  H5Tset_size(type.id, value.size() + 1);
  H5Tset_cset(type.id, H5T_CSET_UTF8);
  const Scoped space{H5Screate(H5S_SCALAR)};
  const Scoped attribute{
      H5Acreate_by_name(id_, object.c_str(), name.c_str(), type.id, space.id, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)};
  require_written(attribute.id >= 0 && H5Awrite(attribute.id, type.id, value.c_str()) >= 0, id_);
}

std::string H5File::text(const std::string& name) const {
  silence_library();
  const htri_t exists = H5Aexists(id_, name.c_str());
  require_read(exists >= 0, id_);
  if (exists == 0) return {};
  const Scoped attribute{H5Aopen(id_, name.c_str(), H5P_DEFAULT)};
  const Scoped type{H5Aget_type(attribute.id)}, space{H5Aget_space(attribute.id)};
  if (H5Tget_class(type.id) != H5T_STRING || H5Sget_simple_extent_npoints(space.id) != 1)
    throw InputError(
        fmt::format("{}: its attribute {} is not text; the file is not a Trocar recording", path_.string(), name));
  // h5py writes strings of variable length.
  if (H5Tis_variable_str(type.id) > 0) {
    char* letters = nullptr;
    require_read(H5Aread(attribute.id, type.id, &letters) >= 0, id_);
    std::string value = letters ? letters : "";
    H5free_memory(letters);
    return value;
  }
  require_read(H5Tget_size(type.id) <= bytes_->size(), id_);
  std::string value(H5Tget_size(type.id), '\0');
  require_read(H5Aread(attribute.id, type.id, value.data()) >= 0, id_);
  value.resize(std::min(value.size(), value.find('\0')));
  return value;
}

std::vector<std::string> H5File::groups_in(const std::string& path) const {
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5L_info_t*, void* list) -> herr_t {
    auto& found = *static_cast<std::vector<std::string>*>(list);
    if (found.size() == kMostGroups) return -1;
    found.emplace_back(name);
    return 0;
  };
  const std::string fault = fault_of_links(id_, path);
  if (!fault.empty()) throw InputError(fmt::format("{}: {}", path_.string(), fault));
  require_read(H5Literate_by_name(id_, path.c_str(), H5_INDEX_CRT_ORDER, H5_ITER_INC, nullptr, collect, &names,
                                  H5P_DEFAULT) >= 0,
               id_);
  return names;
}

H5Table H5File::make_table(const std::string& path, Cell cell, std::vector<std::uint64_t> row_shape,
                           std::uint64_t rows_per_chunk, Storage storage) {
  const auto start = with_rows(0, row_shape), chunk = with_rows(rows_per_chunk, row_shape);
  auto limit = start;
  limit[0] = H5S_UNLIMITED;
  const Scoped space{H5Screate_simple(static_cast<int>(start.size()), start.data(), limit.data())};
  const Scoped create{H5Pcreate(H5P_DATASET_CREATE)};
  H5Pset_chunk(create.id, static_cast<int>(chunk.size()), chunk.data());
  if (storage == Storage::Deflated) H5Pset_shuffle(create.id), H5Pset_deflate(create.id, kDeflateLevel);
  const Scoped links{H5Pcreate(H5P_LINK_CREATE)};
  H5Pset_create_intermediate_group(links.id, 1);
  // Rows are only appended, so the chunk that is being filled is the only one to keep. By default HDF5 keeps 1 MiB of
  // each table: with dozens of tables, the memory of a long session would slowly grow by as many MiB.
  const Scoped access{H5Pcreate(H5P_DATASET_ACCESS)};
  const auto cells = std::accumulate(chunk.begin(), chunk.end(), std::size_t{1}, std::multiplies<>());
  H5Pset_chunk_cache(access.id, 1, cells * bytes_of(cell), 1.0);
  const hid_t id = H5Dcreate2(id_, path.c_str(), file_type(cell), space.id, links.id, create.id, access.id);
  require_written(id >= 0, id_);
  return H5Table(id, cell, std::move(row_shape));
}

bool H5File::has_table(const std::string& path) const { return H5Lexists(id_, path.c_str(), H5P_DEFAULT) > 0; }

std::vector<std::string> H5File::paths() const {
  silence_library();
  std::vector<std::string> found;
  const auto collect = [](hid_t, const char* name, const H5L_info_t* link, void* list) -> herr_t {
    auto& names = *static_cast<std::vector<std::string>*>(list);
    if (link->type != H5L_TYPE_HARD || names.size() == kMostPaths) return -1;
    names.push_back(std::string("/") + name);
    return 0;
  };
  if (H5Lvisit(id_, H5_INDEX_NAME, H5_ITER_INC, collect, &found) < 0)
    throw InputError(fmt::format("{}: has links that no recording has, or is damaged", path_.string()));
  std::sort(found.begin(), found.end());
  return found;
}

bool H5File::is_group(const std::string& path) const {
  silence_library();
  const Scoped object{H5Oopen(id_, path.c_str(), H5P_DEFAULT)};
  return object.id >= 0 && H5Iget_type(object.id) == H5I_GROUP;
}

std::vector<std::string> H5File::attributes_of(const std::string& path) const {
  silence_library();
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5A_info_t*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    return 0;
  };
  const Scoped object{H5Oopen(id_, path.c_str(), H5P_DEFAULT)};
  require_read(object.id >= 0 && H5Aiterate2(object.id, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names) >= 0,
               id_);
  std::sort(names.begin(), names.end());
  return names;
}

H5Table H5File::table(const std::string& path) const {
  silence_library();
  for (const Cell cell : {Cell::U8, Cell::U32, Cell::U64, Cell::F32, Cell::F64}) {
    const Scoped table{H5Dopen2(id_, path.c_str(), H5P_DEFAULT)};
    const Scoped type{table.id >= 0 ? H5Dget_type(table.id) : -1};
    if (type.id >= 0 && H5Tequal(type.id, file_type(cell)) > 0) return this->table(path, cell);
  }
  throw InputError(fmt::format("{}: table {} has a type of numbers that no recording has", path_.string(), path));
}

H5Table H5File::table(const std::string& path, Cell cell) const {
  silence_library();
  const auto refuse = [&](const std::string& what) {
    throw InputError(fmt::format("{}: {}; the file is damaged, or not a Trocar recording", path_.string(), what));
  };
  if (const std::string fault = fault_of_links(id_, path); !fault.empty()) refuse(fault);
  Scoped table{H5Dopen2(id_, path.c_str(), H5P_DEFAULT)};
  if (table.id < 0) refuse(fmt::format("has no table {}", path));
  const Scoped type{H5Dget_type(table.id)}, space{H5Dget_space(table.id)};
  std::vector<hsize_t> shape(static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space.id))));
  H5Sget_simple_extent_dims(space.id, shape.data(), nullptr);
  if (shape.empty() || H5Tequal(type.id, file_type(cell)) <= 0)
    refuse(fmt::format("table {} has another type of numbers", path));
  if (const std::string fault = fault_of_table(table.id, shape, bytes_of(cell), bytes_->size()); !fault.empty())
    refuse(fmt::format("table {} {}", path, fault));
  return H5Table(std::exchange(table.id, -1), cell, std::vector<std::uint64_t>(shape.begin() + 1, shape.end()));
}

void H5File::start_single_writer() {
  silence_library();
  const bool flushed = H5Fflush(id_, H5F_SCOPE_GLOBAL) >= 0;
  if (const std::string what = fault(); !what.empty()) throw RunError(fmt::format("{}: {}", path_.string(), what));
  require_written(flushed && H5Fstart_swmr_write(id_) >= 0, id_);
}

}  // namespace trocar
