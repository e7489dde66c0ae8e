// Measures nanoseconds per query of the O(log n) planar queries and of their O(n) baselines, for 8 to 1,000,000
// corners, and fits time = a + b log2 n. Convex polygons with corners at random angles on a circle of radius 1; random
// queries lie around it, all drawn before the clock starts. Each number is the median of several batches after one
// warm-up batch, in CPU time of this thread, so that other work on the machine has little effect. Pairs of polygons
// come from a pool of 16. Then measures the cost per frame of the distance of tip and shaft to a concave zone.
// Usage: trocar_planar_growth [--largest N] [--csv FILE]   (default 1000000)
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "geometry/planar/convex_polygon.hpp"
#include "geometry/planar/zone.hpp"
#include "geometry/units.hpp"
#include "study/planar/convex_scan.hpp"

namespace {

using namespace trocar::planar;

constexpr std::size_t kSizes[] = {8,     16,    32,     64,     128,    256,     512,     1'024,   2'048,
                                  4'096, 8'192, 16'384, 32'768, 65'536, 131'072, 262'144, 524'288, 1'000'000};
constexpr std::size_t kQueries = 4096;  // distinct, used in turn
constexpr int kBatches = 15;
constexpr double kScanSeconds = 0.1;                   // time limit for one number of an O(n) baseline
constexpr std::size_t kFitFrom = 64, kFitTo = 16'384;  // corners; 16 bytes each: up to 256 KiB per polygon

std::mt19937_64 engine(31);

double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine); }

// Jittered, so that no two sides are equal, but far enough apart to stay strictly convex.
ConvexPolygon round_polygon(std::size_t corners, const dvec2& centre) {
  std::vector<dvec2> c(corners);
  for (std::size_t i = 0; i < corners; ++i) {
    const double angle = trocar::kFullTurn * (static_cast<double>(i) + uniform(-0.3, 0.3)) / corners;
    c[i] = centre + dvec2(std::cos(angle), std::sin(angle));
  }
  return ConvexPolygon(c);
}

// Input of one query: points within 1.1 radii, a direction, and the number of a pair of polygons.
struct Query {
  dvec2 p, q, direction;
  std::size_t pick;
};

std::vector<Query> random_queries() {
  std::vector<Query> queries(kQueries);
  for (Query& query : queries) {
    const auto point = [] {
      return uniform(0.0, 1.1) * dvec2(std::cos(uniform(0.0, 6.3)), std::sin(uniform(0.0, 6.3)));
    };
    const double angle = uniform(0.0, trocar::kFullTurn);
    query = {point(), point(), {std::cos(angle), std::sin(angle)}, engine()};
  }
  return queries;
}

constexpr std::size_t kPool = 16;  // polygons around the origin; some pairs meet

struct Pair {
  const ConvexPolygon *first, *second;
};

struct Scene {
  std::vector<ConvexPolygon> pool;  // the first at the origin
  std::vector<Pair> pairs, apart;   // all pairs, and those that do not meet

  const ConvexPolygon& polygon() const { return pool.front(); }
  const Pair& pair(const Query& q) const { return pairs[q.pick % pairs.size()]; }
  const Pair& pair_apart(const Query& q) const { return apart[q.pick % apart.size()]; }
};

Scene scene(std::size_t corners) {
  Scene made;
  for (std::size_t k = 0; k < kPool; ++k)
    made.pool.push_back(round_polygon(corners, k == 0 ? dvec2(0.0) : dvec2(uniform(-2.5, 2.5), uniform(-2.5, 2.5))));
  for (const ConvexPolygon& first : made.pool) {
    for (const ConvexPolygon& second : made.pool) {
      if (&first == &second) continue;
      made.pairs.push_back({&first, &second});
      if (!convex_meet(first.view(), second.view())) made.apart.push_back({&first, &second});
    }
  }
  return made;
}

using Run = std::function<double(const Scene&, const Query&)>;

struct Subject {
  std::string name;
  Run fast, scan;
};

std::vector<Subject> subjects() {
  return {
      {"point inside", [](const Scene& s, const Query& q) { return contains(s.polygon().view(), q.p) ? 1.0 : 0.0; },
       [](const Scene& s, const Query& q) { return contains_by_scan(s.polygon().corners(), q.p) ? 1.0 : 0.0; }},
      {"farthest corner",
       [](const Scene& s, const Query& q) { return double(farthest(s.polygon().view(), q.direction).first); },
       [](const Scene& s, const Query& q) {
         return double(farthest_by_scan(s.polygon().corners(), q.direction).first);
       }},
      {"line (IGL)",
       [](const Scene& s, const Query& q) {
         return line_hit(s.polygon().view(), {q.p, q.q}).enter.x;
       },
       [](const Scene& s, const Query& q) {
         return line_hit_by_scan(s.polygon().corners(), {q.p, q.q}).enter.x;
       }},
      {"segment",
       [](const Scene& s, const Query& q) {
         return segment_inside(s.polygon().view(), {q.p, q.q}).enter;
       },
       [](const Scene& s, const Query& q) {
         return segment_inside_by_scan(s.polygon().corners(), {q.p, q.q}).enter;
       }},
      {"two polygons meet (IGG)",
       [](const Scene& s, const Query& q) {
         return convex_meet(s.pair(q).first->view(), s.pair(q).second->view()) ? 1.0 : 0.0;
       },
       [](const Scene& s, const Query& q) {
         return convex_gap_by_scan(s.pair(q).first->corners(), s.pair(q).second->corners()).meet ? 1.0 : 0.0;
       }},
      {"distance of two apart",
       [](const Scene& s, const Query& q) {
         return convex_gap(s.pair_apart(q).first->view(), s.pair_apart(q).second->view()).distance;
       },
       [](const Scene& s, const Query& q) {
         return convex_gap_by_scan(s.pair_apart(q).first->corners(), s.pair_apart(q).second->corners()).distance;
       }},
  };
}

struct Batch {
  double nanoseconds;  // per query
  double sum;          // of the answers, so that the compiler removes none
};

double thread_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

Batch batch(const Run& run, const Scene& s, std::span<const Query> queries) {
  double sum = 0.0;
  const double start = thread_nanoseconds();
  for (const Query& query : queries) sum += run(s, query);
  return {(thread_nanoseconds() - start) / static_cast<double>(queries.size()), sum};
}

// Measures a batch. `budget`: seconds that bound the number of queries of a slow run.
Batch median(const Run& run, const Scene& s, std::span<const Query> queries, double budget) {
  const double one = batch(run, s, queries.first(1)).nanoseconds * 1e-9;
  const auto affordable = static_cast<std::size_t>(budget / (one * kBatches));
  const std::span<const Query> used = queries.first(std::clamp<std::size_t>(affordable, 1, queries.size()));
  std::vector<Batch> batches;
  batch(run, s, used);
  for (int i = 0; i < kBatches; ++i) batches.push_back(batch(run, s, used));
  std::nth_element(batches.begin(), batches.begin() + kBatches / 2, batches.end(),
                   [](const Batch& a, const Batch& b) { return a.nanoseconds < b.nanoseconds; });
  return batches[kBatches / 2];
}

struct Row {
  std::size_t corners;
  double fast, scan;  // ns
};

// Least squares of fast = a + b log2 n over the rows within [from, to], and the explained share of the variation.
struct Fit {
  double a, b, r_squared;
};

Fit fit(const std::vector<Row>& rows, std::size_t from, std::size_t to) {
  double n = 0.0, sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0, syy = 0.0;
  for (const Row& row : rows) {
    if (row.corners < from || row.corners > to) continue;
    const double x = std::log2(static_cast<double>(row.corners)), y = row.fast;
    n += 1.0, sx += x, sy += y, sxx += x * x, sxy += x * y, syy += y * y;
  }
  const double b = (n * sxy - sx * sy) / (n * sxx - sx * sx), across = (n * syy - sy * sy);
  return {(sy - b * sx) / n, b, across > 0.0 ? b * b * (n * sxx - sx * sx) / across : 1.0};
}

void report(const Subject& subject, const std::vector<Row>& rows, std::ofstream& csv) {
  fmt::print("\n{}\n{:>10} {:>12} {:>14} {:>10} {:>12}\n", subject.name, "corners", "O(log n) ns", "O(n) ns", "times",
             "ns per bit");
  for (const Row& row : rows) {
    fmt::print("{:>10} {:>12.1f} {:>14.1f} {:>10.1f} {:>12.2f}\n", row.corners, row.fast, row.scan, row.scan / row.fast,
               row.fast / std::log2(static_cast<double>(row.corners)));
    if (csv.is_open()) csv << subject.name << ',' << row.corners << ',' << row.fast << ',' << row.scan << '\n';
  }
  const Fit cached = fit(rows, kFitFrom, kFitTo), whole = fit(rows, kFitFrom, rows.back().corners);
  fmt::print("  {} to {} corners: {:.1f} + {:.2f} log2 n ns, R2 {:.3f};  to {}: {:.1f} + {:.2f} log2 n ns, R2 {:.3f}\n",
             kFitFrom, kFitTo, cached.a, cached.b, cached.r_squared, rows.back().corners, whole.a, whole.b,
             whole.r_squared);
}

// Returns a star of random depth, very concave: about half of its corners turn inward.
Zone star(std::size_t corners) {
  std::vector<dvec2> c(corners);
  for (std::size_t i = 0; i < corners; ++i) {
    const double angle = trocar::kFullTurn * static_cast<double>(i) / static_cast<double>(corners);
    c[i] = uniform(0.2, 0.6) * dvec2(std::cos(angle), std::sin(angle));
  }
  return Zone(c, ZoneKind::Forbidden);
}

// Measures microseconds for the tip at any position, for a shaft that stays outside, and for one that enters.
double report_zones(std::span<const Query> queries) {
  fmt::print("\nzone\n{:>10} {:>8} {:>12} {:>22} {:>20}\n", "corners", "pieces", "tip us", "shaft outside us",
             "shaft inside us");
  const Scene none;
  double sum = 0.0;
  for (const std::size_t corners : {8, 16, 32, 64, 128, 256}) {
    const Zone zone = star(corners);
    const Run runs[] = {[&](const Scene&, const Query& q) { return zone.distance(q.p).distance; },
                        [&](const Scene&, const Query& q) {
                          return zone.distance(Segment{q.direction, 2.0 * q.direction + q.p}).distance;
                        },
                        [&](const Scene&, const Query& q) {
                          return zone.distance(Segment{2.0 * q.direction, 0.1 * q.p}).distance;
                        }};
    double microseconds[3];
    for (int k = 0; k < 3; ++k) {
      const Batch found = median(runs[k], none, queries, 1.0);
      microseconds[k] = 1e-3 * found.nanoseconds;
      sum += found.sum;
    }
    fmt::print("{:>10} {:>8} {:>12.2f} {:>22.2f} {:>20.2f}\n", corners, zone.pieces().size(), microseconds[0],
               microseconds[1], microseconds[2]);
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Growth of the planar queries with the number of corners"};
  std::size_t largest = 1'000'000;
  std::string csv_path;
  app.add_option("--largest", largest, "largest number of corners")
      ->check(CLI::Range(std::size_t{1'024}, std::size_t{4'000'000}));
  app.add_option("--csv", csv_path, "also write the table to this file");
  CLI11_PARSE(app, argc, argv);
  std::ofstream csv;
  if (!csv_path.empty()) {
    csv.open(csv_path);
    if (!csv) {
      fmt::print(stderr, "cannot write {}; choose another file\n", csv_path);
      return 2;
    }
    csv << "query,corners,log_ns,scan_ns\n";
  }
  const std::vector<Query> queries = random_queries();
  const std::vector<Subject> all = subjects();
  std::vector<std::vector<Row>> rows(all.size());
  double sum = 0.0;
  for (const std::size_t corners : kSizes) {
    if (corners > largest) break;
    const Scene s = scene(corners);
    for (std::size_t k = 0; k < all.size(); ++k) {
      const Batch fast = median(all[k].fast, s, queries, 1.0), scan = median(all[k].scan, s, queries, kScanSeconds);
      rows[k].push_back({corners, fast.nanoseconds, scan.nanoseconds});
      sum += fast.sum + scan.sum;
    }
  }
  for (std::size_t k = 0; k < all.size(); ++k) report(all[k], rows[k], csv);
  sum += report_zones(queries);
  fmt::print("\nsum of the answers {:.6g}\n", sum);
  return 0;
}
