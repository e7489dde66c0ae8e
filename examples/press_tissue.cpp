// Presses an instrument into a block of tissue of 80 x 80 x 40 mm and prints the force against the depth.
#include <cstdio>
#include <trocar/collision.hpp>
#include <trocar/tissue.hpp>

namespace {

// A box of `side`, centred, with its top at z = 0, divided into `cells` squares along each side.
trocar::TriangleMesh box(const glm::vec3& side, int cells) {
  trocar::TriangleMesh mesh;
  const auto add_side = [&](const glm::vec3& corner, const glm::vec3& along, const glm::vec3& across) {
    const auto first = static_cast<unsigned>(mesh.positions.size()), row = static_cast<unsigned>(cells + 1);
    for (int i = 0; i <= cells; ++i)
      for (int k = 0; k <= cells; ++k)
        mesh.positions.push_back(corner + along * (float(i) / float(cells)) + across * (float(k) / float(cells)));
    for (unsigned i = 0; i < unsigned(cells); ++i)
      for (unsigned k = 0; k < unsigned(cells); ++k) {
        const unsigned v = first + i * row + k;
        mesh.faces.push_back({v, v + row, v + row + 1});
        mesh.faces.push_back({v, v + row + 1, v + 1});
      }
  };
  const glm::vec3 x(side.x, 0, 0), y(0, side.y, 0), z(0, 0, side.z), low(-side.x / 2, -side.y / 2, -side.z);
  add_side(low, y, x), add_side(low, x, z), add_side(low, z, y);
  add_side(low + z, x, y), add_side(low + y, z, x), add_side(low + x, y, z);
  return mesh;
}

}  // namespace

int main() {
  const trocar::TriangleMesh mesh = box({0.08f, 0.08f, 0.04f}, 16);
  trocar::TissueParams params;
  params.youngs_modulus = 6e3f;  // Pa
  params.node_spacing = 0.008f;  // m
  // Fixes the tissue in a ball: this one is so large that its top is nearly a plane, 34 mm below the surface.
  const trocar::Attachment table{{0.f, 0.f, -1.034f}, 1.f};
  const trocar::TissueModel model = trocar::make_tissue(mesh.view(), params, {&table, 1});
  trocar::SteppedTissue state = trocar::rest_state(model);

  std::vector<glm::vec3> positions = mesh.positions;
  const trocar::FacesAround around = trocar::faces_around(mesh.faces, mesh.positions.size());
  trocar::ContactList contacts;
  const auto query = trocar::make_scan_query();
  query->rebuild(mesh.view());

  const double radius = 0.005, frame_s = 1.0 / 60.0, speed = 0.02;  // m, s, m/s
  const auto tip_at = [&](int frame) { return glm::dvec3(0.0, 0.0, radius + 0.002 - speed * frame_s * frame); };
  for (int frame = 0; frame < 40; ++frame) {
    const trocar::ToolStep tool{{0.0, 0.0, 0.2}, tip_at(frame), tip_at(frame + 1), radius};

    // The faces that the instrument touches, and their neighbours, are the candidates for contacts.
    query->update(positions);
    const trocar::ToolVolume volume = trocar::swept_volume(tool, trocar::Cover::Capsule);
    const trocar::TouchList touched = query->touched({&volume, 1}, trocar::TouchSet::Exact);
    trocar::begin_candidates(contacts, state.dents);
    trocar::add_candidates(tool, touched.touches, mesh.faces, around, positions, contacts);

    // A frame with contact is divided, so that contacts follow the motion.
    const int pieces = trocar::piece_count({&tool, 1}, contacts);
    glm::vec3 force(0.f);
    for (int number = 0; number < pieces; ++number) {
      const trocar::ToolStep piece = trocar::piece_of(tool, number, pieces);
      trocar::begin_contacts(contacts, {model.embedding, state.v, frame_s / pieces, state.dents});
      trocar::add_contacts(piece, mesh.faces, positions, contacts);
      force += step(model, state, {{&piece, 1}, contacts.contacts, {}}, float(frame_s) / float(pieces));
      trocar::embed_surface(model, state.x, positions);
    }
    force /= float(pieces);
    const double depth_mm = 1e3 * std::max(0.0, radius - tool.tip_after.z);
    if (frame % 5 == 4)
      std::printf("depth %5.2f mm, force %6.3f N, %zu faces\n", depth_mm, force.z, touched.touches.size());
  }
  return 0;
}
