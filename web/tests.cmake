# The rooms' own tests, compiled for node, which gives them the real file system. Not here: those of what the browser does
# not have (docs/web.md, Tests).
include(GoogleTest)
set(GOOGLETEST /usr/src/googletest/googletest)
add_library(trocar_web_gtest STATIC ${GOOGLETEST}/src/gtest-all.cc ${GOOGLETEST}/src/gtest_main.cc)
target_include_directories(trocar_web_gtest SYSTEM PUBLIC ${GOOGLETEST}/include PRIVATE ${GOOGLETEST})
target_compile_features(trocar_web_gtest PUBLIC cxx_std_20)

set(TESTS ${PROJECT_SOURCE_DIR}/tests)
add_library(trocar_web_test_support STATIC ${TESTS}/support/files.cpp ${TESTS}/support/shapes.cpp
  ${TESTS}/web/kept_organs.cpp)
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
  SOURCES geometry/elementary_test.cpp geometry/refine_test.cpp geometry/tool_volume_test.cpp
  LIBS trocar_geometry
  ARGUMENTS --gtest_filter=-Elementary.ExponentialLogarithmAndCubeRoot:Elementary.FunctionsOfTwoArguments:Instructions.AreThoseOfTheProcessor)
trocar_web_test(mesh
  SOURCES mesh/fat_shape_test.cpp mesh/mesh_report_test.cpp
  LIBS trocar_mesh)
# VTP needs VTK: six tests read or write it. The seventh limits the size of files, which is not possible here.
trocar_web_test(mesh_io
  SOURCES mesh/mesh_io_test.cpp
  LIBS trocar_mesh
  ARGUMENTS --gtest_filter=-MeshIo.EveryTextFormatLoadsWithEveryLineEndAndByteOrderMark:MeshIo.DegenerateFacesKeepTheirNumber:MeshIo.TheLocaleDoesNotMatter:MeshIo.SavedMeshesLoadUnchanged:MeshIoErrors.Vtp:MeshIoErrors.UnwritablePaths:MeshIoErrors.SavingOnAFullDisk)
trocar_web_test(cpu_collision_scan
  SOURCES cpu_collision/scan_test.cpp cpu_collision/scan_allocation_test.cpp
  LIBS trocar_cpu_collision)
# The order in which a heap yields equal entries is that of the library.
trocar_web_test(cpu_collision
  SOURCES cpu_collision/broad_phase_test.cpp cpu_collision/convex_test.cpp cpu_collision/part_test.cpp
    cpu_collision/point_in_solid_test.cpp cpu_collision/tree_test.cpp support/allocation_counter.cpp
  LIBS trocar_cpu_collision Eigen3::Eigen
  ARGUMENTS --gtest_filter=-MotionCrossingFilters.SearchesGiveThePinnedMeetings)
# There are no threads.
trocar_web_test(deform_tissue
  SOURCES deform/tissue_test.cpp deform/elasticity_test.cpp
  LIBS trocar_deform)
trocar_web_test(deform_contacts
  SOURCES deform/contact_test.cpp deform/dent_test.cpp deform/surface_dents_test.cpp
    deform/organ_contact_test.cpp deform/fluid_test.cpp support/allocation_counter.cpp
  LIBS trocar_deform trocar_cpu_collision
  ARGUMENTS --gtest_filter=-OrganStepper.*)
trocar_web_test(deform_sculpt
  SOURCES deform/sculpt_test.cpp support/allocation_counter.cpp
  LIBS trocar_deform)
trocar_web_test(deform_bonds
  SOURCES deform/bonds_test.cpp
  LIBS trocar_deform Eigen3::Eigen
  ARGUMENTS --gtest_filter=-Bonds.ThreadCountDoesNotChangeTheBits)
# The stub of a haptic device needs a thread, except for one test.
trocar_web_test(sim_devices
  SOURCES sim/device/joints_test.cpp sim/device/tool_shape_test.cpp sim/device/hand_device_test.cpp sim/session/tick_clock_test.cpp
    sim/device/haptics_test.cpp sim/device/device_guard_test.cpp sim/device/script_device_test.cpp sim/device/trajectory_test.cpp
  LIBS trocar_sim_session
  ARGUMENTS --gtest_filter=-HapticStub.FeelsAWallBetweenFrames:HapticStub.FeelsTheLatestFrameAndZeroAfterAStall:HapticStub.TicksAThousandTimesASecond)
trocar_web_test(sim_scenes
  SOURCES sim/scene/scene_writer_test.cpp sim/scene/scene_test.cpp   sim/scene/scope_test.cpp
    
  LIBS trocar_sim_task)
trocar_web_test(sim_score
  SOURCES sim/score/motion_test.cpp
  LIBS trocar_sim_score)
trocar_web_test(sim_course
  SOURCES sim/task/course_progress_test.cpp
  LIBS trocar_sim_course trocar_sim_task)
# Left out are a test of threads, one of an organ of 30,000 faces, and one of the process's memory, which grows by what node
# compiles.
trocar_web_test(sim_session
  SOURCES sim/session/cutting_test.cpp sim/session/session_test.cpp sim/session/near_pairs_test.cpp sim/session/session_tissue_test.cpp
    sim/session/reference_sample_test.cpp sim/session/saved_session_test.cpp sim/device/instrument_body_test.cpp sim/session/sight_watch_test.cpp
    support/allocation_counter.cpp
  LIBS trocar_sim_task
  ARGUMENTS --gtest_filter=-TissueScene.GoldenRunWithOneThreadAndTwo:SightWatch.TakesLittleTime:BallScene.TenThousandFramesLeakNothing)
trocar_web_test(sim_bonds
  SOURCES sim/scene/anatomy_test.cpp sim/session/session_bonds_test.cpp sim/session/session_bleeding_test.cpp sim/session/session_clips_test.cpp
    support/allocation_counter.cpp
  LIBS trocar_sim_task)
trocar_web_test(sim_task
  SOURCES sim/task/task_run_test.cpp support/allocation_counter.cpp
  LIBS trocar_sim_task nlohmann_json::nlohmann_json)
trocar_web_test(sim_performers SOURCES sim/task/performer_test.cpp sim/session/session_loop_test.cpp LIBS trocar_sim_loop)
trocar_web_test(sim_inputs
  SOURCES sim/recording/attempt_file_test.cpp
  LIBS trocar_sim_inputs nlohmann_json::nlohmann_json)
trocar_web_test(same_bits
  SOURCES same_bits/rooms_test.cpp web/performed_bits_test.cpp ../app/compare/frame_source.cpp
  LIBS trocar_sim_loop)

# The session of bench/session_frames.cpp under node.
add_executable(web_session_frames ${PROJECT_SOURCE_DIR}/bench/session_frames.cpp)
target_link_libraries(web_session_frames PRIVATE trocar_flags trocar_sim_loop trocar_cpu_collision glm::glm fmt::fmt)
target_link_options(web_session_frames PRIVATE -O3 -sNODERAWFS=1 --pre-js ${CMAKE_CURRENT_SOURCE_DIR}/node_environment.js
  -sALLOW_MEMORY_GROWTH=1 -sINITIAL_MEMORY=134217728 -sEXIT_RUNTIME=1)
