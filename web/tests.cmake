# The rooms' own tests, compiled for node, which gives them the real file system. Not here: those of what the browser does
# not have (docs/web.md).
include(GoogleTest)
set(GOOGLETEST /usr/src/googletest/googletest)
add_library(trocar_web_gtest STATIC ${GOOGLETEST}/src/gtest-all.cc ${GOOGLETEST}/src/gtest_main.cc)
target_include_directories(trocar_web_gtest SYSTEM PUBLIC ${GOOGLETEST}/include PRIVATE ${GOOGLETEST})
target_compile_features(trocar_web_gtest PUBLIC cxx_std_20)

set(TESTS ${PROJECT_SOURCE_DIR}/tests)
add_library(trocar_web_test_support STATIC ${TESTS}/support/glb.cpp ${TESTS}/support/test_data.cpp
  ${TESTS}/support/temporary_folder.cpp ${TESTS}/support/shapes.cpp)
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
  set_tests_properties(node.${name} PROPERTIES TIMEOUT 1800 ENVIRONMENT "TROCAR_DATA=${PROJECT_SOURCE_DIR}/data")
endfunction()

# Emscripten's long double functions are no more accurate than those of double: they are no reference for ours, whose
# golden hash is tested.
set(NO_REFERENCE --gtest_filter=-Elementary.ExponentialLogarithmAndCubeRoot:Elementary.FunctionsOfTwoArguments)
trocar_web_test(same_bits
  SOURCES same_bits/rooms_test.cpp geometry/elementary_test.cpp ../app/compare/frame_source.cpp ../app/compare/random_motion.cpp
  LIBS trocar_deform trocar_cpu_collision trocar_sim_device
  ARGUMENTS ${NO_REFERENCE})
trocar_web_test(geometry
  SOURCES geometry/printable_test.cpp geometry/line_triangle_test.cpp geometry/convex_clip_test.cpp
    geometry/tool_volume_test.cpp geometry/tool_input_test.cpp geometry/tool_frame_test.cpp geometry/view_pyramid_test.cpp
    geometry/closest_test.cpp
  LIBS trocar_geometry
  ARGUMENTS --gtest_filter=-ClosestTriangles.AreProvedBySeparatingSlabs)  # counts for the random numbers of libstdc++
trocar_web_test(refine SOURCES geometry/refine_test.cpp geometry/touch_book_test.cpp geometry/pinned_values_test.cpp
  LIBS trocar_geometry
  # The pinned values are those for the random numbers of libstdc++; the other asks for the kernels of x86.
  ARGUMENTS --gtest_filter=-PinnedValues.*:Instructions.AreThoseOfTheProcessor)
trocar_web_test(mesh
  SOURCES mesh/tube_shape_test.cpp mesh/half_edge_test.cpp mesh/mesh_report_test.cpp mesh/solid_check_test.cpp
  LIBS trocar_mesh)
trocar_web_test(collision
  SOURCES cpu_collision/reference_test.cpp cpu_collision/part_volume_test.cpp cpu_collision/scan_layout_test.cpp
    cpu_collision/change_faces_test.cpp
  LIBS trocar_cpu_collision)
trocar_web_test(deform SOURCES deform/lattice_report_test.cpp deform/lattice_test.cpp deform/matrix_test.cpp LIBS trocar_deform)
trocar_web_test(devices
  SOURCES sim/joints_test.cpp sim/tool_shape_test.cpp sim/grip_ratchet_test.cpp sim/hand_device_test.cpp sim/tick_clock_test.cpp
  LIBS trocar_sim_session)
trocar_web_test(course
  SOURCES sim/course_progress_test.cpp sim/curriculum_test.cpp sim/learning_curve_test.cpp
  LIBS trocar_sim_course trocar_sim_task)

# The session of bench/session_frames.cpp under node.
add_executable(web_session_frames ${PROJECT_SOURCE_DIR}/bench/session_frames.cpp)
target_link_libraries(web_session_frames PRIVATE trocar_flags trocar_sim_task trocar_cpu_collision glm::glm fmt::fmt)
target_link_options(web_session_frames PRIVATE -O3 -sNODERAWFS=1 --pre-js ${CMAKE_CURRENT_SOURCE_DIR}/node_environment.js
  -sALLOW_MEMORY_GROWTH=1 -sINITIAL_MEMORY=134217728 -sEXIT_RUNTIME=1)
