# trocar_embed_shaders(TEMPLATE): embeds every file of the folder shaders/ as a string in the source that is made from
# TEMPLATE.in, whose @SHADER_TABLE@ compares the name of a file with `file`. The next configure finds new files.
function(trocar_embed_shaders template)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/shaders/*)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  set(SHADER_TABLE "")
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME)
    file(READ ${file} text)
    string(APPEND SHADER_TABLE "  if (file == \"${name}\") return R\"glsl(${text})glsl\";\n")
  endforeach()
  configure_file(${template}.in ${CMAKE_CURRENT_BINARY_DIR}/${template} @ONLY)
endfunction()
