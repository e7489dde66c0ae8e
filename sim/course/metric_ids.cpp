#include "sim/course/metric_ids.hpp"

#include <algorithm>

namespace trocar {
namespace {

constexpr std::string_view kTaskIds[] = {"task_bad_clips",
                                         "task_beside",
                                         "task_bile",
                                         "task_blood",
                                         "task_burn_depth",
                                         "task_burnt",
                                         "task_burnt_beside",
                                         "task_clips",
                                         "task_cut_miss",
                                         "task_detour",
                                         "task_deviation",
                                         "task_drops",
                                         "task_energy_in_air",
                                         "task_errors",
                                         "task_grasps",
                                         "task_grasps_beside",
                                         "task_highest",
                                         "task_lost",
                                         "task_lost_contact",
                                         "task_offset",
                                         "task_other_cuts",
                                         "task_overload_time",
                                         "task_overshoot",
                                         "task_peak_force",
                                         "task_tears",
                                         "task_time",
                                         "task_too_near",
                                         "task_torn",
                                         "task_tremor",
                                         "task_view_detour",
                                         "task_worst_deviation",
                                         "task_wrong",
                                         "task_zone_depth",
                                         "task_zone_entries",
                                         "task_zone_time"};

constexpr std::string_view kSessionIds[] = {"angular_path",
                                            "bimanual_correlation",
                                            "collision_time",
                                            "collisions",
                                            "depth",
                                            "duration",
                                            "economy",
                                            "faces_burnt",
                                            "faces_torn",
                                            "force_integral",
                                            "force_time",
                                            "frozen_time",
                                            "idle",
                                            "inside_time",
                                            "ldlj",
                                            "ldlj_movement",
                                            "log_jerk",
                                            "mean_speed",
                                            "mean_squared_jerk",
                                            "movements",
                                            "noise",
                                            "out_of_view_count",
                                            "out_of_view_time",
                                            "path_inefficiency",
                                            "path_length",
                                            "peak_force",
                                            "peak_pressure",
                                            "peak_speed",
                                            "pressure_time",
                                            "roll_path",
                                            "sparc",
                                            "sparc_movement",
                                            "volume",
                                            "zone_count",
                                            "zone_time"};

}  // namespace

std::span<const std::string_view> task_metric_ids() { return kTaskIds; }
std::span<const std::string_view> session_metric_ids() { return kSessionIds; }

bool is_metric_id(std::string_view id) {
  return std::ranges::count(kTaskIds, id) > 0 || std::ranges::count(kSessionIds, id) > 0;
}

}  // namespace trocar
