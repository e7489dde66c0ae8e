// The little of HDF5 that a recording needs: files, text attributes, and tables that grow by rows. No HDF5 type shows.
// A file from a stranger is read within limits: tables hold no more than their file does, and nothing leads to another
// file. Errors: InputError for a file that is damaged, RunError when writing fails.   Tested in
// tests/app/recorder_test.cpp, damaged_recording_test.cpp, recording_faults_test.cpp
#pragma once

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
constexpr std::size_t bytes_of(Cell cell) {
  if (cell == Cell::U8) return 1;
  return cell == Cell::U32 || cell == Cell::F32 ? 4 : 8;
}

// One dataset: rows of a fixed shape. Row shape {} is a plain list of cells, {3} a list of triples, ...
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
  // Error: InputError when the place cannot be written, or another program writes there.
  static H5File create(const std::filesystem::path& path);
  // Opens a finished file, one that a killed process left behind, or one that a program is writing. `lock`: the
  // caller's, of this file; without one the file may be live. Error: InputError.
  static H5File open(const std::filesystem::path& path, const RecordingLock* lock = nullptr);
  ~H5File();
  H5File(H5File&& other) noexcept;
  H5File(const H5File&) = delete;
  H5File& operator=(const H5File&) = delete;

  bool clean() const;  // its writer closed it
  bool live() const;   // a program was writing it when it was opened
  // What went wrong in writing so far: a failed write, or the file was deleted. Empty: nothing.
  std::string fault() const;
  bool deleted() const;
  // Ends writing; tables of this file must no longer be used. Error: RunError when not everything is on the disk.
  void close();
  // Where a file that is written is now, when it was moved meanwhile. Empty: where it was.
  std::filesystem::path moved_to() const;
  const std::filesystem::path& path() const { return path_; }
  void make_group(const std::string& path);
  void set_text(const std::string& name, const std::string& value);  // attribute of the whole file
  std::string text(const std::string& name) const;                   // empty when absent
  void set_text(const std::string& object, const std::string& name, const std::string& value);
  std::vector<std::string> groups_in(const std::string& path) const;  // names, in order of creation
  H5Table make_table(const std::string& path, Cell cell, std::vector<std::uint64_t> row_shape,
                     std::uint64_t rows_per_chunk);
  bool has_table(const std::string& path) const;
  // Error: InputError when the file has no such table or another kind of cells.
  H5Table table(const std::string& path, Cell cell) const;
  // Error: RunError when the disk did not take what was written so far. After this no table can be added, and a reader
  // may look in at any time, also after a crash.
  void start_single_writer();

 private:
  H5File(std::unique_ptr<RecordingBytes> bytes, std::int64_t id, std::filesystem::path path);
  std::unique_ptr<RecordingBytes> bytes_;
  std::int64_t id_;
  std::filesystem::path path_;
};

}  // namespace trocar
