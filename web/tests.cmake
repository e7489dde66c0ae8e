# The rooms' own tests, compiled for node, which gives them the real file system. Not here: those of what the browser does
# not have (docs/web.md, Tests).
include(GoogleTest)
set(GOOGLETEST /usr/src/googletest/googletest)
add_library(trocar_web_gtest STATIC ${GOOGLETEST}/src/gtest-all.cc ${GOOGLETEST}/src/gtest_main.cc)
target_include_directories(trocar_web_gtest SYSTEM PUBLIC ${GOOGLETEST}/include PRIVATE ${GOOGLETEST})
target_compile_features(trocar_web_gtest PUBLIC cxx_std_20)

set(TESTS ${PROJECT_SOURCE_DIR}/tests)
add_library(trocar_web_test_support STATIC ${TESTS}/support/glb.cpp ${TESTS}/support/test_data.cpp
  ${TESTS}/support/temporary_folder.cpp ${TESTS}/support/shapes.cpp ${TESTS}/web/kept_organs.cpp)
target_link_libraries(trocar_web_test_support PUBLIC trocar_flags trocar_mesh trocar_web_gtest glm::glm)
target_compile_definitions(trocar_web_test_support PRIVATE TROCAR_SOURCE_DIR="${PROJECT_SOURCE_DIR}")

# trocar_web_test(NAME SOURCES folder/a_test.cpp ... LIBS trocar_geometry ...): sources below tests/.
function(trocar_web_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;LIBS;ARGUMENTS" ${ARGN})
  list(TRANSFORM TEST_SOURCES PREPEND ${TESTS}/)
  add_executable(web_${name} ${TEST_SOURCES})
  target_link_libraries(web_${name} PRIVATE trocar_flags trocar_web_test_support trocar_web_gtest ${TEST_LIBS} glm::glm fmt::fmt)
  target_compile_options(web_${name} PRIVATE -O1)
  target_link_options(web_${name} PRIVATE -O1 -sNODERAWFS=1 --pre-js ${CMAKE_CURRENT_SOURCE_DIR}/node_environment.js -sALLOW_MEMORY_GROWTH=1 -sEXIT_RUNTIME=1)
  add_test(NAME node.${name} COMMAND node --no-experimental-fetch $<TARGET_FILE:web_${name}> ${TEST_ARGUMENTS})
  set_tests_properties(node.${name} PROPERTIES TIMEOUT 1800 ENVIRONMENT "TROCAR_DATA=${PROJECT_SOURCE_DIR}/data;GTEST_COLOR=no")
endfunction()

# The name of a program begins with the room whose tests it contains. Each filter has its reason; docs/web.md counts them.
# Of the three left out here, two take long double functions for the reference, which Emscripten does not compute more
# accurately than those of double; the third asks for the kernels of x86.
trocar_web_test(geometry
  SOURCES geometry/printable_test.cpp geometry/line_triangle_test.cpp geometry/convex_clip_test.cpp
    geometry/tool_volume_test.cpp geometry/tool_input_test.cpp geometry/tool_frame_test.cpp geometry/view_pyramid_test.cpp
    geometry/closest_test.cpp geometry/elementary_test.cpp geometry/refine_test.cpp geometry/refine_forms_test.cpp
    geometry/touch_book_test.cpp geometry/pinned_values_test.cpp
  LIBS trocar_geometry
  ARGUMENTS --gtest_filter=-Elementary.ExponentialLogarithmAndCubeRoot:Elementary.FunctionsOfTwoArguments:Instructions.AreThoseOfTheProcessor)
trocar_web_test(mesh
  SOURCES mesh/shapes_test.cpp mesh/tube_shape_test.cpp mesh/half_edge_test.cpp mesh/mesh_report_test.cpp
    mesh/solid_check_test.cpp mesh/exact_sign_test.cpp mesh/self_crossing_test.cpp mesh/hole_fill_test.cpp
    mesh/repair_test.cpp mesh/shared_meshes_test.cpp
  LIBS trocar_mesh)
# VTP needs VTK: six tests read or write it. The seventh limits the size of files, which is not possible here.
trocar_web_test(mesh_io
  SOURCES mesh/mesh_io_test.cpp mesh/mesh_io_errors_test.cpp mesh/mesh_io_fuzz_test.cpp mesh/mesh_io_gltf_test.cpp
  LIBS trocar_mesh
  ARGUMENTS --gtest_filter=-MeshIo.EveryTextFormatLoadsWithEveryLineEndAndByteOrderMark:MeshIo.DegenerateFacesKeepTheirNumber:MeshIo.TheLocaleDoesNotMatter:MeshIo.SavedMeshesLoadUnchanged:MeshIoErrors.Vtp:MeshIoErrors.UnwritablePaths:MeshIoErrors.SavingOnAFullDisk)
trocar_web_test(cpu_collision_scan
  SOURCES cpu_collision/scan_test.cpp cpu_collision/scan_layout_test.cpp cpu_collision/scan_kernels_test.cpp
    cpu_collision/scan_cost_test.cpp cpu_collision/scan_allocation_test.cpp
  LIBS trocar_cpu_collision)
trocar_web_test(cpu_collision_parts
  SOURCES cpu_collision/reference_test.cpp cpu_collision/part_motion_test.cpp cpu_collision/hull_distance_test.cpp
    cpu_collision/part_volume_test.cpp cpu_collision/part_touch_test.cpp cpu_collision/part_hull_test.cpp
    cpu_collision/change_faces_test.cpp
  LIBS trocar_cpu_collision)
# The order in which a heap yields equal entries is that of the library.
trocar_web_test(cpu_collision_trees
  SOURCES cpu_collision/obb_eigen_test.cpp cpu_collision/obb_tree_test.cpp cpu_collision/convex_tool_test.cpp
    cpu_collision/motion_crossing_test.cpp cpu_collision/convex_tool_tight_test.cpp cpu_collision/tree_split_test.cpp
    cpu_collision/motion_crossing_filters_test.cpp cpu_collision/meshes_meet_test.cpp cpu_collision/tree_cost_test.cpp
    cpu_collision/broad_phase_box_test.cpp cpu_collision/broad_phase_sweep_test.cpp cpu_collision/broad_phase_cost_test.cpp
  LIBS trocar_cpu_collision Eigen3::Eigen
  ARGUMENTS --gtest_filter=-MotionCrossingFilters.SearchesGiveThePinnedMeetings)
trocar_web_test(cpu_collision_solids
  SOURCES cpu_collision/solids_convex_hull_test.cpp cpu_collision/solids_convex_pieces_test.cpp
    cpu_collision/solids_values_test.cpp
    cpu_collision/solids_search_test.cpp cpu_collision/solids_exact_edge_test.cpp
    cpu_collision/solids_point_in_solid_test.cpp cpu_collision/solids_piece_faces_test.cpp
    cpu_collision/solids_tip_depth_test.cpp support/allocation_counter.cpp
  LIBS trocar_cpu_collision)
# There are no threads.
trocar_web_test(deform_tissue
  SOURCES deform/lattice_report_test.cpp deform/lattice_test.cpp deform/tissue_test.cpp deform/elastic_forces_test.cpp
    deform/unfold_test.cpp deform/elasticity_test.cpp deform/beam_test.cpp deform/matrix_test.cpp deform/specimen_test.cpp
    deform/tissue_stress_test.cpp deform/tissue_organs_test.cpp deform/damage_test.cpp deform/grasp_test.cpp
    deform/organs_step_test.cpp deform/stability_test.cpp deform/implicit_reference_test.cpp
    deform/liver_reference_test.cpp
  LIBS trocar_deform
  ARGUMENTS --gtest_filter=-OrganStepper.*)
trocar_web_test(deform_contacts
  SOURCES deform/contact_test.cpp deform/contact_motion_test.cpp deform/contact_press_test.cpp
    deform/contact_thinning_test.cpp deform/part_contact_test.cpp deform/pressing_tool_test.cpp
    deform/organ_contact_organs_test.cpp deform/organ_contact_test.cpp deform/organ_pairs_test.cpp
    deform/rest_distance_test.cpp deform/fluid_film_test.cpp support/allocation_counter.cpp
  LIBS trocar_deform trocar_cpu_collision)
trocar_web_test(deform_sculpt
  SOURCES deform/sculpt_test.cpp deform/sculpt_seams_test.cpp deform/sculpt_voxels_test.cpp deform/sculpt_loft_test.cpp
    deform/sear_test.cpp deform/skin_shreds_test.cpp deform/polygon_fill_test.cpp deform/slit_test.cpp
    deform/sculpt_organs_test.cpp deform/slit_organs_test.cpp support/allocation_counter.cpp
  LIBS trocar_deform)
trocar_web_test(deform_bonds
  SOURCES deform/bleeding_test.cpp deform/bond_stability_test.cpp deform/bonds_end_test.cpp deform/bonds_test.cpp
    deform/clip_test.cpp deform/energy_test.cpp deform/hanging_test.cpp
  LIBS trocar_deform Eigen3::Eigen
  ARGUMENTS --gtest_filter=-Bonds.ThreadCountDoesNotChangeTheBits)
# The stub of a haptic device needs a thread, except for one test.
trocar_web_test(sim_devices
  SOURCES sim/joints_test.cpp sim/tool_shape_test.cpp sim/grip_ratchet_test.cpp sim/hand_device_test.cpp
    sim/tick_clock_test.cpp sim/contact_model_definition_test.cpp sim/contact_model_test.cpp sim/device_guard_test.cpp
    sim/device_guard_way_test.cpp sim/gamepad_device_test.cpp sim/haptic_chain_test.cpp sim/haptic_hand_test.cpp
    sim/haptic_stub_test.cpp sim/replay_device_test.cpp sim/script_device_test.cpp sim/tip_force_test.cpp
    sim/trajectory_test.cpp
  LIBS trocar_sim_session
  ARGUMENTS --gtest_filter=-HapticStub.FeelsAWallBetweenFrames:HapticStub.FeelsTheLatestFrameAndZeroAfterAStall:HapticStub.TicksAThousandTimesASecond)
trocar_web_test(sim_scenes
  SOURCES sim/level_test.cpp sim/scene_bonds_test.cpp sim/scene_test.cpp sim/scene_writer_test.cpp sim/scope_test.cpp
    sim/task_reader_test.cpp
  LIBS trocar_sim_task)
trocar_web_test(sim_score
  SOURCES sim/metrics_by_hand_test.cpp sim/motion_test.cpp sim/noise_test.cpp sim/shares_test.cpp
    sim/smoothness_test.cpp sim/track_test.cpp
  LIBS trocar_sim_score)
trocar_web_test(sim_course
  SOURCES sim/course_progress_test.cpp sim/curriculum_test.cpp sim/expert_thresholds_test.cpp sim/learning_curve_test.cpp
  LIBS trocar_sim_course trocar_sim_task)
# Left out are a test of threads, one of an organ of 30,000 faces, and one of the process's memory, which grows by what node
# compiles.
trocar_web_test(sim_session
  SOURCES sim/blade_cut_test.cpp sim/cpu_backends_test.cpp sim/diathermy_test.cpp sim/encounters_test.cpp
    sim/jaw_hold_test.cpp sim/jaw_press_test.cpp sim/reference_sample_test.cpp sim/saved_session_test.cpp
    sim/session_health_test.cpp sim/session_test.cpp sim/session_tissue_test.cpp sim/instrument_body_test.cpp
    sim/sight_watch_test.cpp sim/tip_watch_test.cpp sim/tip_slip_test.cpp support/allocation_counter.cpp
  LIBS trocar_sim_task
  ARGUMENTS --gtest_filter=-TissueScene.GoldenRunWithOneThreadAndTwo:SightWatch.TakesLittleTime:BallScene.TenThousandFramesLeakNothing)
trocar_web_test(sim_bonds
  SOURCES sim/anatomy_test.cpp sim/scene_tissue_test.cpp sim/session_bleeding_test.cpp sim/session_bonds_test.cpp
    sim/session_clips_test.cpp sim/session_film_test.cpp sim/tube_organ_test.cpp support/allocation_counter.cpp
  LIBS trocar_sim_task)
trocar_web_test(sim_task
  SOURCES sim/burn_watch_test.cpp sim/clip_and_cut_test.cpp sim/duct_line_test.cpp sim/duct_points_test.cpp
    sim/clip_movement_test.cpp sim/grade_text_test.cpp sim/hand_movement_test.cpp sim/operation_scene_test.cpp sim/operation_test.cpp
    sim/task_parts_test.cpp sim/task_run_test.cpp sim/task_scenes_test.cpp sim/tremor_watch_test.cpp
    support/allocation_counter.cpp
  LIBS trocar_sim_task nlohmann_json::nlohmann_json)
trocar_web_test(sim_performers SOURCES sim/one_fault_test.cpp sim/performer_test.cpp LIBS trocar_sim_task)
trocar_web_test(sim_inputs
  SOURCES sim/attempt_file_test.cpp sim/base64_test.cpp sim/input_rerun_test.cpp sim/activity_test.cpp
  LIBS trocar_sim_inputs nlohmann_json::nlohmann_json)
trocar_web_test(same_bits
  SOURCES same_bits/rooms_test.cpp web/performed_bits_test.cpp ../app/compare/frame_source.cpp
  LIBS trocar_sim_task)

# The session of bench/session_frames.cpp under node.
add_executable(web_session_frames ${PROJECT_SOURCE_DIR}/bench/session_frames.cpp)
target_link_libraries(web_session_frames PRIVATE trocar_flags trocar_sim_task trocar_cpu_collision glm::glm fmt::fmt)
target_link_options(web_session_frames PRIVATE -O3 -sNODERAWFS=1 --pre-js ${CMAKE_CURRENT_SOURCE_DIR}/node_environment.js
  -sALLOW_MEMORY_GROWTH=1 -sINITIAL_MEMORY=134217728 -sEXIT_RUNTIME=1)
