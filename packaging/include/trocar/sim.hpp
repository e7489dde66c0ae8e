// Sessions without a window: scenes, devices, frames with touched faces and forces, tasks, scores. Target Trocar::sim.
// Guide: docs/library.md.   Units: metres, seconds, newtons.
#pragma once

#include "geometry/error.hpp"
#include "sim/device/trajectory.hpp"
#include "sim/record/session_recorder.hpp"
#include "sim/scene/scene.hpp"
#include "sim/score/motion.hpp"
#include "sim/session/cpu_backends.hpp"
#include "sim/session/session.hpp"
#include "sim/task/session_observer.hpp"
#include "sim/task/task_run.hpp"
