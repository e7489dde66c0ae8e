#include "sim/device/contact_model.hpp"

#include <algorithm>
#include <cmath>

#include "geometry/elementary.hpp"

namespace trocar {
namespace {

bool finite(const glm::dvec3& p) { return std::isfinite(p.x + p.y + p.z); }

bool in_contact(const ContactModel& model) { return model.normal != glm::dvec3(0.0); }

// Returns the factor of the force at this age: 1 during the hold, 0 after the fade.
double freshness(const ContactModelParams& params, const ContactModel& model, double age) {
  const double end = hold_time(params, model) + params.fade;
  if (!(age < end)) return 0.0;
  return params.fade > 0.0 ? std::min(1.0, (end - age) / params.fade) : 1.0;
}

// Returns T after an interval of `since`. A gap longer than any hold is a stall or the start and leaves T unchanged.
double interval_after(const ContactModelParams& params, const ContactModel& model, double since) {
  if (!(since >= 0.0) || since > params.hold_intervals * params.longest_interval) return model.interval;
  const double remembered = model.interval * elementary::exp(-since / params.interval_memory);
  return std::clamp(std::max(since, remembered), params.shortest_interval, params.longest_interval);
}

glm::dvec3 plane_force(const ContactModelParams& params, const ContactModel& model, const glm::dvec3& tip) {
  const double pressed = model.pressure + model.stiffness * glm::dot(model.tip - tip, model.normal);
  return std::clamp(pressed, 0.0, params.largest_force) * model.normal;
}

glm::dvec3 limited(const glm::dvec3& force, double largest) {
  const double strength = glm::length(force);
  return strength > largest ? largest / strength * force : force;
}

// Adds one pair of frames to the fit of the stiffness.
void fit_stiffness(const ContactModelParams& params, const ContactModel& before, ContactModel& now) {
  if (in_contact(before) && in_contact(now)) {
    const double deeper = glm::dot(before.tip - now.tip, now.normal);
    const double stronger = now.pressure - before.pressure * glm::dot(before.normal, now.normal);
    now.force_depth = params.forgetting * before.force_depth + stronger * deeper;
    now.depth_depth = params.forgetting * before.depth_depth + deeper * deeper;
  }
  const double prior = params.trusted_motion * params.trusted_motion;
  now.stiffness = std::clamp((now.force_depth + prior * params.start_stiffness) / (now.depth_depth + prior),
                             params.least_stiffness, params.greatest_stiffness);
}

}  // namespace

double hold_time(const ContactModelParams& params, const ContactModel& model) {
  return std::max(params.shortest_hold, params.hold_intervals * model.interval);
}

glm::dvec3 felt_force(const ContactModelParams& params, const ContactModel& model, const glm::dvec3& tip, double now) {
  const double age = std::max(now - model.time, 0.0), fresh = freshness(params, model, age);
  if (!finite(tip) || !(fresh > 0.0)) return glm::dvec3(0.0);
  const double unblended = std::max(0.0, 1.0 - age / model.interval);
  glm::dvec3 force = plane_force(params, model, tip) + unblended * model.offset;
  force -= std::min(glm::dot(force, model.normal), 0.0) * model.normal;
  return fresh * limited(force, params.largest_force);
}

ContactModel updated(const ContactModelParams& params, const ContactModel& model, const Felt& felt,
                     const glm::dvec3& tip, double now) {
  ContactModel next = model;
  const glm::dvec3 force(felt.force);
  const double pressure = glm::length(force);
  const bool usable = std::isfinite(pressure) && finite(felt.tip) && pressure > params.weakest_force;
  next.pressure = usable ? pressure : 0.0;
  next.normal = usable ? force / pressure : glm::dvec3(0.0);
  if (usable) next.tip = felt.tip;
  fit_stiffness(params, model, next);
  const glm::dvec3 position = finite(tip) ? tip : next.tip;
  next.offset = felt_force(params, model, position, now) - plane_force(params, next, position);
  next.time = now;
  next.interval = interval_after(params, model, now - model.time);
  return next;
}

}  // namespace trocar
