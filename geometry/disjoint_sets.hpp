// Joins numbered things into groups (union-find).   Tested through tests/mesh/mesh_report_test.cpp and
// tests/deform/sculpt_test.cpp
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace trocar {

// The root of a group is its smallest number, so it does not depend on the order of the joins.
struct DisjointSets {
  // Makes a group of its own of each number below `count`.
  explicit DisjointSets(std::size_t count = 0) : parent(count) { std::iota(parent.begin(), parent.end(), 0u); }
  void add() { parent.push_back(static_cast<std::uint32_t>(parent.size())); }  // a group of its own
  // Returns the smallest number in the group of i.
  std::uint32_t root(std::uint32_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  }
  // Makes the groups of a and b one.
  void join(std::uint32_t a, std::uint32_t b) {
    a = root(a), b = root(b);
    parent[std::max(a, b)] = std::min(a, b);
  }
  std::vector<std::uint32_t> parent;  // [number] a number of its group that is not larger; itself: the root
};

}  // namespace trocar
