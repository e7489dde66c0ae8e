// Reads and writes the bytes of a recording on the disk, below HDF5. Owns the file descriptor, the writer's lock, and
// the first error.
// HDF5 1.10 cannot handle a failed write: it crashes, or repeats the write at exit. This class therefore stores the
// first error and skips all further writes: HDF5 closes normally, and the file is as a kill at that moment would leave
// it. A read past the end of the file fails, whereas HDF5's own driver returns zeros.
// Tested in tests/sim/recording_bytes_test.cpp
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "sim/hdf5/superblock.hpp"

namespace trocar {

class RecordingBytes {
 public:
  // Creates a new, empty file with exclusive access. Throws InputError when the file exists, cannot be written, or
  // another program has it open.
  static std::unique_ptr<RecordingBytes> create(const std::filesystem::path& path);
  // Opens a file for reading. `locked`: the caller holds the file's lock. Throws InputError when it is not a readable
  // regular file.
  static std::unique_ptr<RecordingBytes> open(const std::filesystem::path& path, bool locked);
  ~RecordingBytes();
  RecordingBytes(const RecordingBytes&) = delete;
  RecordingBytes& operator=(const RecordingBytes&) = delete;

  WriterMark mark() const { return mark_; }  // state when the file was opened
  bool live() const { return live_; }        // a program was writing the file when it was opened

  std::uint64_t size() const;
  bool read(std::uint64_t at, std::span<std::byte> bytes) const;
  void write(std::uint64_t at, std::span<const std::byte> bytes);
  void resize(std::uint64_t size);
  // Waits until all written data are on the disk.
  void sync();
  // Takes HDF5's own lock, which other programs respect. Returns false when another program holds a conflicting lock.
  bool lock_for_hdf5(bool exclusive);
  void unlock_for_hdf5();

  // Describes the first write error (a failed write, or a deleted file). Returns an empty text when there is none.
  std::string fault() const;
  bool deleted() const;
  // Returns the current path of the file if it was moved or replaced after its creation, otherwise an empty path.
  std::filesystem::path moved_to() const;

 private:
  RecordingBytes(std::filesystem::path path, int descriptor, bool writes)
      : path_(std::move(path)), descriptor_(descriptor), writes_(writes) {}
  void look_at_writer(bool locked);
  void note_fault(int error);

  std::filesystem::path path_;
  int descriptor_;
  bool writes_, live_ = false;
  WriterMark mark_ = WriterMark::None;
  std::uint64_t end_ = 0;             // for a writer: the end of the file as HDF5 knows it
  std::string fault_;                 // the first failed write
  std::optional<Superblock> closed_;  // replaces the superblock of a file that a killed process left behind
};

}  // namespace trocar
