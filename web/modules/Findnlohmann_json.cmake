# Finds nlohmann_json for the browser.
include(TrocarHeaders)
trocar_header_library(nlohmann_json::nlohmann_json nlohmann)
set(nlohmann_json_FOUND TRUE)
