#include "sim/session/organ_tree.hpp"

namespace trocar {

void OrganTree::follow_change(const Organ& organ) {
  if (!tree_ || organ.change.empty() || topology_ != organ.topology_before) return;
  tree_->change_faces({organ.positions, organ.mesh.faces}, organ.removed_slots);
  topology_ = organ.topology;
  fitted_ = true;
}

SurfaceTree& OrganTree::fitted(const Organ& organ) {
  if (!tree_ || topology_ != organ.topology) {
    if (!tree_) tree_ = make_surface_tree({.volume = &kAabbVolume, .update = TreeUpdate::Refit});
    tree_->rebuild({organ.positions, organ.mesh.faces});
    topology_ = organ.topology;
  } else if (!fitted_) {
    tree_->update(organ.positions);
  }
  fitted_ = true;
  return *tree_;
}

}  // namespace trocar
