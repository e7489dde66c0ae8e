#include "sim/session/session_rigid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "geometry/error.hpp"
#include "sim/session/saved_session.hpp"

namespace trocar {
namespace {

constexpr double kShaftLength = 0.35;  // m, beyond the trocar of any instrument
// Jaws are kept open by a body when they stand this far from what the handle wants.
constexpr double kKeptOpen = 1e-3;                                             // rad
constexpr double kFastestBody = 1e3, kFastestSpin = 1e6, kFarthestBody = 1e3;  // m/s, rad/s, m
constexpr std::size_t kUsualBodyContacts = 1024;

RigidBody body_of(const RigidShape& shape) {
  std::vector<ConvexPiece> pieces;
  for (const RigidPiece& piece : own_pieces(shape)) pieces.push_back(make_piece(piece.corners, piece.radius));
  const RigidParams params{shape.density, shape.friction, shape.restitution,
                           shape.fixed || shape.form == RigidForm::Board};
  const TriangleMesh surface = own_surface(shape);
  return make_body(params, pieces, params.fixed ? MassProperties{} : mass_of(surface.view(), shape.density));
}

void add_piece(std::span<const glm::dvec3> corners, double radius, double hinge_z, double side, double friction,
               RigidTool& tool) {
  tool.pieces.push_back(make_piece(corners, std::max(radius - kRigidSlack, kLeastRounding)));
  tool.hinge_z.push_back(hinge_z), tool.side.push_back(side), tool.friction.push_back(friction);
}

RigidTool tool_of(const InstrumentScene& scene) {
  RigidTool tool;
  const double from = is_blunt(scene.kind) ? scene.radius : tip_length(scene.kind, scene.radius) + scene.radius;
  add_piece(std::array{glm::dvec3(0.0, 0.0, from), glm::dvec3(0.0, 0.0, kShaftLength)}, scene.radius, 0.0, 0.0,
            kShaftFriction, tool);
  for (const PartShape& part : part_shapes(scene.kind, scene.radius))
    add_piece(part.corners, part.radius, part.hinge_z, part.side,
              has_jaws(scene.kind) ? static_cast<double>(scene.grasp.friction) : kShaftFriction, tool);
  return tool;
}

// The handle's force acts in the middle of the part of the jaws that holds.
void set_handle(const Instrument& instrument, const RigidTool& tool, double widest, RigidToolStep& step) {
  double hinge = 0.0;
  for (std::size_t k = 0; k < tool.side.size(); ++k)
    if (tool.side[k] != 0.0) hinge = std::max(hinge, tool.hinge_z[k]);
  const double arm = std::max(hinge - 0.5 * static_cast<double>(instrument.jaws.reach), 0.25 * hinge);
  step.stiffness = instrument.grip_force * static_cast<double>(instrument.jaws.handle_stiffness) / widest * arm;
  step.most = instrument.grip_force * static_cast<double>(instrument.jaws.squeeze) * arm;
}

double widest_of(const Instrument& instrument) { return glm::radians(instrument.limits.widest_grip_deg); }

}  // namespace

SessionRigid::SessionRigid(const Scene& scene, std::span<const Organ> organs) {
  std::vector<RigidBody> bodies;
  std::vector<RigidFrame> frames;
  for (std::uint32_t k = 0; k < scene.organs.size(); ++k) {
    if (!scene.organs[k].rigid) continue;
    const RigidShape& shape = *scene.organs[k].rigid;
    try {
      bodies.push_back(body_of(shape));
    } catch (const InputError& error) {
      throw InputError(fmt::format("organ {}: {}", scene.organs[k].name, error.what()));
    }
    frames.push_back({turn_of(shape), shape.at});
    organs_.push_back(k);
    const std::vector<glm::dvec3> feet = peg_feet(shape);
    pegs_.insert(pegs_.end(), feet.begin(), feet.end());
    if (!feet.empty()) peg_height_ = std::max(peg_height_, shape.peg_height);
    own_node_.emplace_back();
    for (const glm::vec3& node : organs[k].tissue.rest)
      own_node_.back().push_back(frames.back().to_local(glm::dvec3(node)));
  }
  if (organs_.empty()) return;
  std::vector<RigidTool> tools;
  for (const InstrumentScene& instrument : scene.instruments) tools.push_back(tool_of(instrument));
  model_ = make_rigid({}, std::move(bodies), std::move(tools));
  state_ = rest_state(model_, frames);
  state_.contacts.reserve(kUsualBodyContacts), scratch_.contacts.reserve(kUsualBodyContacts);
  scratch_.used.reserve(kUsualBodyContacts), scratch_.pairs.reserve(kUsualBodyContacts);
}

void SessionRigid::step(Instruments& instruments, std::span<Organ> organs, double dt) {
  if (empty()) return;
  std::vector<Instrument>& list = instruments.list();
  const bool first = commanded_.empty();
  commanded_.resize(list.size());
  tools_.assign(list.size(), {});
  for (std::size_t k = 0; k < list.size(); ++k) {
    RigidToolStep& tool = tools_[k];
    tool.motion = &instruments.motion(k);
    tool.commanded = widest_of(list[k]) * list[k].commanded_grip;
    if (first) commanded_[k] = state_.opening[k] = tool.commanded;
    tool.commanded_before = commanded_[k];
    commanded_[k] = tool.commanded;
    set_handle(list[k], model_.tools[k], widest_of(list[k]), tool);
  }
  trocar::step(model_, state_, tools_, dt, scratch_);
  for (std::size_t k = 0; k < list.size(); ++k) {
    list[k].force += glm::vec3(scratch_.touches[k].force);
    list[k].torque += glm::vec3(scratch_.touches[k].torque);
  }
  keep_open(instruments);
  carry(organs);
}

void SessionRigid::keep_open(Instruments& instruments) const {
  if (empty() || commanded_.empty()) return;
  for (std::size_t k = 0; k < instruments.size(); ++k) {
    Instrument& instrument = instruments.list()[k];
    const bool kept = has_jaws(instrument.kind) && state_.opening[k] > commanded_[k] + kKeptOpen;
    instrument.kept_open = kept ? std::min(state_.opening[k] / widest_of(instrument), 1.0) : 0.0;
  }
}

void SessionRigid::carry(std::span<Organ> organs) const {
  for (std::size_t k = 0; k < organs_.size(); ++k) {
    if (model_.bodies[k].params.fixed) continue;
    const RigidFrame frame = frame_of(model_.bodies[k], state_.bodies[k]);
    std::vector<glm::vec3>& nodes = organs[organs_[k]].state.x;
    for (std::size_t n = 0; n < nodes.size(); ++n) nodes[n] = glm::vec3(frame.to_world(own_node_[k][n]));
  }
}

std::uint32_t SessionRigid::held_by(std::size_t tool) const {
  if (tool >= scratch_.touches.size() || scratch_.touches[tool].held == kNoBody) return kNoBody;
  return organs_[scratch_.touches[tool].held];
}

namespace {

template <typename A>
void state_fields(A& a, RigidState& state, std::vector<double>& commanded) {
  for (RigidMotion& m : state.bodies) {
    all(a, m.x, m.q.w, m.q.x, m.q.y, m.q.z, m.v, m.w, m.calm, m.lost);
  }
  all(a, state.opening, commanded);
  std::uint64_t count = a.count(state.contacts.size(), 64);
  if constexpr (A::kReads) state.contacts.resize(count);
  for (RigidMemory& c : state.contacts)
    all(a, c.first, c.second, c.first_piece, c.second_piece, c.local, c.pressed, c.rubbed);
}

}  // namespace

// A ByteWriter does not change what it writes.
void SessionRigid::save(ByteWriter& out) const {
  auto& self = const_cast<SessionRigid&>(*this);
  if (!empty()) state_fields(out, self.state_, self.commanded_);
}

void SessionRigid::read(ByteReader& in) {
  if (!empty()) state_fields(in, state_, commanded_);
}

void SessionRigid::check_read() const {
  if (empty()) return;
  const auto require = [](bool sound, const char* fault) { require_saved(sound, "the rigid bodies", fault); };
  for (const RigidMotion& m : state_.bodies) {
    require(lies_within(m.x, kFarthestBody) && lies_within(m.v, kFastestBody) && lies_within(m.w, kFastestSpin),
            "a body is out of range, too fast, or not a number");
    require(lies_within(glm::length(m.q), 1.0 - 1e-9, 1.0 + 1e-9), "a body has no orientation");
  }
  const std::size_t tools = model_.tools.size();
  require(state_.opening.size() == tools && (commanded_.empty() || commanded_.size() == tools),
          "an array has another length");
  for (const double opening : state_.opening) require(lies_within(opening, 0.0, 10.0), "jaws are out of range");
  for (const double opening : commanded_) require(lies_within(opening, 0.0, 10.0), "a handle is out of range");
  std::size_t pieces = 0;
  for (const RigidTool& tool : model_.tools) pieces += tool.pieces.size();
  const std::size_t objects = model_.bodies.size() + pieces;
  for (std::size_t k = 0; k < state_.contacts.size(); ++k) {
    const RigidMemory& c = state_.contacts[k];
    require(c.first < model_.bodies.size() && c.first < c.second && c.second < objects, "a contact is of no body");
    require(lies_within(c.local, kFarthestBody) && lies_within(c.pressed, 0.0, 1e3) && lies_within(c.rubbed, 1e4),
            "a contact is out of range");
    const auto key = [](const RigidMemory& m) {
      return std::array<std::uint32_t, 4>{m.first, m.second, m.first_piece, m.second_piece};
    };
    require(k == 0 || key(state_.contacts[k - 1]) <= key(c), "the contacts are not in order");
  }
}

}  // namespace trocar
