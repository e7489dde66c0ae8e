#include "deform/spring_sweep.hpp"

#include <immintrin.h>

#include <algorithm>
#include <cmath>

namespace trocar {
namespace {

// Keeps a collapsed spring from dividing zero by zero; far below any real length squared.
constexpr float kSmallestSquare = 1e-20f;  // m^2

// How far a spring moves its nodes, per unit of d and of inverse mass. Every path does these operations in this order.
[[gnu::always_inline]] inline float pull(float dx, float dy, float dz, float qx, float qy, float qz, float rest_length,
                                         float k, float b, float w, float relaxation) {
  const float square = std::max(dx * dx + dy * dy + dz * dz, kSmallestSquare);
  const float length = std::sqrt(square);
  const float along = qx * dx + qy * dy + qz * dz;
  return (k * (length - rest_length) * length + b * along) / (square * (1.f + relaxation * (k + b) * w));
}

// The arrays of one run, starting at its first spring and nodes.
struct RunView {
  float *ax, *ay, *az, *bx, *by, *bz;
  const float *before_ax, *before_ay, *before_az, *before_bx, *before_by, *before_bz;
  const float *w_a, *w_b, *stiffness, *damping;

  RunView(const TissueModel& model, const SweepNodes& n, const SpringRun& run)
      : ax(n.x + run.a),
        ay(n.y + run.a),
        az(n.z + run.a),
        bx(n.x + run.b),
        by(n.y + run.b),
        bz(n.z + run.b),
        before_ax(n.before_x + run.a),
        before_ay(n.before_y + run.a),
        before_az(n.before_z + run.a),
        before_bx(n.before_x + run.b),
        before_by(n.before_y + run.b),
        before_bz(n.before_z + run.b),
        w_a(n.inverse_mass + run.a),
        w_b(n.inverse_mass + run.b),
        stiffness(model.stiffness.data() + run.first),
        damping(model.damping.data() + run.first) {}
};

// Springs of a run share no node, so the compiler may take several at once.
template <std::uint32_t kStride>
[[gnu::always_inline]] inline void sweep_run(const SpringRun& run, const RunView& v, const SweepParams& params) {
  const float dt = params.dt, dt2 = params.dt * params.dt, relaxation = params.relaxation,
              rest_length = run.rest_length;
#pragma GCC ivdep
  for (std::uint32_t s = 0; s < run.count; ++s) {
    const std::uint32_t i = kStride * s;
    const float dx = v.bx[i] - v.ax[i], dy = v.by[i] - v.ay[i], dz = v.bz[i] - v.az[i];
    const float qx = dx - (v.before_bx[i] - v.before_ax[i]);
    const float qy = dy - (v.before_by[i] - v.before_ay[i]);
    const float qz = dz - (v.before_bz[i] - v.before_az[i]);
    const float wa = v.w_a[i], wb = v.w_b[i];
    const float m =
        pull(dx, dy, dz, qx, qy, qz, rest_length, v.stiffness[s] * dt2, v.damping[s] * dt, wa + wb, relaxation);
    const float ma = m * wa, mb = m * wb;
    v.ax[i] += ma * dx;
    v.ay[i] += ma * dy;
    v.az[i] += ma * dz;
    v.bx[i] -= mb * dx;
    v.by[i] -= mb * dy;
    v.bz[i] -= mb * dz;
  }
}

// [8 - n] the mask of the first n lanes begins there.
alignas(32) constexpr std::int32_t kLaneMask[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};

#pragma GCC push_options
#pragma GCC target("avx2")

// Both ends of eight springs, along one axis. Inactive lanes are read as 0 and never written.
struct Ends {
  __m256 a, b;
};

__m256i first_lanes(std::uint32_t n) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kLaneMask + 8 - n)); }

// Springs between two lattice rows: each end is a stretch of consecutive nodes.
struct RowToRow {
  __m256i mask;
  RowToRow(std::uint32_t springs) : mask(first_lanes(springs)) {}

  Ends load(const float* a, const float* b) const { return {_mm256_maskload_ps(a, mask), _mm256_maskload_ps(b, mask)}; }
  void store(float* a, float* b, const Ends& v) const {
    _mm256_maskstore_ps(a, mask, v.a);
    _mm256_maskstore_ps(b, mask, v.b);
  }
  __m256 load_springs(const float* p) const { return _mm256_maskload_ps(p, mask); }
};

// Springs along a lattice row: sixteen consecutive nodes, first ends and second ends in turn. Springs then lie in the
// lanes in the order 0 1 4 5 2 3 6 7.
struct AlongRow {
  __m256i mask, low, high;
  AlongRow(std::uint32_t springs)
      : mask(first_lanes(springs)),
        low(first_lanes(std::min(2 * springs, 8u))),
        high(first_lanes(std::max(2 * springs, 8u) - 8u)) {}

  Ends load(const float* a, const float*) const {
    const __m256 lo = _mm256_maskload_ps(a, low), hi = _mm256_maskload_ps(a + 8, high);
    return {_mm256_shuffle_ps(lo, hi, 0x88), _mm256_shuffle_ps(lo, hi, 0xdd)};
  }
  void store(float* a, float*, const Ends& v) const {
    _mm256_maskstore_ps(a, low, _mm256_unpacklo_ps(v.a, v.b));
    _mm256_maskstore_ps(a + 8, high, _mm256_unpackhi_ps(v.a, v.b));
  }
  __m256 load_springs(const float* p) const {
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(_mm256_maskload_ps(p, mask)), 0xd8));
  }
};

// Eight springs at a time; the last, unfinished eight under a mask.
template <class Lanes, std::uint32_t kStride>
void sweep_run_avx2(const SpringRun& run, const RunView& v, const SweepParams& params) {
  const __m256 dt = _mm256_set1_ps(params.dt), dt2 = _mm256_set1_ps(params.dt * params.dt);
  const __m256 relaxation = _mm256_set1_ps(params.relaxation), rest_length = _mm256_set1_ps(run.rest_length);
  const __m256 one = _mm256_set1_ps(1.f), smallest = _mm256_set1_ps(kSmallestSquare);
  for (std::uint32_t s = 0; s < run.count; s += 8) {
    const Lanes lanes(std::min(run.count - s, 8u));
    const std::uint32_t i = kStride * s;
    const Ends x = lanes.load(v.ax + i, v.bx + i), before_x = lanes.load(v.before_ax + i, v.before_bx + i);
    const Ends y = lanes.load(v.ay + i, v.by + i), before_y = lanes.load(v.before_ay + i, v.before_by + i);
    const Ends z = lanes.load(v.az + i, v.bz + i), before_z = lanes.load(v.before_az + i, v.before_bz + i);
    const Ends w = lanes.load(v.w_a + i, v.w_b + i);
    const __m256 k = lanes.load_springs(v.stiffness + s) * dt2, b = lanes.load_springs(v.damping + s) * dt;

    const __m256 dx = x.b - x.a, dy = y.b - y.a, dz = z.b - z.a;
    const __m256 qx = dx - (before_x.b - before_x.a), qy = dy - (before_y.b - before_y.a);
    const __m256 qz = dz - (before_z.b - before_z.a);
    const __m256 square = _mm256_max_ps(dx * dx + dy * dy + dz * dz, smallest);
    const __m256 length = _mm256_sqrt_ps(square);
    const __m256 along = qx * dx + qy * dy + qz * dz;
    const __m256 m =
        (k * (length - rest_length) * length + b * along) / (square * (one + relaxation * (k + b) * (w.a + w.b)));
    const __m256 ma = m * w.a, mb = m * w.b;
    lanes.store(v.ax + i, v.bx + i, {x.a + ma * dx, x.b - mb * dx});
    lanes.store(v.ay + i, v.by + i, {y.a + ma * dy, y.b - mb * dy});
    lanes.store(v.az + i, v.bz + i, {z.a + ma * dz, z.b - mb * dz});
  }
}

void sweep_springs_avx2(const TissueModel& model, const SweepNodes& nodes, const SweepParams& params) {
  for (const SpringRun& run : model.runs) {
    const RunView view(model, nodes, run);
    run.stride == 1 ? sweep_run_avx2<RowToRow, 1>(run, view, params) : sweep_run_avx2<AlongRow, 2>(run, view, params);
  }
}

#pragma GCC pop_options

bool has_avx2() {
  static const bool avx2 = __builtin_cpu_supports("avx2");
  return avx2;
}

}  // namespace

const char* sweep_instructions() { return has_avx2() ? "avx2" : "sse2"; }

void sweep_springs(const TissueModel& model, const SweepNodes& nodes, const SweepParams& params) {
  has_avx2() ? sweep_springs_avx2(model, nodes, params) : sweep_springs_sse2(model, nodes, params);
}

void sweep_springs_sse2(const TissueModel& model, const SweepNodes& nodes, const SweepParams& params) {
  for (const SpringRun& run : model.runs) {
    const RunView view(model, nodes, run);
    run.stride == 1 ? sweep_run<1>(run, view, params) : sweep_run<2>(run, view, params);
  }
}

void sweep_springs_plainly(const TissueModel& model, const SweepNodes& n, const SweepParams& params) {
  const float dt = params.dt;
  for (std::size_t i = 0; i < model.springs.size(); ++i) {
    const auto [a, b, rest_length, stiffness] = model.springs[i];
    const glm::vec3 d(n.x[b] - n.x[a], n.y[b] - n.y[a], n.z[b] - n.z[a]);
    const glm::vec3 before(n.before_x[b] - n.before_x[a], n.before_y[b] - n.before_y[a], n.before_z[b] - n.before_z[a]);
    const glm::vec3 q = d - before;
    const float w = n.inverse_mass[a] + n.inverse_mass[b];
    const float m = pull(d.x, d.y, d.z, q.x, q.y, q.z, rest_length, stiffness * (dt * dt), model.damping[i] * dt, w,
                         params.relaxation);
    const glm::vec3 move_a = m * n.inverse_mass[a] * d, move_b = m * n.inverse_mass[b] * d;
    n.x[a] += move_a.x, n.y[a] += move_a.y, n.z[a] += move_a.z;
    n.x[b] -= move_b.x, n.y[b] -= move_b.y, n.z[b] -= move_b.z;
  }
}

}  // namespace trocar
