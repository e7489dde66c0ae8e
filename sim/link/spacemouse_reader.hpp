// Declares the connection to spacenavd, the daemon that reads SpaceMice.
#pragma once

#include <memory>

#include "sim/device/hand_device.hpp"

namespace trocar {

// Receives events from spacenavd. libspnav has one connection per process, so only one reader can exist at a time.
class SpaceMouseReader {
 public:
  // Connects. Throws InputError when the daemon does not answer, or a reader exists already.
  SpaceMouseReader();
  ~SpaceMouseReader();
  // Returns the latest state. Never waits for the daemon.
  SpaceMouseState state() const;

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

// Returns true when spacenavd answers, or when a reader exists: libspnav cannot open a second connection to test it.
bool spacenavd_answers();

}  // namespace trocar
