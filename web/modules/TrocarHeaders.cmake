# Makes targets of libraries that consist of headers only, from the machine's own packages, for a compiler that must not
# see its other headers: each is linked into one folder of the build.
set(TROCAR_WEB_HEADERS ${CMAKE_BINARY_DIR}/headers)
file(MAKE_DIRECTORY ${TROCAR_WEB_HEADERS})

# trocar_header_library(TARGET path ...): paths below /usr/include.
function(trocar_header_library target)
  foreach(path IN LISTS ARGN)
    if(NOT EXISTS /usr/include/${path})
      message(FATAL_ERROR "/usr/include/${path} is missing: install the packages of packages.txt and packages-web.txt")
    endif()
    get_filename_component(name ${path} NAME)
    file(CREATE_LINK /usr/include/${path} ${TROCAR_WEB_HEADERS}/${name} SYMBOLIC)
  endforeach()
  if(NOT TARGET ${target})
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${target} SYSTEM INTERFACE ${TROCAR_WEB_HEADERS})
  endif()
endfunction()
