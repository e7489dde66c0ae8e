// Plans nested dissection over elements, and factors fronts: rank-4 updates over contiguous columns.
#include "deform/thin/sparse_factor.hpp"

#include <algorithm>
#include <cmath>

namespace trocar {
namespace {

constexpr std::size_t kLeaf = 12;       // elements that are not halved
constexpr double kLeastPivot = 1e-150;  // its square root and reciprocal are far from the limits of a double

// Divides elements until few are left; the points that both parts share are eliminated after them.
struct Dissection {
  std::span<const std::uint8_t> sizes;
  std::span<const FactorElement> elements;
  FactorPlan& plan;
  std::vector<std::uint32_t> mark = std::vector<std::uint32_t>(sizes.size(), 0);
  std::vector<std::vector<std::uint32_t>> later = {};  // [front] points that it touches and that are eliminated later
  std::vector<std::size_t> first_at = std::vector<std::size_t>(sizes.size()), last_at = first_at;
  std::vector<std::int32_t> change = {};
  std::uint32_t stamp = 1;

  template <class Each>
  void points_of(std::span<const std::uint32_t> set, Each each) const {
    for (const std::uint32_t e : set)
      for (const std::uint32_t p : elements[e].point)
        if (p != kNoPoint) each(p);
  }
  // Sorts elements along a coordinate axis.
  void sort(std::span<std::uint32_t> set, int axis) const {
    std::sort(set.begin(), set.end(), [&](std::uint32_t a, std::uint32_t b) {
      const double at_a = elements[a].centre[axis], at_b = elements[b].centre[axis];
      return at_a != at_b ? at_a < at_b : a < b;
    });
  }
  // Where sorted elements are best divided: in the middle third, with the fewest unknowns on both sides.
  struct Division {
    std::uint32_t unknowns;
    std::size_t at;  // elements of the first part
  };
  Division division(std::span<const std::uint32_t> set, std::span<const std::uint8_t> above) {
    change.assign(set.size() + 1, 0);
    const std::uint32_t counted = ++stamp, seen = ++stamp;
    for (std::size_t i = 0; i < set.size(); ++i)
      points_of(set.subspan(i, 1), [&](std::uint32_t p) {
        if (above[p]) return;
        if (mark[p] != seen) mark[p] = seen, first_at[p] = i;
        last_at[p] = i;
      });
    for (std::size_t i = 0; i < set.size(); ++i)
      points_of(set.subspan(i, 1), [&](std::uint32_t p) {
        if (above[p] || mark[p] != seen) return;
        mark[p] = counted;
        change[first_at[p] + 1] += sizes[p], change[last_at[p] + 1] -= sizes[p];
      });
    Division best{kNoPoint, 0};
    std::int32_t now = 0;
    for (std::size_t at = 1; at < set.size(); ++at) {
      now += change[at];
      const bool balanced = 3 * at >= set.size() && 3 * (set.size() - at) >= set.size();
      if (balanced && static_cast<std::uint32_t>(now) < best.unknowns) best = {static_cast<std::uint32_t>(now), at};
    }
    return best;
  }
  // Divides elements in two; returns the number in the first part.
  std::size_t divide(std::span<std::uint32_t> set, std::span<const std::uint8_t> above) {
    Division best{kNoPoint, 0};
    int along = 0;
    for (int axis = 0; axis < 3; ++axis) {
      sort(set, axis);
      const Division found = division(set, above);
      if (found.unknowns < best.unknowns) best = found, along = axis;
    }
    sort(set, along);
    return best.at;
  }
  // Points of both halves that no separator above has.
  std::vector<std::uint32_t> shared(std::span<const std::uint32_t> left, std::span<const std::uint32_t> right,
                                    std::span<const std::uint8_t> above) {
    std::vector<std::uint32_t> found;
    const std::uint32_t in_left = ++stamp, taken = ++stamp;
    points_of(left, [&](std::uint32_t p) { mark[p] = in_left; });
    points_of(right, [&](std::uint32_t p) {
      if (mark[p] == in_left && !above[p]) mark[p] = taken, found.push_back(p);
    });
    return found;
  }
  // Makes a front of points; it becomes the parent of those from `below` on that have none.
  void emit(std::vector<std::uint32_t> own, std::span<const std::uint32_t> set, std::size_t below) {
    if (own.empty()) return;
    std::sort(own.begin(), own.end());
    const auto number = static_cast<std::uint32_t>(plan.fronts.size());
    for (std::size_t k = below; k < number; ++k)
      if (plan.fronts[k].parent == kNoPoint && !later[k].empty()) plan.fronts[k].parent = number;
    FactorFront front{};
    front.first = plan.unknowns, front.parent = kNoPoint;
    for (const std::uint32_t p : own) {
      plan.at[p] = plan.unknowns, plan.front[p] = number;
      plan.unknowns += sizes[p], front.own += sizes[p];
    }
    std::vector<std::uint32_t> touched;
    const std::uint32_t seen = ++stamp;
    points_of(set, [&](std::uint32_t p) {
      if (mark[p] != seen && plan.at[p] == kNoPoint) mark[p] = seen, touched.push_back(p);
    });
    plan.fronts.push_back(front);
    later.push_back(std::move(touched));
  }
  void dissect(std::span<std::uint32_t> set, std::vector<std::uint8_t>& above) {
    const std::size_t below = plan.fronts.size();
    if (set.size() <= kLeaf) {
      std::vector<std::uint32_t> own;
      const std::uint32_t seen = ++stamp;
      points_of(set, [&](std::uint32_t p) {
        if (mark[p] != seen && !above[p]) mark[p] = seen, own.push_back(p);
      });
      emit(std::move(own), set, below);
      return;
    }
    const std::size_t half = divide(set, above);
    const std::span<std::uint32_t> left = set.first(half), right = set.subspan(half);
    const std::vector<std::uint32_t> separator = shared(left, right, above);
    for (const std::uint32_t p : separator) above[p] = 1;
    dissect(left, above);
    dissect(right, above);
    for (const std::uint32_t p : separator) above[p] = 0;
    emit(separator, set, below);
  }
};

// Lists the later unknowns of every front in order.
void find_rows(const Dissection& done, FactorPlan& plan) {
  for (std::size_t k = 0; k < plan.fronts.size(); ++k) {
    FactorFront& front = plan.fronts[k];
    std::vector<std::uint32_t> points = done.later[k];
    std::sort(points.begin(), points.end(), [&](auto a, auto b) { return plan.at[a] < plan.at[b]; });
    front.rows = plan.rows.size();
    for (const std::uint32_t p : points)
      for (std::uint32_t i = 0; i < done.sizes[p]; ++i) plan.rows.push_back(plan.at[p] + i);
    front.height = front.own + static_cast<std::uint32_t>(plan.rows.size() - front.rows);
    front.panel = plan.values;
    plan.values += std::size_t{front.own} * front.height;
  }
}

std::uint32_t row_in(const FactorPlan& plan, const FactorFront& front, std::uint32_t unknown) {
  if (unknown < front.first + front.own) return unknown - front.first;
  const auto begin = plan.rows.begin() + static_cast<std::ptrdiff_t>(front.rows);
  const auto end = begin + (front.height - front.own);
  return front.own + static_cast<std::uint32_t>(std::lower_bound(begin, end, unknown) - begin);
}

// Where the updates lie on the stack: a front takes those of its children, which are the newest, and leaves its own.
void find_stack(FactorPlan& plan) {
  std::vector<std::uint32_t> open;
  std::size_t top = 0;
  for (std::uint32_t k = 0; k < plan.fronts.size(); ++k) {
    FactorFront& front = plan.fronts[k];
    front.scratch = front.stack = top;
    while (!open.empty() && plan.fronts[open.back()].parent == k) {
      plan.child.push_back(open.back());
      front.stack = plan.fronts[open.back()].stack;
      open.pop_back(), ++front.children;
    }
    const std::size_t later = front.height - front.own;
    front.into_parent = plan.into_parent.size();
    if (front.parent != kNoPoint)
      for (std::size_t i = 0; i < later; ++i)
        plan.into_parent.push_back(row_in(plan, plan.fronts[front.parent], plan.rows[front.rows + i]));
    plan.stack = std::max(plan.stack, front.scratch + later * later);
    top = front.stack + later * later;
    if (later > 0) open.push_back(k);
  }
}

// Four columns that are done, from some row on, and the rows of two others in them.
struct FourColumns {
  const double *l0, *l1, *l2, *l3;
};

// target[i] -= sum of l_k[i] l_k[0] over four columns, i from 0 to count.
void subtract_four(double* __restrict target, const FourColumns& l, std::size_t count) {
  const double* __restrict l0 = l.l0, * __restrict l1 = l.l1, * __restrict l2 = l.l2, * __restrict l3 = l.l3;
  const double w0 = l0[0], w1 = l1[0], w2 = l2[0], w3 = l3[0];
  for (std::size_t i = 0; i < count; ++i) target[i] -= (l0[i] * w0 + l1[i] * w1) + (l2[i] * w2 + l3[i] * w3);
}

// The same for two neighbouring columns at once, which halves the reads: `next` is the second one from row 0 on, whose
// entry there lies above the diagonal and is not used.
void subtract_four_twice(double* __restrict target, double* __restrict next, const FourColumns& l, std::size_t count) {
  const double* __restrict l0 = l.l0, * __restrict l1 = l.l1, * __restrict l2 = l.l2, * __restrict l3 = l.l3;
  const double w0 = l0[0], w1 = l1[0], w2 = l2[0], w3 = l3[0], v0 = l0[1], v1 = l1[1], v2 = l2[1], v3 = l3[1];
  target[0] -= (w0 * w0 + w1 * w1) + (w2 * w2 + w3 * w3);
  for (std::size_t i = 1; i < count; ++i) {
    const double a = l0[i], b = l1[i], c = l2[i], d = l3[i];
    target[i] -= (a * w0 + b * w1) + (c * w2 + d * w3);
    next[i] -= (a * v0 + b * v1) + (c * v2 + d * v3);
  }
}

void subtract_one(double* __restrict target, const double* __restrict l, double w, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) target[i] -= l[i] * w;
}

// Factors columns first .. first + count of a front; the columns before are done and have been subtracted.
void factor_columns(double* panel, std::size_t height, std::size_t first, std::size_t count) {
  for (std::size_t k = first; k < first + count; ++k) {
    double* column = panel + k * height;
    const double root = std::sqrt(column[k] > kLeastPivot ? column[k] : kLeastPivot), scale = 1.0 / root;
    column[k] = root;
    for (std::size_t i = k + 1; i < height; ++i) column[i] *= scale;
    for (std::size_t j = k + 1; j < first + count; ++j)
      subtract_one(panel + j * height + j, column + j, column[j], height - j);
  }
}

// Eliminates the own unknowns of a front; `update`: [later][later], lower half, column by column.
void eliminate(const FactorFront& front, double* panel, double* update) {
  const std::size_t height = front.height, own = front.own, later = height - own;
  for (std::size_t k = 0; k < own; k += 4) {
    const std::size_t count = std::min<std::size_t>(4, own - k);
    factor_columns(panel, height, k, count);
    // Columns `begin` to `end` of the front, from the diagonal down; they lie `stride` apart.
    const auto subtract = [&](double* target, std::size_t stride, std::size_t begin, std::size_t end) {
      for (std::size_t j = begin; j < end; ++j, target += stride + 1) {
        const double* l = panel + k * height + j;
        const FourColumns columns{l, l + height, l + 2 * height, l + 3 * height};
        if (count < 4) {
          for (std::size_t c = 0; c < count; ++c) subtract_one(target, l + c * height, l[c * height], height - j);
        } else if (j + 1 < end) {
          subtract_four_twice(target, target + stride, columns, height - j);
          ++j, target += stride + 1;
        } else {
          subtract_four(target, columns, height - j);
        }
      }
    };
    subtract(panel + (k + count) * (height + 1), height, k + count, own);
    subtract(update, later, own, height);
  }
}

// Adds the update of a child to a front.
void take(const FactorPlan& plan, const FactorFront& child, const double* update, const FactorFront& front,
          double* panel, double* own_update) {
  const std::size_t count = child.height - child.own, later = front.height - front.own;
  const std::uint32_t* into = plan.into_parent.data() + child.into_parent;
  for (std::size_t j = 0; j < count; ++j) {
    const double* from = update + j * count;
    if (into[j] < front.own) {
      double* column = panel + std::size_t{into[j]} * front.height;
      for (std::size_t i = j; i < count; ++i) column[into[i]] += from[i];
    } else {
      double* column = own_update + (into[j] - front.own) * later;
      for (std::size_t i = j; i < count; ++i) column[into[i] - front.own] += from[i];
    }
  }
}

}  // namespace

FactorPlan plan_factor(std::span<const std::uint8_t> sizes, std::span<const FactorElement> elements) {
  FactorPlan plan;
  plan.at.assign(sizes.size(), kNoPoint), plan.front.assign(sizes.size(), kNoPoint);
  Dissection dissection{sizes, elements, plan};
  std::vector<std::uint32_t> set(elements.size());
  for (std::uint32_t k = 0; k < set.size(); ++k) set[k] = k;
  std::vector<std::uint8_t> above(sizes.size(), 0);
  if (!set.empty()) dissection.dissect(set, above);
  find_rows(dissection, plan);
  find_stack(plan);
  return plan;
}

FactorBlock block_of(const FactorPlan& plan, std::uint32_t row, std::uint32_t column) {
  const bool turned = plan.at[row] < plan.at[column];
  if (turned) std::swap(row, column);
  const FactorFront& front = plan.fronts[plan.front[column]];
  const std::size_t first = std::size_t{plan.at[column] - front.first} * front.height;
  return {static_cast<std::uint32_t>(front.panel + first + row_in(plan, front, plan.at[row])), front.height, turned};
}

void clear(const FactorPlan& plan, Factor& factor) {
  factor.values.assign(plan.values, 0.0);
  factor.stack.resize(plan.stack);
}

void factorise(const FactorPlan& plan, Factor& factor) {
  std::size_t next_child = 0;
  for (const FactorFront& front : plan.fronts) {
    const std::size_t later = front.height - front.own;
    double *panel = factor.values.data() + front.panel, *update = factor.stack.data() + front.scratch;
    std::fill(update, update + later * later, 0.0);
    for (std::uint32_t c = 0; c < front.children; ++c) {
      const FactorFront& child = plan.fronts[plan.child[next_child++]];
      take(plan, child, factor.stack.data() + child.stack, front, panel, update);
    }
    eliminate(front, panel, update);
    if (front.stack != front.scratch) std::copy(update, update + later * later, factor.stack.data() + front.stack);
  }
}

void forward(const FactorPlan& plan, const Factor& factor, std::span<double> values) {
  for (const FactorFront& front : plan.fronts) {
    const double* panel = factor.values.data() + front.panel;
    double* own = values.data() + front.first;
    const std::uint32_t* rows = plan.rows.data() + front.rows;
    for (std::size_t k = 0; k < front.own; ++k) {
      const double* column = panel + k * front.height;
      const double y = own[k] / column[k];
      own[k] = y;
      for (std::size_t i = k + 1; i < front.own; ++i) own[i] -= column[i] * y;
      for (std::size_t i = front.own; i < front.height; ++i) values[rows[i - front.own]] -= column[i] * y;
    }
  }
}

void backward(const FactorPlan& plan, const Factor& factor, std::span<double> values) {
  for (std::size_t f = plan.fronts.size(); f-- > 0;) {
    const FactorFront& front = plan.fronts[f];
    const double* panel = factor.values.data() + front.panel;
    double* own = values.data() + front.first;
    const std::uint32_t* rows = plan.rows.data() + front.rows;
    for (std::size_t k = front.own; k-- > 0;) {
      const double* column = panel + k * front.height;
      double sum = own[k];
      for (std::size_t i = front.own; i < front.height; ++i) sum -= column[i] * values[rows[i - front.own]];
      for (std::size_t i = k + 1; i < front.own; ++i) sum -= column[i] * own[i];
      own[k] = sum / column[k];
    }
  }
}

std::uint32_t path_length(const FactorPlan& plan, std::uint32_t front) {
  std::uint32_t sum = 0;
  for (; front != kNoPoint; front = plan.fronts[front].parent) sum += plan.fronts[front].own;
  return sum;
}

void forward_on_path(const FactorPlan& plan, const Factor& factor, std::uint32_t start, std::span<glm::dvec3> values,
                     std::span<glm::dvec3> path) {
  std::size_t at = 0;
  for (std::uint32_t f = start; f != kNoPoint; f = plan.fronts[f].parent) {
    const FactorFront& front = plan.fronts[f];
    const double* panel = factor.values.data() + front.panel;
    glm::dvec3* own = values.data() + front.first;
    const std::uint32_t* rows = plan.rows.data() + front.rows;
    for (std::size_t k = 0; k < front.own; ++k) {
      const double* column = panel + k * front.height;
      const glm::dvec3 y = own[k] / column[k];
      own[k] = glm::dvec3(0.0), path[at++] = y;
      for (std::size_t i = k + 1; i < front.own; ++i) own[i] -= column[i] * y;
      for (std::size_t i = front.own; i < front.height; ++i) values[rows[i - front.own]] -= column[i] * y;
    }
  }
}

}  // namespace trocar
