// Implements Session::save() and restore(). The block of bytes holds a header, the organs and their contacts, the
// instruments and the scope. restore() reads all of it, checks it (saved_check.hpp), and only then recomputes what
// follows from it, so a block that is refused changes nothing.
#include <algorithm>
#include <array>

#include "deform/model_version.hpp"
#include "geometry/error.hpp"
#include "sim/session/saved_check.hpp"
#include "sim/session/session.hpp"
#include "sim/session/session_fields.hpp"
#include "sim/support/byte_archive.hpp"

namespace trocar {
namespace {

constexpr std::array<char, 8> kMagic = {'T', 'r', 'o', 'c', 'a', 'r', 'S', 's'};
// Rises with every change of the block's layout; blocks of other versions are refused.
constexpr std::uint32_t kSessionVersion = 8;

struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kSessionVersion;
  std::uint32_t model_version = kModelVersion;
  std::uint64_t scene = 0;     // scene_key()
  std::uint64_t checksum = 0;  // of what follows the header
};
constexpr std::size_t kHeaderBytes = 32;
constexpr std::uint64_t kMostFrames = std::uint64_t{1} << 40;

template <typename A>
void fields(A& a, Header& header) {
  a.raw(header.magic.data(), header.magic.size());
  all(a, header.version, header.model_version, header.scene, header.checksum);
}

// Equal for sessions of the same scene: its text, names, the lattices at rest, shapes of the instruments.
std::uint64_t scene_key(const Session& session, const std::string& scene_text) {
  ByteWriter out;
  const auto text = [&](const std::string& value) {
    out.count(value.size(), 1);
    out.raw(value.data(), value.size());
  };
  text(scene_text);
  for (const Organ& organ : session.organs()) {
    text(organ.name);
    out.count(organ.tissue.rest.size(), 1);
    out.count(organ.tissue.lattice.cells.size(), 1);
    out.count(organ.sculpture ? 1 : 0, 1);
    out.raw(organ.tissue.rest.data(), organ.tissue.rest.size() * sizeof(glm::vec3));
  }
  for (const Instrument& instrument : session.instruments()) {
    text(instrument.name);
    out.count(static_cast<std::uint64_t>(instrument.kind), 1);
    out.raw(&instrument.radius, sizeof instrument.radius);
  }
  return checksum_of(out.take());
}

// The touches of the frame before belong to the faces before.
void forget_touches(Organ& organ) {
  organ.answered.clear();
  organ.answered_first.clear();
  organ.touched.clear();
  organ.touched_by_id.clear();
  organ.touches = organ.touches_by_id = {};
  organ.tip_faces.clear();
  organ.tip_ids.clear();
  organ.tip_first.clear();
  organ.touch_pressure.clear();
}

void check_header(std::span<const std::byte> block, std::uint64_t scene) {
  ByteReader in(block);
  Header header;
  fields(in, header);
  if (header.magic != kMagic) throw InputError("this is not a saved session");
  if (header.version != kSessionVersion || header.model_version != kModelVersion)
    throw InputError("the session was saved by another version of Trocar; restore it with that version");
  if (header.checksum != checksum_of(block.subspan(kHeaderBytes)))
    throw InputError("the saved session is damaged; save it again");
  if (header.scene != scene) throw InputError("the session was saved from another scene; open that scene");
}

// The same fields in both directions.
template <typename A>
void instrument_fields(A& a, Instrument& i) {
  all(a, i.pose.pivot, i.pose.tip, i.roll_deg, i.grip, i.commanded_grip, i.grip_force, i.energy, i.heats, i.snipped,
      i.blades_open, i.opened, i.clip_loaded, i.clips_left, i.grasp, i.force, i.torque, i.health, i.frozen);
  std::uint64_t grasped = i.grasped;
  GuardState guard = i.device->state();
  all(a, grasped, guard);
  if constexpr (A::kReads) {
    i.grasped = grasped;
    i.device->set_state(guard);
  }
}

template <typename A>
void scope_fields(A& a, SessionScope& scope) {
  all(a, scope.pose.port, scope.pose.eye, scope.pose.spin_deg, scope.pose.field_of_view_deg, scope.health);
  bool moves = scope.device != nullptr;
  GuardState guard = moves ? scope.device->state() : GuardState{};
  all(a, moves, guard);
  if constexpr (A::kReads)
    if (moves && scope.device) scope.device->set_state(guard);
}

}  // namespace

// A ByteWriter does not change what it writes.
void TissueWorld::save(ByteWriter& out) const {
  auto& self = const_cast<TissueWorld&>(*this);
  for (Organ& organ : self.organs_) field(out, organ);
  field(out, self.organ_contacts_);
  field(out, self.slips_.state());
  field(out, self.bonds_.bonds().intact);
  field(out, self.clips_.clip_state());
  field(out, self.clips_.tube_state());
  field(out, self.bleeding_.source_state());
  field(out, self.bleeding_.loss_state());
  field(out, self.bleeding_.content_state());
  field(out, self.film_.film_state());
  field(out, self.film_.amount_state());
}

void TissueWorld::read(ByteReader& in) {
  for (Organ& organ : organs_) field(in, organ);
  field(in, organ_contacts_);
  field(in, slips_.state());
  field(in, bonds_.bonds().intact);
  field(in, clips_.clip_state());
  field(in, clips_.tube_state());
  field(in, bleeding_.source_state());
  field(in, bleeding_.loss_state());
  field(in, bleeding_.content_state());
  field(in, film_.film_state());
  field(in, film_.amount_state());
}

void TissueWorld::check_read(std::size_t tools) const {
  for (std::size_t k = 0; k < organs_.size(); ++k) check_saved(organs_[k], intact_[k]);
  check_saved(organ_contacts_, contact_sizes_, organs_);
  const std::vector<std::uint8_t>& intact = bonds_.bonds().intact;
  require_saved(slips_.state().size() == tools * organs_.size(), "the instruments", "an array has another length");
  require_saved(intact.size() == bonds_.bonds().fibres.size() &&
                    std::ranges::all_of(intact, [](int whole) { return whole <= 1; }),
                "connective tissue", "a fibre is in no known state");
  clips_.check_read(organs_, tools);
  bleeding_.check_read(organs_);
  film_.check_read(organs_);
}

void TissueWorld::follow_read() {
  for (Organ& organ : organs_) {
    organ.positions.resize(organ.mesh.positions.size());
    follow_nodes(organ);
    organ.around = faces_around(organ.mesh.faces, organ.positions.size());
    organ.pressure.assign(organ.mesh.faces.size(), 0.f);  // each contact substep begins with 0
    begin_change(organ);
    forget_touches(organ);
    organ.query->rebuild({organ.positions, organ.mesh.faces});
  }
  film_.follow_read(organs_);
  clips_.begin();
  bonds_.take_struts(clips_, organs_);
  bonds_.follow_restored();
  bleeding_.follow_restored();
}

void Instruments::save(ByteWriter& out) const {
  auto& self = const_cast<Instruments&>(*this);
  for (Instrument& instrument : self.list_) instrument_fields(out, instrument);
  scope_fields(out, self.scope_);
}

void Instruments::read(ByteReader& in) {
  for (Instrument& instrument : list_) instrument_fields(in, instrument);
  scope_fields(in, scope_);
}

void Instruments::check_read(const std::vector<Organ>& organs) const {
  for (const Instrument& instrument : list_) check_saved(instrument, organs);
  check_saved(scope_);
}

std::vector<std::byte> Session::save() const {
  ByteWriter body;
  world_.save(body);
  instruments_.save(body);
  std::uint64_t frames = frames_;
  field(body, frames);
  const std::vector<std::byte> bytes = body.take();
  Header header;
  header.scene = scene_key(*this, scene_text_);
  header.checksum = checksum_of(bytes);
  ByteWriter out;
  fields(out, header);
  out.raw(bytes.data(), bytes.size());
  return out.take();
}

void Session::read(std::span<const std::byte> block) {
  ByteReader in(block.subspan(kHeaderBytes));
  world_.read(in);
  instruments_.read(in);
  std::uint64_t frames = 0;
  field(in, frames);
  if (!in.at_end()) throw InputError("the saved session contradicts itself: it is too long; save it again");
  frames_ = frames;
}

void Session::check_read() const {
  world_.check_read(instruments().size());
  instruments_.check_read(organs());
  require_saved(frames_ <= kMostFrames, "the session", "its number of frames is out of range");
}

void Session::follow_read() {
  world_.follow_read();
  for (std::size_t k = 0; k < organs().size(); ++k) check_.rebuild(k, {organs()[k].positions, organs()[k].mesh.faces});
  tip_watch_ = {};
  sight_watch_.forget();
  mark_watch_.rewind();
  watched_topology_.clear();
}

void Session::restore(std::span<const std::byte> block) {
  check_header(block, scene_key(*this, scene_text_));
  const std::vector<std::byte> before = save();
  try {
    read(block);
    check_read();
  } catch (...) {
    read(before);  // what follows from the state has not been touched
    throw;
  }
  follow_read();
}

}  // namespace trocar
