# Finds glm for the browser.
include(TrocarHeaders)
trocar_header_library(glm::glm glm)
set(glm_FOUND TRUE)
