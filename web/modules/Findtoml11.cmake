# Finds toml11 for the browser.
include(TrocarHeaders)
trocar_header_library(toml11::toml11 toml.hpp toml)
set(toml11_FOUND TRUE)
