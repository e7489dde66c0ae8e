// Reads a file completely or rejects it; writes a file completely or not at all. All files that the program reads or
// writes in one piece use this; recordings, which grow, have their own code.
// Tested in tests/app/files_test.cpp
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace trocar {

// The name of a kind of file in error sentences, and its largest size.
struct FileKind {
  const char* name;          // "mesh", "scene", "trajectory"
  std::uint64_t most_bytes;  // a larger file is rejected before it is read
};

// Reads a file. Throws InputError when it cannot be read, is too large, or is not a regular file: a pipe or a device
// may block or never end.
std::string read_whole_file(const std::filesystem::path& file, const FileKind& kind);

// Who may read a file that is written. Owner: mode 0600 from the first byte. Everybody: what the user's umask leaves,
// or the permissions of the file that is replaced.
enum class FileReaders { Everybody, Owner };

// Writes a file. The data go to a temporary file in the same folder; commit() writes them to the disk and renames the
// file, otherwise it is removed. A symbolic link is followed: its target is replaced, not the link.
class WholeFile {
 public:
  // Creates the temporary file at once, so that an unwritable path fails before any work is done. Throws InputError.
  explicit WholeFile(const std::filesystem::path& file, FileReaders readers = FileReaders::Everybody);
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  std::ostream& stream() { return stream_; }  // of the temporary file, until commit()
  // The temporary file, for another program that writes instead of stream().
  const std::filesystem::path& partial() const { return partial_; }
  // Throws RunError when the data could not be written completely.
  void commit();

 private:
  std::filesystem::path named_, target_, partial_;
  FileReaders readers_;
  std::ofstream stream_;
  bool committed_ = false;
};

// A new file that another library writes, under a temporary name in the same folder; only its owner may read it.
// commit() gives it its name, otherwise it is removed.
class NewFile {
 public:
  // Creates the temporary file. Throws InputError when the folder cannot be written.
  explicit NewFile(const std::filesystem::path& file);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const std::filesystem::path& path() const { return partial_; }  // empty at first
  // Writes the file to the disk and renames it. Returns false when a file of this name exists, which is never replaced.
  // Throws RunError when the disk fails.
  bool commit();

 private:
  std::filesystem::path target_, partial_;
};

// Creates a folder that only its owner may use, and its parents; one that exists and belongs to this user becomes so.
// Throws RunError when that fails.
void make_private_folder(const std::filesystem::path& folder);

}  // namespace trocar
