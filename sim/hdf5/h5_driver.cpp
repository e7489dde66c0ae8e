#include "sim/hdf5/h5_driver.hpp"

#include <hdf5.h>

#include <algorithm>
#include <new>

#include "sim/hdf5/recording_bytes.hpp"

namespace trocar {
namespace {

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

}  // namespace

std::int64_t make_file_access(RecordingBytes& bytes) {
  static const H5FD_class_t driver = driver_class();
  static const hid_t id = H5FDregister(&driver);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  const DriverInfo info{&bytes};
  H5Pset_driver(access, id, &info);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  return access;
}

}  // namespace trocar
