// Files of the program: its data folder, the outputs of commands, and the room on the disk.
// Units: bytes, bytes a second, seconds.   Tested in tests/app/files_test.cpp and
// tests/sim/support/task_test.cpp
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "mesh/whole_file.hpp"

namespace trocar {

// Writes the output files of commands atomically: a file is complete or absent. An output never overwrites a file that
// Trocar did not write, nor an input of the same command.

// The kind of an output determines the signature by which the program recognises its own files.
enum class OutputKind { Table, Json, Page, Plot, Picture, Mesh, Series, Material, Sweep, Film };

// The first bytes of the results of a sweep.
inline constexpr std::string_view kSweepMark = "Trocar sweep 1\n";
// The name of the track of a film, near the beginning of its file.
inline constexpr std::string_view kFilmMark = "Trocar film";

// Returns whether the file begins with the HDF5 signature, as every recording does.
bool is_hdf5(const std::filesystem::path& file);

// Throws InputError when the file exists, is not empty, and was not written by Trocar as this kind. Changes nothing.
void refuse_foreign(const std::filesystem::path& file, OutputKind kind);

// Tables, JSON and pages may name people: only their owner may read them. Others have the permissions of the user's
// umask.
FileReaders readers_of(OutputKind kind);

class OutputFile {
 public:
  // Opens the file at once, so that an unwritable path is refused before any work is done. Throws InputError when the
  // file cannot be written.
  OutputFile(const std::filesystem::path& file, OutputKind kind);
  // Makes an output for a file that the user has allowed to be overwritten. Throws InputError for a recording.
  static OutputFile replacing(const std::filesystem::path& file);

  std::ostream& stream() { return file_.stream(); }
  const std::filesystem::path& partial() const { return file_.partial(); }  // WholeFile::partial()
  // Completes the file. Throws RunError when the disk is full.
  void commit() { file_.commit(); }

 private:
  OutputFile(const std::filesystem::path& file, FileReaders readers) : file_(file, readers) {}
  WholeFile file_;
};

// A file of a command and the option that names it. An empty path means no file.
struct NamedFile {
  std::string option;
  std::filesystem::path file;
};

// Throws InputError when one of the files exists and is not empty, unless `force`. Only for files that the user named:
// the program may replace the files whose names it makes up. `remedy`: how the user asks for `force`.
void refuse_existing(const std::vector<NamedFile>& files, bool force, std::string_view remedy = "add --force");

// Creates the folder and its parents. Throws InputError when that fails.
void make_folder(const std::filesystem::path& folder);

// Throws InputError when an output is also an input or another output, under any name: links are resolved.
void refuse_same_files(const std::vector<NamedFile>& inputs, const std::vector<NamedFile>& outputs);

// Finds the folder of the program's own organs and scenes.

// Returns the path of a file of the data folder. The data folder is the environment's TROCAR_DATA, else `data` in the
// nearest folder above the program that has one (or share/trocar/data), else the source folder. Throws InputError when
// the file is in none of them.
std::filesystem::path data_file(std::string_view relative);

// Returns whether the file lies in a data folder of the program, with links resolved or as named.
bool in_data_folder(const std::filesystem::path& file);
// Returns whether `path` is in `folder` or below. Both must be absolute, without links and dots.
bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder);

// How much room a disk has for recordings, and the words for it.   Units: bytes, bytes a second, seconds.

// Returns the number of bytes that the user can still write where this file or folder is, or will be when its folders
// have been made; nothing when the system does not say.
std::optional<std::uint64_t> free_space(const std::filesystem::path& where);

// How the free space relates to what is to be recorded.
enum class DiskState {
  Enough,
  Low,    // less than kLowDisk
  Short,  // less than the task may take
  Full    // less than kLeastDisk: no attempt begins
};
inline constexpr double kLowDisk = 600.0;  // s  from here on the user is warned
// A shorter recording shows nothing of a trainee. It takes some seconds to write and to close a recording, too.
inline constexpr double kLeastDisk = 60.0;  // s

// `seconds`: of recording that fit; `needed`: what an attempt may take, 0: unknown.
DiskState disk_state(double seconds, double needed);
// "Disk: space for 214 minutes of this task", with what it means when that is not enough.
std::string disk_text(double seconds, double needed);
// "Disk: space for 8 minutes", for a recording that runs; empty while there is enough.
std::string low_disk_text(double seconds);
// "12.3 GB", "45 MB"
std::string bytes_text(std::uint64_t bytes);

}  // namespace trocar
