// Makes the view's input from a running session.
#include <algorithm>
#include <cmath>

#include "app/view/view.hpp"

namespace trocar {

void drawn_organs(const Session& session, std::vector<DrawnOrgan>& organs) {
  organs.clear();
  for (const Organ& organ : session.organs()) {
    DrawnOrgan drawn;
    drawn.rest = organ.mesh.view();
    drawn.colour = organ.colour;
    drawn.positions = organ.positions;
    drawn.buffer = organ.query->position_buffer();
    drawn.charred = organ.charred;
    drawn.wet = session.film().look(organs.size());
    drawn.topology = organ.topology;
    // After a cut, the slots of the touched faces are out of date until the next frame.
    if (organ.change.empty()) {
      drawn.touches = organ.touches;
      drawn.tip_faces = organ.tip_faces;
      drawn.tip_first = organ.tip_first;
    }
    organs.push_back(drawn);
  }
}

void drawn_tools(const Session& session, std::vector<DrawnTool>& tools) {
  tools.clear();
  for (std::size_t k = 0; k < session.instruments().size(); ++k) {
    const Instrument& instrument = session.instruments()[k];
    bool touching = false;
    for (const Organ& organ : session.organs()) {
      touching = touching || (!organ.touches.first.empty() && !organ.touches.of_tool(k).empty()) ||
                 (!organ.tip_first.empty() && organ.tip_first[k + 1] > organ.tip_first[k]);
    }
    tools.push_back({instrument.pose, instrument.roll_deg, instrument.grip, touching, instrument.kind,
                     instrument.energy, instrument.heats != 0, instrument.limits});
  }
}

void add_strand(const FibreEnds& ends, float reference, std::vector<DrawnStrand>& strands) {
  constexpr float kVisible = 3e-4f;  // m  a shorter fibre is hidden between the organs
  constexpr float kThick = 3.5e-4f;  // m  radius of a fibre that is not stretched
  const float length = glm::distance(ends.a, ends.b);
  // A stretched fibre gets thinner, because its volume stays.
  if (length > kVisible)
    strands.push_back({ends.a, ends.b, kThick * std::sqrt(reference / std::max(length, reference))});
}

void drawn_bonds(const Session& session, DrawnBonds& drawn) {
  const SessionBonds& bonds = session.bonds();
  drawn.strands.clear();
  for (std::size_t f = 0; f < bonds.bonds().fibres.size(); ++f)
    if (bonds.bonds().intact[f]) add_strand(bonds.ends(f), bonds.bonds().fibres[f].reference, drawn.strands);
  drawn.blood_area = session.film().blood_area();
  drawn.clips.clear();
  for (const PlacedClip& placed : session.clips().clips())
    if (placed.on())
      drawn.clips.push_back({pose_of(placed.clip, session.organs()[placed.clip.organ].positions), placed.length});
}

}  // namespace trocar
