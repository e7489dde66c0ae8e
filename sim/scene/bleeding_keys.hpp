// Declares the keys of an organ that bleeds or spills, and of suction, like scene_keys.hpp.   Tested in
// tests/house/scene_keys_test.cpp
#pragma once

#include <type_traits>

#include "sim/scene/scene.hpp"
#include "sim/scene/task_keys.hpp"

namespace trocar {

template <typename Keys>
void declare(Keys& keys, std::type_identity<VesselParams>) {
  keys.number({"rate_ml_min", "ml/min", "flow from the open end at first"}, &VesselParams::rate_ml_min, {0.001, 1e4});
  keys.number({"half_time_s", "s", "the flow halves in this time, because blood clots; 0: it does not"},
              &VesselParams::half_time, {0.0, 1e5});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<VesselScene>) {
  keys.choice({"supplied_from", "", "the end of `path_mm` from which the blood comes"}, &VesselScene::supplied_from,
              kTubeSides);
  keys.part(&VesselScene::flow);
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<BloodParams>) {
  keys.number({"rate_ml_min_cm2", "ml/min", "flow at first from each cm^2 that was cut or torn"},
              &BloodParams::rate_ml_min_cm2, {0.001, 1e4});
  keys.number({"half_time_s", "s", "the flow halves in this time, because blood clots; 0: it does not"},
              &BloodParams::half_time, {0.0, 1e5});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<BileParams>) {
  keys.number({"volume_ml", "ml", "content of the organ"}, &BileParams::volume_ml, {0.001, 1e4});
  keys.number({"rate_ml_min", "ml/min", "flow from each perforation until the organ is empty"},
              &BileParams::rate_ml_min, {0.001, 1e4});
  keys.scaled({"wall_mm", "mm", "thickness of the wall; a deeper burn, cut or tear perforates it"}, &BileParams::wall,
              {0.01, 50.0});
}

template <typename Keys>
void declare(Keys& keys, std::type_identity<SuctionParams>) {
  keys.number({"suck_ml_min", "ml/min", "removed from the fluid near the tip"}, &SuctionParams::suck_ml_min,
              {0.0, 1e5});
  keys.number({"rinse_ml_min", "ml/min", "water on the tissue at the tip"}, &SuctionParams::rinse_ml_min, {0.0, 1e5});
  keys.scaled({"reach_mm", "mm", "fluid within this distance of the tip is removed"}, &SuctionParams::reach,
              {0.1, 100.0});
}

}  // namespace trocar
