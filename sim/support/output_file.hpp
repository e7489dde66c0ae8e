// Writes the output files of commands atomically: a file is complete or absent. An output never overwrites a file that
// Trocar did not write, nor an input of the same command.   Tested in tests/app/output_test.cpp
#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "mesh/whole_file.hpp"

namespace trocar {

// The kind of an output determines the signature by which the program recognises its own files.
enum class OutputKind { Table, Json, Page, Plot, Picture, Mesh, Series, Material, Sweep };

// The first bytes of the results of a sweep.
inline constexpr std::string_view kSweepMark = "Trocar sweep 1\n";

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

}  // namespace trocar
