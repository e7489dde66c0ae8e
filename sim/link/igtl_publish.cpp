#include "sim/link/igtl_publish.hpp"

namespace trocar {

IgtlPublisher::IgtlPublisher(const Scene& scene, const IgtlServerParams& params) : server_(params) {
  for (const InstrumentScene& instrument : scene.instruments) {
    const glm::dvec3 axis = instrument.axis == glm::dvec3(0.0) ? instrument.tip - instrument.pivot : instrument.axis;
    centres_.push_back(remote_centre(instrument.pivot, axis));
    tools_.push_back({instrument.name, glm::dmat4(1.0), glm::vec3(0.f), 0});
  }
}

void IgtlPublisher::publish(const Session& session) {
  for (std::size_t k = 0; k < tools_.size(); ++k) {
    const Instrument& instrument = session.instruments()[k];
    centres_[k].pivot = instrument.pose.pivot;
    const DevicePose pose{instrument.pose.pivot, instrument.pose.tip, instrument.roll_deg, instrument.grip};
    tools_[k].pose = matrix_of(centres_[k], joints_of(centres_[k], instrument.limits, pose));
    tools_[k].force = instrument.force;
    tools_[k].torque = instrument.torque;
    tools_[k].touched = 0;
    for (const Organ& organ : session.organs())
      tools_[k].touched += static_cast<std::uint32_t>(organ.touches.of_tool(k).size());
  }
  server_.publish(tools_);
}

}  // namespace trocar
