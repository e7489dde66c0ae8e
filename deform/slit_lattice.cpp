// Divides the lattice along a slit. A spring is cut when its straight line, in the deformed lattice, passes through the
// slit. A cell is divided when its remaining springs do not connect all of its corners: it loses its volume stiffness,
// and nothing is embedded in it any more. A part of the nodes without any whole cell could not carry tissue: its
// springs are kept, so it stays with the other side. The highest frequency of the lattice does not rise: masses stay
// and stiffness only decreases.
#include <algorithm>
#include <numeric>

#include "deform/cut/sculpt_steps.hpp"
#include "deform/slit_parts.hpp"
#include "deform/solid/elasticity.hpp"

namespace trocar {
namespace {

bool pair_before(const glm::uvec2& a, const glm::uvec2& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; }

struct CutSpring {
  std::size_t entry;  // in TissueModel::stiffness
  glm::uvec2 nodes;   // ascending
};

class Divider {
 public:
  Divider(Sculpture& sculpture, TissueModel& model, const SteppedTissue& state, const Slit& slit)
      : s_(sculpture), model_(model), state_(state), slit_(slit), severed_before_(sculpture.severed) {}

  void divide() {
    for (const glm::vec3& x : state_.x) side_.push_back(slit_.plane.height(glm::dvec3(x)) < 0.0 ? -1 : 1);
    find_springs();
    do list_severed();
    while (keep_unsupported());
    for (const CutSpring& spring : cut_) model_.stiffness[spring.entry] = 0.f;
    for (std::uint32_t c = 0; c < s_.cells.size(); ++c) {
      if (s_.cells[c].dead || !has_two_sides(c) || is_whole(s_, model_.lattice, c)) continue;
      model_.lattice.cells[c].divided = true;
      model_.bulk[model_.bulk_index[c]] = 0.f;
    }
  }

 private:
  void find_springs() {
    const double reach = 2.0 * model_.lattice.spacing;
    for (const SpringRow& row : model_.spring_rows)
      for (std::uint32_t i = 0; i < row.count; ++i) {
        if (!(model_.stiffness[row.first + i] > 0.f)) continue;
        const std::uint32_t a = row.a + i, b = row.b + i;
        if (side_[a] == side_[b]) continue;
        if (slit_.plane.depth(slit_.plane.flat(glm::dvec3(state_.x[a]))) < -reach) continue;
        if (severs(slit_, state_.x[a], side_[a], state_.x[b], side_[b]))
          cut_.push_back({row.first + i, {std::min(a, b), std::max(a, b)}});
      }
  }

  void list_severed() {
    s_.severed = severed_before_;
    for (const CutSpring& spring : cut_) s_.severed.push_back(spring.nodes);
    std::sort(s_.severed.begin(), s_.severed.end(), pair_before);
  }

  // Keeps the springs of parts without a whole cell. Returns whether there were any.
  bool keep_unsupported() {
    const std::vector<std::uint32_t> part = node_parts(s_, model_.lattice);
    std::vector<char> supported(part.size(), 0);
    for (std::uint32_t c = 0; c < s_.cells.size(); ++c) {
      const LatticeCell& cell = model_.lattice.cells[c];
      if (!s_.cells[c].dead && !supported[part[cell.node[0]]] && is_whole(s_, model_.lattice, c))
        supported[part[cell.node[0]]] = 1;
    }
    const std::size_t cut = cut_.size();
    std::erase_if(cut_, [&](const CutSpring& spring) {
      return !supported[part[spring.nodes.x]] || !supported[part[spring.nodes.y]];
    });
    return cut_.size() != cut;
  }

  bool has_two_sides(std::uint32_t c) const {
    const auto& node = model_.lattice.cells[c].node;
    return std::any_of(node.begin(), node.end(), [&](std::uint32_t n) { return side_[n] != side_[node[0]]; });
  }

  Sculpture& s_;
  TissueModel& model_;
  const SteppedTissue& state_;
  const Slit& slit_;
  const std::vector<glm::uvec2> severed_before_;
  std::vector<std::int8_t> side_;  // [node]
  std::vector<CutSpring> cut_;
};

}  // namespace

void divide_lattice(Sculpture& sculpture, TissueModel& model, const SteppedTissue& state, const Slit& slit) {
  Divider(sculpture, model, state, slit).divide();
}

}  // namespace trocar
