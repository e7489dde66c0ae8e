#include "app/window/editor_tissue_panels.hpp"

#include "app/window/editor_fields.hpp"
#include "app/window/widgets/theme.hpp"

namespace trocar {
namespace {

std::vector<std::string> organ_names(const Editor& editor) {
  std::vector<std::string> names;
  for (const OrganScene& organ : editor.scene.organs) names.push_back(organ.name);
  return names;
}

}  // namespace

void attachment_fields(Editor& editor, Attachment& attachment) {
  using namespace editor_fields;
  theme::heading("Attachment");
  theme::wrapped("The tissue of the " + editor.scene.organs[editor.chosen.index].name +
                     " in this ball is fixed; with a stiffness it is held by a ligament.",
                 theme::kQuiet);
  position("Centre, mm", attachment.centre);
  number("Radius", attachment.radius, 1e3, 0.1, 200.0, "%.1f mm");
  bool ligament = attachment.stiffness > 0.f;
  constexpr float kUsualLigament = 100.f;  // N/m
  const bool was = ligament;
  flag("Ligament", ligament);
  if (ligament != was) attachment.stiffness = ligament ? kUsualLigament : 0.f;
  if (ligament) number("Stiffness", attachment.stiffness, 1.0, 0.1, 2000.0, "%.1f N/m");
  flag("Diaphragm", attachment.diaphragm);
  theme::wrapped("Diaphragm: it moves with the breath.", theme::kQuiet);
}

void layer_fields(Editor& editor, LayerScene& layer) {
  using namespace editor_fields;
  theme::heading("Layer of connective tissue");
  words("Name", layer.name);
  choice("Organ", organ_names(editor), layer.organ);
  choice("Joined to", organ_names(editor), layer.to);
  LayerParams& params = layer.params;
  number("Reach", params.reach, 1e3, 0.0, 30.0, "%.1f mm");
  position("Near, mm", params.centre);
  number("Within", params.radius, 1e3, 0.1, 1000.0, "%.0f mm");
  number("Modulus", params.modulus, 1e-3, 0.001, 500.0, "%.2f kPa");
  number("Thickness", params.thickness, 1e3, 0.1, 20.0, "%.1f mm");
  number("Break strain", params.break_strain, 1.0, 0.01, 10.0, "%.2f");
}

void band_fields(Editor& editor, BandScene& band) {
  using namespace editor_fields;
  theme::heading("Band or ligament");
  words("Name", band.name);
  choice("From organ", organ_names(editor), band.organ);
  choice("To", organ_names(editor), band.to, "abdominal wall");
  BandParams& params = band.params;
  position("From, mm", params.from_start);
  position("  to", params.from_end);
  position("To, mm", params.to_start);
  position("  to ", params.to_end);
  number("Strands", params.strands, 1, 200);
  number("Modulus", params.modulus, 1e-3, 0.001, 5000.0, "%.2f kPa");
  number("Section", params.section_mm2, 1.0, 0.01, 200.0, "%.1f mm\u00B2");
  number("Rest strain", params.rest_strain, 1.0, -0.9, 1.0, "%.2f");
  number("Break strain", params.break_strain, 1.0, 0.01, 10.0, "%.2f");
}

void breathing_fields(Breathing& breathing) {
  using namespace editor_fields;
  theme::heading("Breathing");
  theme::wrapped("Moves every attachment that is on the diaphragm.", theme::kQuiet);
  number("Amplitude", breathing.amplitude, 1e3, 0.0, 40.0, "%.1f mm");
  number("Rate", breathing.rate, 60.0, 0.0, 60.0, "%.0f / min");
  direction("Inspiration", breathing.direction);
}

}  // namespace trocar
