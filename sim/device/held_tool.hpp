// Returns what a hand-held device holds, from a scene.   Tested in tests/sim/make_device_test.cpp
#pragma once

#include "sim/device/hand_device.hpp"
#include "sim/scene/scene.hpp"

namespace trocar {

HeldTool held_tool(const InstrumentScene& instrument);
HeldTool held_tool(const ScopeScene& scope);

}  // namespace trocar
