# Debian packages by CPack:  cpack --config BUILD/CPackConfig.cmake   (./run deb OUT)
#   trocar           the program, its data, manual page and completion
#   python3-trocar   the Python module
#   libtrocar-dev    the C++ library
#   trocar-mpi       trocar-sweep-mpi, where it is built
include(GNUInstallDirs)
install(TARGETS trocar RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(DIRECTORY data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/trocar/data COMPONENT program)
install(FILES LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/trocar COMPONENT program)
foreach(page "--manual|trocar.1|man/man1" "--completion|trocar|bash-completion/completions")
  string(REPLACE "|" ";" page "${page}")
  list(GET page 0 option)
  list(GET page 1 name)
  list(GET page 2 folder)
  install(CODE "execute_process(COMMAND $<TARGET_FILE:trocar> ${option} OUTPUT_FILE ${CMAKE_BINARY_DIR}/${name}.page COMMAND_ERROR_IS_FATAL ANY)"
    COMPONENT program)
  install(FILES ${CMAKE_BINARY_DIR}/${name}.page DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} RENAME ${name} COMPONENT program)
endforeach()
if(TARGET trocar_python)
  install(DIRECTORY ${TROCAR_PYTHON_PACKAGE} DESTINATION lib/python3/dist-packages COMPONENT python
    PATTERN __pycache__ EXCLUDE)
endif()
if(TARGET trocar-sweep-mpi)
  install(TARGETS trocar-sweep-mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT mpi)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program python library)
if(TARGET trocar-sweep-mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
endif()
set(CPACK_PACKAGE_CONTACT "The authors of Trocar")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME trocar)
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "Laparoscopic surgery simulator with collision queries on the GPU
 Deformable organs, tasks with scores, recordings and reports, and tools to
 compare collision detectors.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "libgl1-mesa-dri, libegl1, fonts-dejavu-core, ffmpeg")
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-trocar)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_DESCRIPTION "Touch queries, tissue and surgical sessions in Python
 The module trocar, with tasks as environments for reinforcement learning.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.11), python3 (<< 3.12), python3-numpy")
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "libgl1-mesa-dri, libegl1")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libtrocar-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "Touch queries, tissue and surgical sessions in C++
 Static libraries, headers and the CMake package Trocar.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "libglm-dev, libfmt-dev, g++")
set(CPACK_DEBIAN_MPI_PACKAGE_NAME trocar-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "trocar (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_MPI_PACKAGE_RECOMMENDS "openmpi-bin")
set(CPACK_DEBIAN_MPI_DESCRIPTION "Sweeps of Trocar on several machines
 trocar-sweep-mpi runs the cases of a sweep under mpirun.")
include(CPack)
