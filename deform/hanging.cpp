#include "deform/hanging.hpp"

#include <algorithm>

#include "deform/cut/sculpt_steps.hpp"
#include "deform/links.hpp"

namespace trocar {
namespace {

// The node of a fibre's end with the largest weight; in a cell that a slit divides, the nodes belong to several parts.
std::uint32_t node_of(const BondEnd& end, std::span<const HangingOrgan> organs) {
  const auto heaviest = std::max_element(end.weight.begin(), end.weight.end()) - end.weight.begin();
  return organs[end.organ].model->lattice.cells[end.cell].node[static_cast<std::size_t>(heaviest)];
}

// All nodes of all organs, numbered one after the other, and one number for whatever does not fall.
class Nodes {
 public:
  explicit Nodes(std::span<const HangingOrgan> organs) : organs_(organs) {
    for (const HangingOrgan& organ : organs) first_.push_back(first_.back() + std::uint32_t(organ.model->mass.size()));
  }
  std::uint32_t count() const { return first_.back() + 1; }
  std::uint32_t ground() const { return first_.back(); }
  std::uint32_t operator()(std::size_t organ, std::uint32_t node) const { return first_[organ] + node; }
  std::uint32_t operator()(const BondEnd& end) const {
    return end.organ == kWall ? ground() : first_[end.organ] + node_of(end, organs_);
  }

 private:
  std::span<const HangingOrgan> organs_;
  std::vector<std::uint32_t> first_{0};  // [organ + 1]
};

bool was_held(const HangingOrgan& organ) { return organ.sculpture && organ.sculpture->any_held; }

std::vector<std::uint32_t> parts_of(const HangingOrgan& organ) {
  if (!organ.sculpture) return std::vector<std::uint32_t>(organ.model->mass.size(), 0);
  return node_parts(*organ.sculpture, organ.model->lattice);
}

// Joins the nodes of each part, and the parts that are fixed or tethered to the ground.
void join_parts(std::size_t k, const HangingOrgan& organ, std::span<const std::uint32_t> part, const Nodes& nodes,
                Links& links) {
  const TissueModel& model = *organ.model;
  for (std::uint32_t node = 0; node < part.size(); ++node) {
    links.join(nodes(k, node), nodes(k, part[node]));
    if (model.mass[node] > 0.f && model.inverse_mass[node] == 0.f) links.join(nodes(k, node), nodes.ground());
  }
  for (const Tether& tether : model.tethers) links.join(nodes(k, tether.node), nodes.ground());
  if (organ.sculpture && !was_held(organ) && !part.empty())
    links.join(nodes(k, largest_part(*organ.sculpture, model.lattice, part)), nodes.ground());
}

}  // namespace

void mark_bonded(std::span<const HangingOrgan> organs, const Bonds& bonds) {
  for (const HangingOrgan& organ : organs) organ.model->bonded.assign(organ.model->mass.size(), 0);
  for (std::size_t f = 0; f < bonds.fibres.size(); ++f) {
    if (!bonds.intact[f]) continue;
    for (const BondEnd* end : {&bonds.fibres[f].a, &bonds.fibres[f].b})
      if (end->organ != kWall) organs[end->organ].model->bonded[node_of(*end, organs)] = 1;
  }
}

void expect_to_hang(std::span<const HangingOrgan> organs) {
  for (const HangingOrgan& organ : organs)
    if (organ.sculpture && std::ranges::count(organ.model->bonded, 1) > 0) organ.sculpture->any_held = true;
}

void release_unheld(std::span<const HangingOrgan> organs, const Bonds& bonds) {
  const Nodes nodes(organs);
  Links links(nodes.count());
  std::vector<std::vector<std::uint32_t>> parts;
  for (std::size_t k = 0; k < organs.size(); ++k) {
    parts.push_back(parts_of(organs[k]));
    join_parts(k, organs[k], parts[k], nodes, links);
  }
  for (std::size_t f = 0; f < bonds.fibres.size(); ++f)
    if (bonds.intact[f]) links.join(nodes(bonds.fibres[f].a), nodes(bonds.fibres[f].b));
  for (const Fibre& strut : bonds.struts) links.join(nodes(strut.a), nodes(strut.b));
  for (std::size_t k = 0; k < organs.size(); ++k) {
    if (!organs[k].sculpture) continue;
    std::vector<char> held(parts[k].size());
    for (std::uint32_t node = 0; node < held.size(); ++node)
      held[node] = links.root(nodes(k, node)) == links.root(nodes.ground());
    let_fall(*organs[k].sculpture, *organs[k].model, parts[k], held);
  }
}

}  // namespace trocar
