# Builds the web part of the report: npm installs three.js and esbuild (pinned in app/report/web/package-lock.json).
# esbuild bundles our modules, unminified, into one script, and the parts of three.js that we use into another; the
# generated web_files.cpp embeds both in the program.

find_program(TROCAR_NPM npm)
if(NOT TROCAR_NPM)
  message(FATAL_ERROR "npm is not on the PATH, but the report's pages are built with it; install the packages nodejs and npm, or use ./run, which installs them")
endif()

# trocar_npm_ci(FOLDER): installs FOLDER/node_modules from its package-lock.json.
function(trocar_npm_ci folder)
  add_custom_command(OUTPUT ${folder}/node_modules/.package-lock.json
    COMMAND ${TROCAR_NPM} ci --include=dev --ignore-scripts --no-audit --no-fund --loglevel=error
    COMMAND ${CMAKE_COMMAND} -E touch ${folder}/node_modules/.package-lock.json
    DEPENDS ${folder}/package.json ${folder}/package-lock.json
    WORKING_DIRECTORY ${folder}
    COMMENT "npm ci in ${folder}" VERBATIM)
endfunction()

# trocar_report_web(SOURCES_VARIABLE): sets the variable to the files to compile into the program.
function(trocar_report_web sources)
  set(web ${CMAKE_CURRENT_SOURCE_DIR}/report/web)
  set(installed ${web}/node_modules/.package-lock.json)
  set(script ${CMAKE_CURRENT_BINARY_DIR}/report_script.js)
  set(viewer ${CMAKE_CURRENT_BINARY_DIR}/report_viewer.js)
  set(esbuild ${web}/node_modules/.bin/esbuild)
  trocar_npm_ci(${web})
  file(GLOB modules CONFIGURE_DEPENDS ${web}/*.js)
  add_custom_command(OUTPUT ${script}
    COMMAND ${esbuild} ${web}/main.js --bundle --format=iife --target=es2022 --charset=utf8 --log-level=warning --outfile=${script}
    DEPENDS ${installed} ${modules} VERBATIM)
  add_custom_command(OUTPUT ${viewer}
    COMMAND ${esbuild} ${web}/viewer.js --bundle --minify --format=iife --global-name=ThreeViewer --target=es2022
      --legal-comments=none --log-level=warning --outfile=${viewer}
    DEPENDS ${installed} ${web}/viewer.js VERBATIM)
  configure_file(report/web_files.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/web_files.cpp @ONLY)
  set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/web_files.cpp PROPERTIES
    OBJECT_DEPENDS "${script};${viewer};${web}/page.html;${web}/style.css")
  set(${sources} ${CMAKE_CURRENT_BINARY_DIR}/web_files.cpp PARENT_SCOPE)
endfunction()
