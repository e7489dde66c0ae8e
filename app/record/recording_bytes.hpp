// The bytes of a recording on the disk, below HDF5: one descriptor, the lock of its writer, and what went wrong.
// HDF5 1.10 does not survive a write that fails (it crashes, or tries again at exit). So the first failure is noted
// here and nothing more is written: HDF5 closes as usual, and the file stays as a kill at that moment would have left
// it. A read past the end of the file fails, where HDF5's own driver would give zeros. Tested in
// tests/app/recording_bytes_test.cpp
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "app/record/superblock.hpp"

namespace trocar {

class RecordingBytes {
 public:
  // A new, empty file that is ours alone. Error: InputError when it is there already, cannot be written, or another
  // program has it open.
  static std::unique_ptr<RecordingBytes> create(const std::filesystem::path& path);
  // For reading. `locked`: the caller holds the file's lock. Error: InputError when it is not a file that can be read.
  static std::unique_ptr<RecordingBytes> open(const std::filesystem::path& path, bool locked);
  ~RecordingBytes();
  RecordingBytes(const RecordingBytes&) = delete;
  RecordingBytes& operator=(const RecordingBytes&) = delete;

  WriterMark mark() const { return mark_; }  // as it was when the file was opened
  bool live() const { return live_; }        // a program was writing the file when it was opened

  std::uint64_t size() const;
  bool read(std::uint64_t at, std::span<std::byte> bytes) const;
  void write(std::uint64_t at, std::span<const std::byte> bytes);
  void resize(std::uint64_t size);
  // Waits until the disk has what was written.
  void sync();
  // HDF5's own lock, which other programs respect. False: one of them is in the way.
  bool lock_for_hdf5(bool exclusive);
  void unlock_for_hdf5();

  // What went wrong in writing: a failed write, or the file was deleted. Empty: nothing.
  std::string fault() const;
  bool deleted() const;
  // Where the file is now if it was moved or replaced after it was created. Empty: where it was.
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
  std::uint64_t end_ = 0;             // of a file that is written: where HDF5 believes it ends
  std::string fault_;                 // the first failed write
  std::optional<Superblock> closed_;  // of a file that a killed process left behind: read in place of its own
};

}  // namespace trocar
