// Wraps the part of HDF5 that a recording needs: files, text attributes, and tables that grow by rows. The interface
// has no HDF5 types. Untrusted files are read within limits: a table has no more data than its file can hold, and no
// link leads to another file. Throws InputError for a damaged file, RunError when writing fails.
// Tested in tests/sim/recording/recorder_test.cpp, damaged_recording_test.cpp, recording_faults_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace trocar {

class RecordingBytes;
class RecordingLock;

enum class Cell { U8, U32, U64, F32, F64 };
// How a table is stored. Deflated: compressed by zlib after the bytes of equal weight are put together (HDF5's
// shuffle).
enum class Storage { Plain, Deflated };
constexpr std::size_t bytes_of(Cell cell) {
  if (cell == Cell::U8) return 1;
  return cell == Cell::U32 || cell == Cell::F32 ? 4 : 8;
}

// One dataset with rows of a fixed shape: row shape {} is a list of cells, {3} a list of triples, ...
class H5Table {
 public:
  H5Table(std::int64_t id, Cell cell, std::vector<std::uint64_t> row_shape);
  ~H5Table();
  H5Table(H5Table&& other) noexcept;
  H5Table(const H5Table&) = delete;
  H5Table& operator=(const H5Table&) = delete;

  std::uint64_t rows() const { return rows_; }
  std::size_t row_cells() const { return row_cells_; }
  std::size_t row_bytes() const { return row_cells_ * bytes_of(cell_); }
  const std::vector<std::uint64_t>& row_shape() const { return row_shape_; }
  Cell cell() const { return cell_; }

  void append(std::span<const std::byte> rows);
  void flush();
  void read(std::uint64_t first_row, std::span<std::byte> rows) const;

  template <typename T>
  std::vector<T> read_rows(std::uint64_t first_row, std::uint64_t count) const {
    std::vector<T> values(count * row_bytes() / sizeof(T));
    read(first_row, std::as_writable_bytes(std::span<T>(values)));
    return values;
  }
  template <typename T>
  std::vector<T> read_all() const {
    return read_rows<T>(0, rows_);
  }

 private:
  void transfer(std::uint64_t first_row, std::uint64_t count, void* memory, bool writing) const;

  std::int64_t id_;
  Cell cell_;
  std::vector<std::uint64_t> row_shape_;
  std::size_t row_cells_;
  std::uint64_t rows_ = 0;
};

class H5File {
 public:
  // Creates a new file. Throws InputError when the file exists, cannot be written, or another program writes it.
  static H5File create(const std::filesystem::path& path);
  // Opens a finished file, the file of a killed process, or a file that a program is writing. `lock`: the caller's lock
  // of this file, if it holds one; without a lock the file may be live. Throws InputError.
  static H5File open(const std::filesystem::path& path, const RecordingLock* lock = nullptr);
  ~H5File();
  H5File(H5File&& other) noexcept;
  H5File(const H5File&) = delete;
  H5File& operator=(const H5File&) = delete;

  bool clean() const;  // its writer closed it
  bool live() const;   // a program was writing it when it was opened
  // Describes the first write error (a failed write, or a deleted file). Returns an empty text when there is none.
  std::string fault() const;
  bool deleted() const;
  // Ends writing; destroy the tables of this file before. Throws RunError when not all data are on the disk.
  void close();
  // Returns the new path of the file if it was moved while it was written, otherwise an empty path.
  std::filesystem::path moved_to() const;
  const std::filesystem::path& path() const { return path_; }
  void make_group(const std::string& path);
  void set_text(const std::string& name, const std::string& value);  // attribute of the whole file
  std::string text(const std::string& name) const;                   // empty when absent
  void set_text(const std::string& object, const std::string& name, const std::string& value);  // of a group or table
  std::vector<std::string> groups_in(const std::string& path) const;  // names, in order of creation
  H5Table make_table(const std::string& path, Cell cell, std::vector<std::uint64_t> row_shape,
                     std::uint64_t rows_per_chunk, Storage storage = Storage::Plain);
  bool has_table(const std::string& path) const;
  // Returns the paths of all groups and tables, sorted. Throws InputError when the file has links to elsewhere.
  std::vector<std::string> paths() const;
  bool is_group(const std::string& path) const;
  // Returns the names of the attributes of the whole file ("/"), a group or a table, sorted.
  std::vector<std::string> attributes_of(const std::string& path) const;
  // Opens a table. Throws InputError when the file has no such table, or the table has another cell type or exceeds the
  // limits.
  H5Table table(const std::string& path, Cell cell) const;
  // Does the same with the table's own type. Throws InputError when it is none of Cell.
  H5Table table(const std::string& path) const;
  // Starts SWMR writing: afterwards no table can be added, and readers can open the file at any time, also after a
  // crash. Throws RunError when a write has failed so far.
  void start_single_writer();

 private:
  H5File(std::unique_ptr<RecordingBytes> bytes, std::int64_t id, std::filesystem::path path);
  std::unique_ptr<RecordingBytes> bytes_;
  std::int64_t id_;
  std::filesystem::path path_;
};

}  // namespace trocar
