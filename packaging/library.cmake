# Installs the C++ library:  cmake --install BUILD --component library --prefix PREFIX   (docs/library.md)
# Every component is an export set of its own, so that a program that needs only touch queries looks for GLM and fmt
# only. The headers are those that the headers of packaging/include/trocar/ reach.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(TROCAR_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Trocar)

# trocar_component(NAME MAIN target OTHERS target...): target Trocar::NAME, and Trocar::<target> for the others.
function(trocar_component name)
  cmake_parse_arguments(PART "" "MAIN" "OTHERS" ${ARGN})
  set_target_properties(${PART_MAIN} PROPERTIES EXPORT_NAME ${name})
  install(TARGETS ${PART_MAIN} ${PART_OTHERS} EXPORT Trocar_${name}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
  install(EXPORT Trocar_${name} NAMESPACE Trocar:: FILE Trocar_${name}.cmake DESTINATION ${TROCAR_CMAKE_DIR}
    COMPONENT library)
endfunction()

trocar_component(collision MAIN trocar_cpu_collision OTHERS trocar_flags trocar_geometry trocar_mesh)
trocar_component(gpu_collision MAIN trocar_gpu_collision OTHERS trocar_glad)
trocar_component(tissue MAIN trocar_deform)
# trocar_sim_core adds nothing: it links what a program with sessions, tasks and scores needs.
add_library(trocar_sim_core INTERFACE)
target_link_libraries(trocar_sim_core INTERFACE trocar_sim_task trocar_sim_record)
trocar_component(sim MAIN trocar_sim_core OTHERS trocar_sim_support trocar_sim_scene trocar_sim_device trocar_sim_session
  trocar_sim_score trocar_sim_task trocar_sim_record)

configure_package_config_file(packaging/TrocarConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/TrocarConfig.cmake
  INSTALL_DESTINATION ${TROCAR_CMAKE_DIR})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/TrocarConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/TrocarConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/TrocarConfigVersion.cmake
  DESTINATION ${TROCAR_CMAKE_DIR} COMPONENT library)
install(CODE "set(TROCAR_SOURCE_DIR \"${PROJECT_SOURCE_DIR}\")" COMPONENT library)
install(SCRIPT packaging/install_headers.cmake COMPONENT library)
add_custom_target(trocar_library DEPENDS trocar_sim_task trocar_sim_record trocar_gpu_collision)
