// Cholesky factor of a sparse positive definite matrix that is built from small elements of a mesh: the order of
// elimination is fixed once, the numbers change in every step. Nothing allocates after the plan, and the bits are the
// same on every machine.
// Based on: George, "Nested dissection of a regular finite element mesh", SIAM J. Numer. Anal. 10, 1973; Duff, Reid,
// "The multifrontal solution of indefinite sparse symmetric linear equations", ACM TOMS 9, 1983. We differ: elements
// instead of nodes are divided, across the axis and at the position of the smallest separator, and a whole separator
// is one dense front.
// A point is a group of unknowns, for instance three coordinates of a node.   Tested against a dense solver in
// tests/deform/sheet_test.cpp
#pragma once

#include <array>
#include <cstdint>
#include <glm/glm.hpp>
#include <limits>
#include <span>
#include <vector>

namespace trocar {

constexpr std::uint32_t kNoPoint = std::numeric_limits<std::uint32_t>::max();  // also: no front, no edge

// Points that an element joins, all with all; unused entries at the end are kNoPoint.
struct FactorElement {
  std::array<std::uint32_t, 6> point;
  glm::dvec3 centre;  // by which it is sorted
};

// A dense part of the matrix: some unknowns that are eliminated together, and the later ones that they touch.
struct FactorFront {
  std::uint32_t first, own;    // unknowns first .. first + own, in the order of elimination
  std::uint32_t height;        // own + later unknowns
  std::size_t panel;           // offset in Factor::values: [own][height], column by column
  std::size_t rows;            // offset in FactorPlan::rows of its later unknowns
  std::size_t into_parent;     // offset in FactorPlan::into_parent, one entry for each later unknown
  std::uint32_t parent;        // kNoPoint: none
  std::size_t stack, scratch;  // offsets in Factor::stack: where its update is kept, and computed
  std::uint32_t children;      // number of fronts that give it an update
};

// A block of the matrix: rows of one point, columns of another.
struct FactorBlock {
  std::uint32_t offset, height;  // of the first entry in Factor::values, and from one column to the next
  bool turned;                   // rows are those of the second point
};

struct FactorPlan {
  std::vector<std::uint32_t> at;           // [point] its first unknown in the order of elimination; kNoPoint: unused
  std::vector<std::uint32_t> front;        // [point] where it is eliminated
  std::vector<FactorFront> fronts;         // in the order of elimination
  std::vector<std::uint32_t> rows;         // unknowns
  std::vector<std::uint32_t> into_parent;  // row in the parent's front
  std::vector<std::uint32_t> child;        // updates on the stack, in the order in which they are taken
  std::uint32_t unknowns = 0;
  std::size_t values = 0, stack = 0;  // doubles
};

struct Factor {
  std::vector<double> values;  // lower half of the matrix, then of its factor
  std::vector<double> stack;   // updates
};

// Plans the elimination. `sizes`: [point] unknowns, 1 to 3. Points without an element take no part.
FactorPlan plan_factor(std::span<const std::uint8_t> sizes, std::span<const FactorElement> elements);

// Returns where the block of two points of one element is stored. Both points equal: only its lower half is used.
FactorBlock block_of(const FactorPlan& plan, std::uint32_t row, std::uint32_t column);

// Sets the matrix to 0.
void clear(const FactorPlan& plan, Factor& factor);
// Factors the matrix in place, A = L L^T. A pivot that is not positive becomes the smallest positive number that keeps
// the result finite. Does not allocate after the first call.
void factorise(const FactorPlan& plan, Factor& factor);
// Solves L y = b and L^T x = y in place. `values`: [unknown], in the order of elimination.
void forward(const FactorPlan& plan, const Factor& factor, std::span<double> values);
void backward(const FactorPlan& plan, const Factor& factor, std::span<double> values);

// Number of unknowns of a front and of those above it.
std::uint32_t path_length(const FactorPlan& plan, std::uint32_t front);
// Solves L y = b for three right sides that are 0 except on the path from a front to the root. `values`: [unknown],
// one right side in each coordinate, 0 outside; result: the same unknowns, front after front up to the root, written to
// `path`, and `values` is 0 again.
void forward_on_path(const FactorPlan& plan, const Factor& factor, std::uint32_t front, std::span<glm::dvec3> values,
                     std::span<glm::dvec3> path);

}  // namespace trocar
