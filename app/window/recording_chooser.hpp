// The start screen's panel that lists the recordings of a folder, the newest first.
// Driven in tests/app/window_path_test.sh
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace trocar {

class RecordingChooser {
 public:
  explicit RecordingChooser(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void open();  // and reads the folder
  bool is_open() const { return open_; }
  // Returns true when the user has chosen a recording. `escape`: closes the panel.
  bool draw(bool escape);
  const std::filesystem::path& folder() const { return folder_; }
  const std::filesystem::path& recording() const { return recording_; }

 private:
  struct File {
    std::filesystem::path file;
    std::string label;
  };

  std::filesystem::path folder_, recording_;
  std::vector<File> files_;
  std::string typed_;
  bool open_ = false;
};

}  // namespace trocar
