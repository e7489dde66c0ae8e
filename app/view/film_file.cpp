#include "app/view/film_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "geometry/error.hpp"
#include "sim/support/files.hpp"
#include "sim/support/process.hpp"

namespace trocar {
namespace {

constexpr const char* kFfmpeg = "ffmpeg";
constexpr const char* kGetFfmpeg = "install the package ffmpeg (Debian: apt-get install ffmpeg)";

// Rows of OpenGL begin at the bottom. Colours are those of high-definition television, which players assume. With a key
// picture every two seconds a player jumps at once. The index is at the beginning, so that a browser plays while it
// loads.
std::vector<std::string> encoder(const glm::ivec2& size, int rate, const std::filesystem::path& out) {
  return {"-hide_banner",
          "-loglevel",
          "error",
          "-xerror",
          "-f",
          "rawvideo",
          "-pix_fmt",
          "rgb24",
          "-s",
          fmt::format("{}x{}", size.x, size.y),
          "-framerate",
          fmt::format("{}", rate),
          "-i",
          "pipe:0",
          "-vf",
          "vflip,scale=out_color_matrix=bt709:out_range=tv",
          "-c:v",
          "libx264",
          "-preset",
          "veryfast",
          "-crf",
          "21",
          "-g",
          fmt::format("{}", 2 * rate),
          "-pix_fmt",
          "yuv420p",
          "-colorspace",
          "bt709",
          "-color_primaries",
          "bt709",
          "-color_trc",
          "bt709",
          "-movflags",
          "+faststart",
          "-metadata:s:v",
          fmt::format("handler_name={}", kFilmMark),
          "-f",
          "mp4",
          "-y",
          "file:" + out.string()};
}

constexpr int kNoSuchProgram = 127;  // exit status of env

// In the folder for other distributions our libraries come first, which are not those of the machine's ffmpeg.
struct FfmpegCall {
  std::string program = kFfmpeg;
  std::vector<std::string> words;

  explicit FfmpegCall(std::vector<std::string> arguments) : words(std::move(arguments)) {
    const char* before = std::getenv("TROCAR_LIBRARIES_BEFORE");
    if (!before) return;
    std::vector<std::string> call{"-u", "LD_LIBRARY_PATH", kFfmpeg};
    if (*before) call = {fmt::format("LD_LIBRARY_PATH={}", before), kFfmpeg};
    words.insert(words.begin(), call.begin(), call.end());
    program = "env";
  }
};

[[noreturn]] void fail_without_ffmpeg() {
  throw InputError(fmt::format("a film needs the program ffmpeg, which is not on this machine; {}", kGetFfmpeg));
}

// The end of the last line, after what it says of the temporary file: "File too large".
std::string last_reason(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  text = text.substr(text.rfind('\n') + 1);
  const std::size_t colon = text.rfind(": ");
  return colon == text.npos ? text : text.substr(colon + 2);
}

}  // namespace

struct FilmFile::Content {
  std::filesystem::path named;
  OutputFile out;
  FfmpegCall call;
  ChildProcess ffmpeg;
  std::optional<int> status;  // of its end

  Content(const std::filesystem::path& file, const glm::ivec2& size, int rate)
      : named(file),
        out(file, OutputKind::Film),
        call(encoder(size, rate, out.partial())),
        ffmpeg(call.program, call.words, true) {}

  // Returns the exit status of ffmpeg.
  int end() {
    ffmpeg.close_input();
    if (!status) status = ffmpeg.wait();
    return *status;
  }

  [[noreturn]] void fail() {
    if (end() == kNoSuchProgram) fail_without_ffmpeg();
    const std::string said = last_reason(ffmpeg.output());
    throw RunError(fmt::format("{}: the film could not be written ({}); is the disk full?", named.string(),
                               said.empty() ? "ffmpeg ended early" : "ffmpeg: " + said));
  }
};

FilmFile::FilmFile(const std::filesystem::path& file, const glm::ivec2& size, int rate)
    : content_(std::make_unique<Content>(file, size, rate)) {
  const int error = content_->ffmpeg.error();
  if (error == ENOENT) fail_without_ffmpeg();
  if (error != 0)
    throw InputError(fmt::format("the program ffmpeg cannot be started ({}); {}", std::strerror(error), kGetFfmpeg));
}
FilmFile::~FilmFile() = default;

void FilmFile::add(std::span<const glm::u8vec3> picture) {
  if (!content_->ffmpeg.send(std::as_bytes(picture))) content_->fail();
}

void FilmFile::commit() {
  if (content_->end() != 0 || !content_->ffmpeg.output().empty()) content_->fail();
  content_->out.commit();
}

std::string film_support() {
  const FfmpegCall call({"-version"});
  ChildProcess ffmpeg(call.program, call.words, false);
  if (ffmpeg.error() != 0 || ffmpeg.wait() != 0) return fmt::format("not available: {}", kGetFfmpeg);
  const std::string text = ffmpeg.output();
  if (text.find("--enable-libx264") == text.npos) return "not available: this ffmpeg lacks the encoder libx264";
  return text.substr(0, text.find(" Copyright"));
}

}  // namespace trocar
