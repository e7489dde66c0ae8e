// Gives the tests the environment variables of node, which Emscripten does not pass on.
Module['preRun'] = [() => Object.assign(ENV, process.env)];
