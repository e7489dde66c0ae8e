// Computes elementary functions with the same bits on every machine, compiler and C library. A session's state, a touch
// query and a score use these instead of the C library's, whose last bits depend on its version and on the processor.
// The code uses only IEEE + - x / and square roots, and functions that are exact by definition (floor, frexp, ldexp,
// fmod, remainder). Methods: range reduction and polynomials as in Muller, "Elementary Functions: Algorithms and
// Implementation", 3rd ed. 2016; Cody, Waite, "Software Manual for the Elementary Functions", 1980; Payne, Hanek,
// "Radian reduction for trigonometric functions", SIGNUM 18, 1983. We differ: Taylor coefficients, and double-double
// arithmetic (exact_sign.hpp) where a double would lose the last bit.
// Largest error found, in units in the last place of the result: sin, cos, tan 0.9; exp, pow 0.7; all others 0.51;
// where the result is a subnormal number, 1. Special values as in C, Annex F. Units: radians.   Tested in
// tests/geometry/elementary_test.cpp
#pragma once

namespace trocar::elementary {

// Each returns what the function of this name in C returns.
double sin(double x);              // x: rad
double cos(double x);              // x: rad
double tan(double x);              // x: rad
double asin(double x);             // rad, -pi/2 .. pi/2
double acos(double x);             // rad, 0 .. pi
double atan(double x);             // rad, -pi/2 .. pi/2
double atan2(double y, double x);  // rad, -pi .. pi, from the x axis to the point (x, y)
double exp(double x);
double log(double x);  // natural
double pow(double x, double y);
double cbrt(double x);
double hypot(double x, double y);  // in the unit of x and y

}  // namespace trocar::elementary
