# Finds fmt for the browser: its headers only.
include(TrocarHeaders)
trocar_header_library(fmt::fmt fmt)
set_property(TARGET fmt::fmt PROPERTY INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY)
set(fmt_FOUND TRUE)
