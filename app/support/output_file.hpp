// Files that a command writes in one piece: whole or absent, never over a file that Trocar did not write, never over an
// input of the same command.   Tested in tests/app/output_test.cpp
#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "mesh/whole_file.hpp"

namespace trocar {

// What a file of the program begins with depends on its kind: this is how it knows its own.
enum class OutputKind { Table, Json, Page, Plot, Picture, Mesh, Series };

// Does the file begin as every recording does?
bool is_hdf5(const std::filesystem::path& file);

// Error: InputError when the file is there, holds something, and was not written by Trocar as this kind. Looks only.
void refuse_foreign(const std::filesystem::path& file, OutputKind kind);

class OutputFile {
 public:
  // Opens at once, so that an unwritable place is refused before any work is done. Error: InputError.
  OutputFile(const std::filesystem::path& file, OutputKind kind);
  // For a name that the user has allowed to be replaced, whatever it holds but a recording.
  static OutputFile replacing(const std::filesystem::path& file);

  std::ostream& stream() { return file_.stream(); }
  // Error: RunError when the disk did not take everything.
  void commit() { file_.commit(); }

 private:
  explicit OutputFile(const std::filesystem::path& file) : file_(file) {}
  WholeFile file_;
};

// A file of a command and the option that names it. An empty path is no file.
struct NamedFile {
  std::string option;
  std::filesystem::path file;
};

// With the folders above it. Error: InputError when there can be none.
void make_folder(const std::filesystem::path& folder);

// Error: InputError when an output is an input or another output, under whatever name: links are followed.
void refuse_same_files(const std::vector<NamedFile>& inputs, const std::vector<NamedFile>& outputs);

}  // namespace trocar
