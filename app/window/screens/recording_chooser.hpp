// The panel that lists the recordings of a folder, the newest first: who did which task, for how long, with which
// score, and how large the file is. A recording can be opened or, after a question, deleted. Driven in
// tests/app/window_path_test.sh
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/lab/lab_attempt.hpp"

namespace trocar {

class RecordingChooser {
 public:
  explicit RecordingChooser(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void open();  // and lists the folder
  bool is_open() const { return open_; }
  // Draws the panel. Returns true when the user has chosen a recording. `escape`: closes the panel. `attempts`: whose
  // scores are known. Reads one recording in each call until all are known.
  bool draw(bool escape, const std::vector<LabAttempt>& attempts);
  const std::filesystem::path& folder() const { return folder_; }
  const std::filesystem::path& recording() const { return recording_; }

 private:
  struct Row {
    std::filesystem::path file;
    std::string when, size;
    std::string person, title, length;  // once it is read
    bool read = false;
  };

  void read_next();
  bool table(const std::vector<LabAttempt>& attempts);
  bool draw_row(Row& row, const std::vector<LabAttempt>& attempts);
  void question();

  std::filesystem::path folder_, recording_;
  std::vector<Row> rows_;
  std::optional<std::filesystem::path> deleted_;  // the user is asked about it
  std::string typed_, fault_;
  bool open_ = false;
};

}  // namespace trocar
