// trocar file: rewrites recordings: in less space, to another file or in place; again as they were; after a killed
// session. Tested in tests/app/recordings_test.cpp
#include <fmt/format.h>

#include <algorithm>

#include "app/commands/commands.hpp"
#include "app/commands/options.hpp"
#include "geometry/error.hpp"
#include "sim/hdf5/pack.hpp"
#include "sim/review/compact.hpp"
#include "sim/support/files.hpp"
#include "sim/support/process.hpp"
#include "sim/support/progress.hpp"

namespace trocar {
namespace {

struct PackCommand {
  std::string in, out;
  bool compact = false, force = false, replace = false;
};

// What a form of a recording takes: "5.43 MB, 0.40 MB a second".
std::string space(const std::string& file, double seconds) {
  const double megabytes = 1e-6 * static_cast<double>(std::filesystem::file_size(file));
  return fmt::format("{:.2f} MB, {:.2f} MB a second", megabytes, megabytes / seconds);
}

void print_result(const PackCommand& command, const Recording& recording) {
  const auto& times = recording.times();
  const double frames = static_cast<double>(times.size());
  // The last frame lasts as long as the others on average.
  const double seconds = std::max(1e-3, (times.back() - times.front()) * frames / std::max(1.0, frames - 1.0));
  fmt::print("{} frames, {:.2f} s\n{}: {}\n{}: {}\n", times.size(), seconds, command.in, space(command.in, seconds),
             command.out, space(command.out, seconds));
}

using Rewrite = void (*)(const std::filesystem::path&, const std::filesystem::path&, const FramesDone&);

// Computes every frame again, with a progress bar; an interrupt stops it.
void compute_again(const char* what, const PackCommand& command, const Recording& recording, Rewrite rewrite) {
  catch_interrupts();
  Progress progress(what, recording.frame_count());
  rewrite(command.in, command.out, [&](std::size_t frames) {
    progress.advance_to(frames);
    return !interrupted();
  });
}

void pack_one_in_place(const std::filesystem::path& file) {
  const PackedSize size = pack_in_place(file, [] { return !interrupted(); });
  fmt::print("{}: {:.2f} MB, packed {:.2f} MB\n", file.string(), 1e-6 * static_cast<double>(size.full),
             1e-6 * static_cast<double>(size.packed));
}

// Packs every finished attempt of a folder. One that cannot be packed does not stop the others.
void pack_folder(const std::filesystem::path& folder) {
  const auto goes_on = [] { return !interrupted(); };
  remove_pack_leftovers(folder, goes_on);
  std::size_t failed = 0;
  for (const std::filesystem::path& file : attempts_to_pack(folder)) try {
      if (goes_on()) pack_one_in_place(file);
    } catch (const std::runtime_error& error) {
      fmt::print(stderr, "trocar: {}\n", error.what());
      ++failed;
    }
  if (interrupted())
    throw RunError(fmt::format("{}: interrupted; the remaining recordings are packed the next time", folder.string()));
  if (failed > 0) throw RunError(fmt::format("{}: {} recordings were not packed; see above", folder.string(), failed));
}

void pack_in_place_of(const PackCommand& command) {
  if (command.compact)
    throw InputError("--compact and --replace exclude each other: only this version could read the recording again");
  catch_interrupts();
  if (std::filesystem::is_directory(command.in)) return pack_folder(command.in);
  pack_one_in_place(command.in);
}

void pack(const PackCommand& command) {
  if (command.replace) return pack_in_place_of(command);
  if (command.out.empty()) throw InputError("pack needs a file to write, -o OUT, or --replace");
  refuse_same_files({{"recording", command.in}}, {{"--out", command.out}});
  const Recording recording(command.in);
  refuse_existing({{"--out", command.out}}, command.force);
  if (command.compact)
    compute_again("pack", command, recording, compact_recording);
  else
    pack_recording(command.in, command.out);
  print_result(command, recording);
}

void unpack(const PackCommand& command) {
  refuse_same_files({{"recording", command.in}}, {{"--out", command.out}});
  const Recording recording(command.in, nullptr, FormsRead::All);
  refuse_existing({{"--out", command.out}}, command.force);
  if (recording.form() == RecordingForm::Full)
    throw InputError(fmt::format("{}: is a full recording already; nothing to unpack", command.in));
  if (recording.form() == RecordingForm::Compact)
    compute_again("unpack", command, recording, expand_recording);
  else
    unpack_recording(command.in, command.out);
  print_result(command, recording);
}

void recover(const std::string& file) {
  const RecoverResult result = recover_recording(file);
  if (result.was_clean) {
    fmt::print("{}: already complete, {} frames, {:.2f} s; not changed\n", file, result.frames, result.seconds);
  } else {
    fmt::print("{}: recovered {} frames, {:.2f} s, {} touches; it is now a plain file\n", file, result.frames,
               result.seconds, result.touches);
  }
}

}  // namespace

void add_file_command(Command& program) {
  auto command = std::make_shared<PackCommand>();
  Command& file =
      program.command("file", "Rewrite a recording: in less space, in full, or after its program was killed");
  Command& packing = file.command("pack", "Rewrite a recording in less space, without loss");
  packing.option("recording", command->in, "Recording: .h5; with --replace also a folder").required();
  packing.option("-o,--out", command->out, "Recording to write: .h5");
  packing.option("--compact", command->compact,
                 "Leave out what the instruments' motion determines; unpack computes it again, bit for bit");
  packing
      .option("--replace", command->replace,
              "Pack in place, after the packed copy was read back and compared; of a folder, all finished attempts")
      .excludes({"--out"});
  add_force_option(packing, command->force);
  packing.runs([command] { pack(*command); });

  Command& unpacking = file.command("unpack", "Write a packed or compact recording again as a full one");
  unpacking.option("recording", command->in, "Recording: .h5").required();
  unpacking.option("-o,--out", command->out, "Recording to write: .h5").required();
  add_force_option(unpacking, command->force);
  unpacking.runs([command] { unpack(*command); });

  Command& recovering = file.command("recover", "Rewrite the recording of a killed session as a plain file");
  recovering.option("recording", command->in, "Recording: .h5").required();
  recovering.runs([command] { recover(command->in); });
}

}  // namespace trocar
