// The bytes of a recording on the disk, below HDF5: the superblock (the first bytes), which tells whether the writer
// closed the file; the lock, by which a recording has only one writer; reading and writing.
// Tested in tests/sim/recording/recording_bytes_test.cpp and recording_faults_test.cpp
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace trocar {

// Reads the superblock (the first bytes) of an HDF5 file, version 2 or 3, to decide whether the writer closed the file.
// Computes the superblock of a closed file. Layout: HDF5 File Format Specification 3.0, II.A; checksum: Bob Jenkins'
// lookup3.

// The flag that a writer keeps in the file while the file is open.
enum class WriterMark {
  None,      // the writer closed the file
  Starting,  // the writer has the file open; readers must not open it
  Appending  // the writer has the file open and appends (SWMR); readers may open it
};

struct Superblock {
  static constexpr std::size_t kBytes = 48;
  std::array<std::byte, kBytes> bytes{};

  // Returns nothing when the bytes are not an intact superblock of these versions.
  static std::optional<Superblock> read(std::span<const std::byte> start);

  WriterMark mark() const;
  // Returns the superblock without a writer for a file of `size` bytes; h5clear writes the same after a kill.
  Superblock closed(std::uint64_t size) const;
};

// Returns true when the file begins with an HDF5 superblock older than version 2: its metadata have no checksums, so
// HDF5 cannot detect that they are damaged. `start`: at least the first 9 bytes.
bool lacks_checksums(std::span<const std::byte> start);

// Returns the hash that HDF5 appends to its metadata.
std::uint32_t lookup3(std::span<const std::byte> bytes);

// Locks a recording, so that it has only one writer. The writer and `recover` lock the file itself, and the system
// releases the lock when the process ends, even after a kill. A file that is marked as being written and is not locked
// was therefore left behind by a killed process. The lock is an open-file-description lock (fcntl F_OFD_SETLK) of one
// byte far beyond any data. Unlike a POSIX lock it stays when HDF5 opens and closes the same file in this process;
// unlike a lock file it cannot be left behind; and it does not conflict with HDF5's own flock, so h5py can read at the
// same time.

enum class LockAnswer {
  Free,     // the lock was taken, or can be taken
  Busy,     // another open file holds it
  Unusable  // the file system does not support it
};

// Takes the lock for the descriptor, which must be open for writing. Closing the descriptor releases the lock.
LockAnswer take_recording_lock(int descriptor);
// Tests the lock without taking it.
LockAnswer ask_recording_lock(int descriptor);

// Holds the lock of an existing file during its lifetime.
class RecordingLock {
 public:
  // Takes the lock. Throws InputError when the file cannot be opened, a program is writing it, or the file system has
  // no such locks.
  explicit RecordingLock(const std::filesystem::path& file);
  ~RecordingLock();
  RecordingLock(const RecordingLock&) = delete;
  RecordingLock& operator=(const RecordingLock&) = delete;

 private:
  int descriptor_;
};

// Reads and writes the bytes of a recording on the disk, below HDF5. Owns the file descriptor, the writer's lock, and
// the first error.
// HDF5 1.10 cannot handle a failed write: it crashes, or repeats the write at exit. This class therefore stores the
// first error and skips all further writes: HDF5 closes normally, and the file is as a kill at that moment would leave
// it. A read past the end of the file fails, whereas HDF5's own driver returns zeros.

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
