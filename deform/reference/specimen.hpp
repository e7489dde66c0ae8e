// The material-testing machine: a specimen of tissue between two plates, held at its ends, or under a ball, at rest.
// The axis of the machine is z of the specimen; the lower plate is at its lower end. Plates and ball act on the
// vertices of the surface, each with the area of its share of the faces, as elastic foundations of kFoundation times
// Young's modulus over the node spacing: a plate that presses with Young's modulus lets the surface sink by a
// thousandth of a cell.
//
// Slip: plates push the surface and exert no friction. Stick: vertices of the two end faces also keep their positions
// on the plate; the side of the specimen that folds onto a plate slips. Clamp: end faces are glued to the plates.
// Plane: they stay in the plane of the plate and their mean keeps its position, but they may contract, as beam theory
// assumes.
//
// Newton's method finds the minimum of the energy in double (the reference), and with its curvature the balance of the
// forces that the real-time step computes (add_elastic_forces). Neither depends on damping, mass or a time step.
//
// Units: metres, newtons, radians.   Tested in tests/deform/elasticity_test.cpp
#pragma once

#include <glm/glm.hpp>
#include <span>
#include <string>
#include <vector>

#include "deform/solid/tissue.hpp"
#include "mesh/triangle_mesh.hpp"

namespace trocar {

constexpr double kFoundation = 1000.0;  // 1

// Makes meshes around the z axis with the lower end at z = 0 and edges of at most `edge` on their faces.
TriangleMesh make_cylinder(double diameter, double height, double edge);
TriangleMesh make_block(const glm::dvec3& size, double edge);

// A point where plates and ball act: a vertex of the surface.
struct SpecimenPoint {
  Embedding at;
  double area;        // m^2
  glm::dvec3 rest;    // m, in the axes of the specimen
  bool lower, upper;  // on an end face
};

struct Specimen {
  glm::dmat3 turn;  // the specimen's axes in the lattice
  double height;    // m
  TissueModel model;
  std::vector<SpecimenPoint> points;
};

// `mesh`: in the axes of the specimen, upwards along z; its lower end becomes z = 0. `turn`: a rotation. Throws the
// InputErrors of make_tissue, and one for a mesh without faces at its ends.
Specimen make_specimen(TriangleMesh mesh, const TissueParams& params, const glm::dmat3& turn);

enum class Grip { Free, Slip, Stick, Clamp, Plane };

// What the machine does.
struct SpecimenLoad {
  Grip lower = Grip::Slip, upper = Grip::Slip;
  double press = 0.0;        // m    downward motion of the upper plate, or of the ball from first touch; negative: pull
  double twist = 0.0;        // rad  rotation of the upper plate about the axis
  double ball_radius = 0.0;  // m    0: no ball
  glm::dvec3 gravity{0.0};   // m/s^2, in the axes of the specimen
};

// Force and torque of the specimen on the upper plate or the ball, along the axis.
struct SpecimenForce {
  double push = 0.0;    // N
  double torque = 0.0;  // N m, against the twist
};

struct SpecimenAnswer {
  SpecimenForce step, reference;  // by the forces of the step, by the energy
  std::vector<glm::dvec3> moved;  // [node] m, displacement in the axes of the specimen, by the forces of the step
  glm::dvec3 end{0.0}, reference_end{0.0};  // m, mean displacement of the upper end face
  double flattest = 1.0;                    // 1, smallest corner volume of a cell with tissue over that at rest
  int iterations = 0;
  std::string fault;  // empty: balanced
};

// Solves one load after another, each from the previous solution.
class SpecimenSolver {
 public:
  explicit SpecimenSolver(const Specimen& specimen);
  // `with_step`: also by the forces of the step.
  SpecimenAnswer solve(const SpecimenLoad& load, bool with_step = true);

 private:
  void guess(const SpecimenLoad& load);

  const Specimen& specimen_;
  std::vector<glm::dvec3> x_;  // [node] m, the last solution
  SpecimenLoad last_;
};

// Returns the force, N, of a rigid ball without friction at a depth in a soft layer of this height that is glued to a
// rigid base: Hertz's half-space, with the factor of Dimitriadis, Horkay, Maresca, Kachar, Chadwick, "Determination of
// elastic moduli of thin layers of soft material using the atomic force microscope", Biophys. J. 82, 2002. m, Pa.
double hertz_on_layer(double modulus, double poisson, double radius, double depth, double height);

// Finds Young's modulus and the stiffenings of the law `rising` with which a specimen reproduces a measured curve.
// Forces are proportional to Young's modulus for given stiffenings, so the modulus follows from a linear fit (variable
// projection: Golub, Pereyra, SIAM J. Numer. Anal. 10, 1973); the two stiffenings from Gauss and Newton's method with
// difference quotients. An error counts relative to 10 % of the measured force or its standard deviation, whichever is
// larger. Poisson's ratio is given: a pressing test hardly shows it.

struct CurvePoint {
  double strain = 0.0;  // 1, displacement over the height of the specimen, > 0
  double force = 0.0;   // N
  double spread = 0.0;  // N, standard deviation; 0: not known
};

// How a curve is measured. Its strains become loads: `load` with `press` = sign times strain times height.
struct CurveTest {
  TriangleMesh mesh;  // in the axes of the specimen
  glm::dmat3 turn{1.0};
  SpecimenLoad load;
  double sign = 1.0;  // -1: pull
};

// Returns the force at each strain, ascending, by the energy. Throws RunError where no balance is found.
std::vector<double> curve_of(const CurveTest& test, const TissueParams& params, std::span<const CurvePoint> points);

// Returns the tolerance of a measured force, N: 10 % or the standard deviation, whichever is larger.
double tolerance_of(const CurvePoint& point);

// Returns `params` with the fitted modulus and stiffenings, and the law `rising`.
TissueParams fit_curve(const CurveTest& test, TissueParams params, std::span<const CurvePoint> points);

}  // namespace trocar
