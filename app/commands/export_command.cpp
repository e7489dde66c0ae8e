// trocar export: writes a recording as CSV tables, and as a time series for ParaView. Units: millimetres, newtons,
// pascals. Faces are given by id; a face keeps its id throughout the session.
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "app/commands/commands.hpp"
#include "app/commands/options.hpp"
#include "app/report/pvd.hpp"
#include "geometry/error.hpp"
#include "sim/hdf5/recording.hpp"
#include "sim/support/csv.hpp"
#include "sim/support/files.hpp"
#include "sim/support/progress.hpp"

namespace trocar {
namespace {

struct Tables {
  OutputFile tools, touches, clashes, stages;

  explicit Tables(const std::filesystem::path& folder)
      : tools(folder / "tools.csv", OutputKind::Table),
        touches(folder / "touches.csv", OutputKind::Table),
        clashes(folder / "clashes.csv", OutputKind::Table),
        stages(folder / "stages.csv", OutputKind::Table) {}
};

void write_headers(Tables& tables, const Recording& recording) {
  tables.tools.stream() << "frame,t,tool,pivot_x,pivot_y,pivot_z,tip_x,tip_y,tip_z,roll_deg,grip,"
                           "force_x,force_y,force_z,energy,tip_depth_mm\n";
  tables.clashes.stream() << "frame,t,first,second,distance_mm,point_x,point_y,point_z\n";
  tables.touches.stream() << "frame,t,organ,tool,face,point_x,point_y,point_z,normal_x,normal_y,normal_z,"
                             "depth_mm,time,pressure_pa\n";
  fmt::print(tables.stages.stream(), "frame,t,{}_ms,disagreements\n", fmt::join(recording.stages(), "_ms,"));
}

void write_tools(std::ostream& out, const Recording& recording, std::size_t frame) {
  for (std::size_t tool = 0; tool < recording.tools().size(); ++tool) {
    const ToolPose pose = recording.pose(frame, tool);
    const glm::dvec3 pivot = pose.pivot * 1e3, tip = pose.tip * 1e3;
    const glm::dvec2 roll_grip = recording.roll_grip(frame, tool);
    const glm::vec3 force = recording.force(frame, tool);
    fmt::print(out, "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", frame, recording.times()[frame],
               csv_text(recording.tools()[tool]), pivot.x, pivot.y, pivot.z, tip.x, tip.y, tip.z, roll_grip.x,
               roll_grip.y, force.x, force.y, force.z, static_cast<int>(recording.energy(frame, tool)),
               recording.tip_depth(frame, tool) * 1e3f);
  }
}

// Pairs of tools whose bounding boxes overlap in the frame.
void write_clashes(std::ostream& out, const Recording& recording, std::size_t frame) {
  for (std::size_t first = 0; first < recording.tools().size(); ++first)
    for (std::size_t second = first + 1; second < recording.tools().size(); ++second) {
      const auto clash = recording.clash(frame, first, second);
      if (!clash) continue;
      const glm::vec3 point = clash->point * 1e3f;
      fmt::print(out, "{},{},{},{},{},{},{},{}\n", frame, recording.times()[frame], csv_text(recording.tools()[first]),
                 csv_text(recording.tools()[second]), clash->distance * 1e3f, point.x, point.y, point.z);
    }
}

void write_touches(std::ostream& out, const Recording& recording, std::size_t frame, std::size_t organ,
                   const OrganFrame& content) {
  for (std::size_t tool = 0; tool + 1 < content.first.size(); ++tool) {
    for (std::uint32_t k = content.first[tool]; k < content.first[tool + 1]; ++k) {
      const Touch& touch = content.touches[k];
      const glm::vec3 point = touch.point * 1e3f;
      fmt::print(out, "{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", frame, recording.times()[frame],
                 csv_text(recording.organs()[organ].name), csv_text(recording.tools()[tool]), index(touch.face),
                 point.x, point.y, point.z, touch.normal.x, touch.normal.y, touch.normal.z, touch.depth * 1e3f,
                 touch.time, content.pressure[k]);
    }
  }
}

void write_stages(std::ostream& out, const Recording& recording, std::size_t frame) {
  fmt::print(out, "{},{}", frame, recording.times()[frame]);
  for (std::size_t stage = 0; stage < recording.stages().size(); ++stage) {
    fmt::print(out, ",{}", recording.stage_ms(frame, stage));
  }
  fmt::print(out, ",{}\n", recording.disagreements(frame));
}

void write_tables(const Recording& recording, const std::filesystem::path& folder) {
  Tables tables(folder);
  write_headers(tables, recording);
  OrganFrame content;
  Progress progress("export", recording.frame_count());
  for (std::size_t frame = 0; frame < recording.frame_count(); ++frame) {
    write_tools(tables.tools.stream(), recording, frame);
    write_clashes(tables.clashes.stream(), recording, frame);
    for (std::size_t organ = 0; organ < recording.organs().size(); ++organ) {
      recording.read_frame(frame, organ, content);
      write_touches(tables.touches.stream(), recording, frame, organ, content);
    }
    write_stages(tables.stages.stream(), recording, frame);
    progress.advance_to(frame + 1);
  }
  for (OutputFile* table : {&tables.tools, &tables.touches, &tables.clashes, &tables.stages}) table->commit();
  fmt::print("{} frames written to tools.csv, touches.csv, clashes.csv and stages.csv in {}\n", recording.frame_count(),
             folder.string());
}

void write_series(const Recording& recording, const std::filesystem::path& folder, std::size_t every) {
  PvdSummary summary;
  {
    Progress progress("export", recording.frame_count());
    summary = export_pvd(recording, folder, every, [&](std::size_t frames) { progress.advance_to(frames); });
  }
  fmt::print("{} frames written to {} files, listed in {}\n", summary.frames, summary.files,
             (folder / "recording.pvd").string());
}

struct ExportOptions {
  std::string file, csv, pvd;
  std::size_t every = 1;
};

void run(const ExportOptions& options) {
  if (options.csv.empty() && options.pvd.empty())
    throw InputError("export: nothing to write; name a folder with --csv or --pvd");
  const Recording recording(options.file);
  for (const std::string& folder : {options.csv, options.pvd})
    if (!folder.empty()) make_folder(folder);
  if (!options.csv.empty()) write_tables(recording, options.csv);
  if (!options.pvd.empty()) write_series(recording, options.pvd, options.every);
}

}  // namespace

void add_export_command(CLI::App& program) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* sub = program.add_subcommand("export", "Export a recording as tables or for ParaView");
  sub->add_option("recording", options->file, "Recording: .h5")->required();
  sub->add_option("--csv", options->csv, "Folder for tools.csv, touches.csv, clashes.csv and stages.csv");
  sub->add_option("--pvd", options->pvd, "Folder for recording.pvd and the files that it lists");
  sub->add_option("--every", options->every, "With --pvd: only every N-th frame")->check(within(1, 1e6));
  sub->callback([options] { run(*options); });
}

}  // namespace trocar
