// Remeshes a raw iso-surface isotropically: edges become equally long, the valence is near six, and every vertex lies
// on the field's surface. Based on: Botsch, Kobbelt, "A remeshing approach to multiresolution modeling", SGP 2004
// (split, collapse, flip, relax). We differ: vertices are projected onto the implicit surface instead of the old mesh,
// and the face count is met exactly. Units: millimetres.   Checked in tests/mesh/organ_maker_test.cpp
#pragma once

#include <cstdint>
#include <glm/glm.hpp>
#include <vector>

#include "mesh/organ_shapes.hpp"

namespace trocar {

// Stores a closed manifold triangle surface whose edges can be split, flipped and collapsed in place. Half-edge 3f+i
// runs from corner i of face f to corner i+1. The surface is closed, so every half-edge has a twin.
class EditableSurface {
 public:
  // Throws RunError when an edge does not have exactly two faces in opposite directions.
  explicit EditableSurface(const RawSurface& surface);

  using HalfEdge = std::uint32_t;
  using Vertex = std::uint32_t;

  std::size_t half_edge_count() const { return start_.size(); }   // including removed ones
  std::size_t vertex_count() const { return positions_.size(); }  // including removed ones
  std::size_t face_count() const { return live_faces_; }          // without removed ones

  static HalfEdge next(HalfEdge h) { return h % 3 == 2 ? h - 2 : h + 1; }      // in its face
  static HalfEdge previous(HalfEdge h) { return h % 3 == 0 ? h + 2 : h - 1; }  // in its face
  HalfEdge twin(HalfEdge h) const { return twin_[h]; }           // the opposite half-edge, in the neighbouring face
  Vertex start(HalfEdge h) const { return start_[h]; }           // of one that is alive
  Vertex end(HalfEdge h) const { return start_[next(h)]; }       // likewise
  Vertex apex(HalfEdge h) const { return start_[previous(h)]; }  // the corner of its face opposite to it
  bool alive(HalfEdge h) const { return start_[h] != kDead; }    // no collapse has removed it
  bool vertex_alive(Vertex v) const { return outgoing_[v] != kDead; }   // likewise
  int valence(Vertex v) const { return valence_[v]; }                   // edges at v; 0 when it is removed
  const glm::dvec3& position(Vertex v) const { return positions_[v]; }  // mm; valid until the next split()
  void move(Vertex v, const glm::dvec3& to) { positions_[v] = to; }     // mm
  double length2(HalfEdge h) const;                                     // mm^2
  // Returns the normal of the half-edge's face, with twice the face's area, mm^2, as its length.
  glm::dvec3 face_normal2(HalfEdge h) const;

  // Calls visit(half_edge) for each half-edge that starts at v.
  template <class Visit>
  void around(Vertex v, Visit visit) const {
    HalfEdge h = outgoing_[v];
    do {
      visit(h);
      h = twin_[previous(h)];
    } while (h != outgoing_[v]);
  }

  void split(HalfEdge h, const glm::dvec3& middle);  // new vertex at `middle`, mm; two faces more
  bool flip_allowed(HalfEdge h) const;  // false if it made a second edge between two vertices, or a vertex of valence 2
  void flip(HalfEdge h);                // the edge becomes the other diagonal of its two faces
  bool collapse_allowed(HalfEdge h) const;          // the surface stays a manifold
  void collapse(HalfEdge h, const glm::dvec3& to);  // removes the start vertex, moves the end vertex to `to`

  void drop_dead();        // removes the vertices and faces that collapses deleted
  RawSurface raw() const;  // without removed vertices and faces

 private:
  static constexpr std::uint32_t kDead = ~std::uint32_t{0};
  bool connected(Vertex a, Vertex b) const;
  void pair(HalfEdge a, HalfEdge b) { twin_[a] = b, twin_[b] = a; }
  void link_twins();

  std::vector<glm::dvec3> positions_;   // [vertex] mm
  std::vector<HalfEdge> outgoing_;      // [vertex] one half-edge that starts there
  std::vector<std::uint16_t> valence_;  // [vertex]
  std::vector<Vertex> start_;           // [half-edge]
  std::vector<HalfEdge> twin_;          // [half-edge]
  std::size_t live_faces_ = 0;
};

// Remeshes `raw`. `faces`: target number of triangles, rounded to even. The same input gives the same output, bit for
// bit.
// Throws RunError when `raw` is not a closed oriented manifold.
RawSurface even_remesh(const RawSurface& raw, const SampledField& field, std::size_t faces);

}  // namespace trocar
