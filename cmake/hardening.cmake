# What every program and module that we build or install is hardened with, for files and messages from others: stack
# protector, checked copies (FORTIFY), position-independent programs, relocations that are read-only after the start, and
# no executable stack. No ELF file names a folder in which the loader looks for libraries: the one of the build folder
# would end with an empty element, which is the current folder, because CMake appends a separator to a search path that it
# replaces at installation. Include this file before the first target.   Tested by tests/check/elf_scan.py
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)

add_link_options(LINKER:-z,relro,-z,now,-z,noexecstack)
# A program is linked as position-independent whatever the compiler's default. Libraries and modules are anyway.
add_compile_options($<$<NOT:$<BOOL:$<TARGET_PROPERTY:POSITION_INDEPENDENT_CODE>>>:-fPIE>)
add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie>)

add_compile_options(-fstack-protector-strong)
# The checked copies need optimisation, and hide from the sanitizers what those check. "SHELL:": a target that compiles
# unoptimised adds -U_FORTIFY_SOURCE, which must not count as the same option.
if(NOT TROCAR_SANITIZE AND (CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$" OR CMAKE_CXX_FLAGS MATCHES "-O[123s]"))
  add_compile_options("SHELL:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2")
endif()
