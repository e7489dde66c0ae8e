#include "tests/app/recorded_attempt.hpp"

#include <hdf5.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/compare/backends.hpp"
#include "sim/hdf5/recorder.hpp"
#include "sim/loop/session_loop.hpp"

namespace trocar::test {

std::filesystem::path record_attempt(const Scene& scene, const std::filesystem::path& file, int frames, bool finished,
                                     RunNote run) {
  Backends backends;
  PerformedSession performed(scene, style_of(Skill::Expert), 1, backends, "scan");
  SessionRecorder recorder(recording_file(file), scene, performed.session(), "none", run);
  for (int frame = 0; frame < frames; ++frame) {
    performed.step();
    recorder.append(performed.session(), performed.time());
  }
  if (!finished) {
    usleep(700000);  // the writer flushes three times a second
    _exit(0);        // as a kill does
  }
  recorder.close(ending_of(&performed.task()));
  return file;
}

std::filesystem::path record_killed(const Scene& scene, const std::filesystem::path& file, int frames,
                                    const RunNote& run) {
  const pid_t child = fork();
  if (child == 0) record_attempt(scene, file, frames, false, run);
  int status = 0;
  waitpid(child, &status, 0);
  return file;
}

void change_text(const std::filesystem::path& file, const char* name, const std::string& text) {
  const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  if (H5Aexists(id, name) > 0) H5Adelete(id, name);
  if (!text.empty()) {
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, text.size());
    const hid_t attribute = H5Acreate2(id, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, type, text.c_str());
    H5Aclose(attribute), H5Sclose(space), H5Tclose(type);
  }
  H5Fclose(id);
}

}  // namespace trocar::test
