#include "app/record/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "app/record/h5_file.hpp"
#include "app/record/recording_layout.hpp"
#include "geometry/error.hpp"

namespace trocar {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < text.size();) {
    const auto end = std::min(text.find('\n', start), text.size());
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

std::vector<H5Table> open_tables(const H5File& file, const std::vector<GrowingTable>& kinds) {
  std::vector<H5Table> tables;
  for (const auto& kind : kinds) tables.push_back(file.table(kind.path, kind.cell));
  return tables;
}

template <typename T>
std::vector<T> read_all_as(const H5File& file, const std::string& path, Cell cell) {
  const H5Table table = file.table(path, cell);
  std::vector<T> values(table.rows() * table.row_bytes() / sizeof(T));
  table.read(0, std::as_writable_bytes(std::span<T>(values)));
  return values;
}

OrganRecording read_organ(const H5File& file, const std::string& name) {
  OrganRecording organ;
  organ.name = name;
  organ.mesh.positions = read_all_as<glm::vec3>(file, rest_positions_path(name), Cell::F32);
  organ.mesh.faces = read_all_as<glm::uvec3>(file, faces_path(name), Cell::U32);
  const auto nodes = file.table(embedding_node_path(name), Cell::U32).read_all<std::uint32_t>();
  const auto weights = file.table(embedding_weight_path(name), Cell::F32).read_all<float>();
  organ.embedding.embedding.resize(nodes.size() / 8);
  for (std::size_t vertex = 0; vertex < organ.embedding.embedding.size(); ++vertex) {
    std::copy_n(&nodes[vertex * 8], 8, organ.embedding.embedding[vertex].node);
    std::copy_n(&weights[vertex * 8], 8, organ.embedding.embedding[vertex].weight);
  }
  return organ;
}

// Frames that are there in every table, touches included.
std::size_t complete_frames(const std::vector<H5Table>& session, const std::vector<std::vector<H5Table>>& organs) {
  std::uint64_t frames = session[kTime].rows();
  for (const auto& table : session) frames = std::min(frames, table.rows());
  for (const auto& tables : organs) {
    frames = std::min({frames, tables[kNodes].rows(), tables[kTouchFirst].rows()});
    std::uint64_t touches = tables[kTouchFace].rows();
    for (std::size_t k = kTouchFace; k < kOrganTables; ++k) touches = std::min(touches, tables[k].rows());
    while (frames > 0 && tables[kTouchFirst].read_rows<std::uint64_t>(frames - 1, 1).back() > touches) --frames;
  }
  return frames;
}

}  // namespace

struct Recording::Content {
  H5File file;
  std::vector<OrganRecording> organs;
  std::vector<std::vector<H5Table>> organ_tables;  // [organ][OrganTable]
  std::vector<H5Table> session;                    // [SessionTable]
  std::vector<std::string> tools, stages;
  std::vector<double> tool_radius, times, pivots, tips, roll_grips;
  std::vector<float> forces, stage_ms;
  std::vector<std::uint32_t> disagreements;
  std::size_t frames = 0;
};

Recording::Recording(const std::filesystem::path& path)
    : content_(std::make_unique<Content>(
          Content{H5File::open(path), {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, 0})) {
  Content& c = *content_;
  if (c.file.text("format") != kFormat) {
    throw InputError(fmt::format("{}: is an HDF5 file, but no recording that this version reads", path.string()));
  }
  c.tools = lines_of(c.file.text("tools"));
  c.stages = lines_of(c.file.text("stages"));
  c.tool_radius = c.file.table(kToolRadiusPath, Cell::F64).read_all<double>();
  c.session = open_tables(c.file, session_tables(c.tools.size(), c.stages.size()));
  for (const auto& name : c.file.groups_in(kOrganGroup)) {
    c.organs.push_back(read_organ(c.file, name));
    c.organ_tables.push_back(open_tables(c.file, trocar::organ_tables(name, 0, 0)));
    c.organs.back().nodes = c.organ_tables.back()[kNodes].row_cells() / 3;
  }
  c.frames = complete_frames(c.session, c.organ_tables);
  if (c.frames == 0) throw InputError(fmt::format("{}: holds no complete frame", path.string()));
  c.times = c.session[kTime].read_rows<double>(0, c.frames);
  c.pivots = c.session[kPivot].read_rows<double>(0, c.frames);
  c.tips = c.session[kTip].read_rows<double>(0, c.frames);
  c.roll_grips = c.session[kRollGrip].read_rows<double>(0, c.frames);
  c.forces = c.session[kForce].read_rows<float>(0, c.frames);
  c.stage_ms = c.session[kStageMs].read_rows<float>(0, c.frames);
  c.disagreements = c.session[kDisagreements].read_rows<std::uint32_t>(0, c.frames);
}

Recording::~Recording() = default;
Recording::Recording(Recording&&) noexcept = default;

bool Recording::clean() const { return content_->file.clean(); }
std::size_t Recording::frame_count() const { return content_->frames; }
const std::vector<OrganRecording>& Recording::organs() const { return content_->organs; }
const std::vector<std::string>& Recording::tools() const { return content_->tools; }
const std::vector<double>& Recording::tool_radius() const { return content_->tool_radius; }
const std::vector<std::string>& Recording::stages() const { return content_->stages; }
std::string Recording::text(const std::string& attribute) const { return content_->file.text(attribute); }
ToolMode Recording::mode() const { return text("mode") == "static" ? ToolMode::Static : ToolMode::Swept; }
Cover Recording::cover() const { return text("cover") == "paper" ? Cover::Paper : Cover::Capsule; }
const std::vector<double>& Recording::times() const { return content_->times; }

ToolPose Recording::pose(std::size_t frame, std::size_t tool) const {
  const double* pivot = &content_->pivots[(frame * tools().size() + tool) * 3];
  const double* tip = &content_->tips[(frame * tools().size() + tool) * 3];
  return {{pivot[0], pivot[1], pivot[2]}, {tip[0], tip[1], tip[2]}, tool_radius()[tool]};
}

glm::dvec2 Recording::roll_grip(std::size_t frame, std::size_t tool) const {
  const double* both = &content_->roll_grips[(frame * tools().size() + tool) * 2];
  return {both[0], both[1]};
}

glm::vec3 Recording::force(std::size_t frame, std::size_t tool) const {
  const float* newtons = &content_->forces[(frame * tools().size() + tool) * 3];
  return {newtons[0], newtons[1], newtons[2]};
}

float Recording::stage_ms(std::size_t frame, std::size_t stage) const {
  return content_->stage_ms[frame * stages().size() + stage];
}

std::uint32_t Recording::disagreements(std::size_t frame) const { return content_->disagreements[frame]; }

void Recording::read_frame(std::size_t frame, std::size_t organ, OrganFrame& out) const {
  const auto& tables = content_->organ_tables[organ];
  out.nodes.resize(content_->organs[organ].nodes);
  tables[kNodes].read(frame, std::as_writable_bytes(std::span(out.nodes)));
  const auto first = tables[kTouchFirst].read_rows<std::uint64_t>(frame, 1);
  out.first.clear();
  for (const std::uint64_t start : first) out.first.push_back(static_cast<std::uint32_t>(start - first.front()));
  const std::uint64_t begin = first.front(), count = first.back() - first.front();
  const auto faces = tables[kTouchFace].read_rows<std::uint32_t>(begin, count);
  const auto points = tables[kTouchPoint].read_rows<float>(begin, count);
  const auto normals = tables[kTouchNormal].read_rows<float>(begin, count);
  const auto depths = tables[kTouchDepth].read_rows<float>(begin, count);
  const auto times = tables[kTouchTime].read_rows<float>(begin, count);
  out.touches.resize(count);
  for (std::size_t k = 0; k < count; ++k) {
    out.touches[k] = {FaceId{faces[k]},
                      {points[3 * k], points[3 * k + 1], points[3 * k + 2]},
                      {normals[3 * k], normals[3 * k + 1], normals[3 * k + 2]},
                      depths[k],
                      times[k]};
  }
}

namespace {

// Rows are copied through memory a piece at a time.
constexpr std::uint64_t kPieceBytes = 8 << 20;

void copy_rows(const H5Table& from, H5Table& to, std::uint64_t rows) {
  const std::uint64_t piece = std::max<std::uint64_t>(1, kPieceBytes / std::max<std::size_t>(1, from.row_bytes()));
  std::vector<std::byte> memory;
  for (std::uint64_t row = 0; row < rows; row += piece) {
    const std::uint64_t count = std::min(piece, rows - row);
    memory.resize(count * from.row_bytes());
    from.read(row, memory);
    to.append(memory);
  }
}

void copy_table(const H5File& from, H5File& to, const std::string& path, Cell cell, std::uint64_t rows) {
  const H5Table source = from.table(path, cell);
  const GrowingTable kind{path, cell, source.row_shape()};
  H5Table copy = to.make_table(path, cell, kind.row_shape, rows_per_chunk(kind));
  copy_rows(source, copy, std::min(rows, source.rows()));
}

constexpr std::uint64_t kAllRows = ~std::uint64_t{0};

std::size_t copy_organ(const H5File& from, H5File& to, const std::string& name, std::uint64_t frames) {
  to.make_group(std::string(kOrganGroup) + "/" + name);
  copy_table(from, to, rest_positions_path(name), Cell::F32, kAllRows);
  copy_table(from, to, faces_path(name), Cell::U32, kAllRows);
  copy_table(from, to, embedding_node_path(name), Cell::U32, kAllRows);
  copy_table(from, to, embedding_weight_path(name), Cell::F32, kAllRows);
  const auto kinds = trocar::organ_tables(name, 0, 0);
  const H5Table first = from.table(kinds[kTouchFirst].path, Cell::U64);
  const std::uint64_t touches = first.read_rows<std::uint64_t>(frames - 1, 1).back();
  for (const auto& kind : kinds) copy_table(from, to, kind.path, kind.cell, kind.per_touch ? touches : frames);
  return touches;
}

}  // namespace

RecoverResult recover_recording(const std::filesystem::path& path) {
  RecoverResult result;
  std::filesystem::path partial = path;
  partial += ".partial";
  {
    const Recording damaged(path);
    result.was_clean = damaged.clean();
    result.frames = damaged.frame_count();
    result.seconds = damaged.times().back();
    if (result.was_clean) return result;
    const H5File from = H5File::open(path);
    H5File to = H5File::create(partial);
    for (const char* attribute : kTextAttributes) to.set_text(attribute, from.text(attribute));
    to.make_group("/session");
    to.make_group(kOrganGroup);
    copy_table(from, to, kToolRadiusPath, Cell::F64, kAllRows);
    for (const auto& kind : session_tables(0, 0)) copy_table(from, to, kind.path, kind.cell, result.frames);
    for (const auto& organ : damaged.organs()) result.touches += copy_organ(from, to, organ.name, result.frames);
  }
  std::error_code error;
  std::filesystem::rename(partial, path, error);
  if (error)
    throw RunError(fmt::format("{}: the recovered file {} could not take its place", path.string(), partial.string()));
  return result;
}

}  // namespace trocar
