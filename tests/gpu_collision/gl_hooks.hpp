// Installs a hook that sees every OpenGL call before it is made, through the loader. One object at a time.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace trocar {

// name of the function, the function, number of its arguments, the arguments
using GlHook = void (*)(const char* name, void (*function)(), int count, ...);

class GlHooks {
 public:
  explicit GlHooks(GlHook before);
  ~GlHooks();
  GlHooks(const GlHooks&) = delete;
  GlHooks& operator=(const GlHooks&) = delete;
};

// Counts OpenGL calls through the loader's hooks. One object at a time.

// Counts the calls of its lifetime by name.
class CallCount {
 public:
  CallCount() { counts_ = &by_name; }
  ~CallCount() { counts_ = nullptr; }
  CallCount(const CallCount&) = delete;
  CallCount& operator=(const CallCount&) = delete;

  // A driver may be asked many times whether it has finished: that is one wait.
  int total() const {
    int sum = 0;
    for (const auto& [name, count] : by_name) sum += name == "glClientWaitSync" ? 1 : count;
    return sum;
  }
  // Calls that read state, without the two that report errors and a lost context.
  int reads() const {
    int sum = 0;
    for (const auto& [name, count] : by_name)
      if (name.starts_with("glGet") && name != "glGetError" && name != "glGetGraphicsResetStatus") sum += count;
    return sum;
  }

  std::map<std::string, int> by_name;

 private:
  static void count_call(const char* name, void (*)(), int, ...) { ++(*counts_)[name]; }

  static inline std::map<std::string, int>* counts_ = nullptr;
  GlHooks hooks_{count_call};
};

// Collects the sources of all shaders that are compiled during its lifetime, and checks them with glslangValidator, the
// reference compiler of Khronos: drivers differ in what they accept. One object at a time.

class ShaderSources {
 public:
  ShaderSources();
  ~ShaderSources();
  ShaderSources(const ShaderSources&) = delete;
  ShaderSources& operator=(const ShaderSources&) = delete;

  // Returns what the compiler says about the sources, written to `folder`; empty when it accepts all without a warning.
  std::string complaints(const std::filesystem::path& folder) const;

  std::set<std::pair<std::string, std::string>> sources;  // stage as a file name's ending, text

 private:
  static void collect(const char* name, void (*function)(), int count, ...);

  GlHooks hooks_{collect};
};

// Injects faults of an OpenGL driver by replacing entries in glad's table of entry points. A fault lasts as long as the
// InjectedFault object.

enum class GlFault {
  FenceFails,         // glClientWaitSync returns GL_WAIT_FAILED
  FenceTimesOut,      // ... returns GL_TIMEOUT_EXPIRED
  NoFence,            // glFenceSync returns none
  NoMapping,          // glMapNamedBufferRange returns none
  OutOfMemory,        // functions that give a buffer storage do nothing and leave GL_OUT_OF_MEMORY
  CommandRefused,     // glEndQuery, glDispatchCompute and glRenderMode leave GL_INVALID_OPERATION
  ContextLost,        // glGetGraphicsResetStatus reports it, once
  ContextLostError,   // glGetError always returns GL_CONTEXT_LOST
  DispatchSkipped,    // glDispatchCompute does nothing: the buffer still holds the previous answer
  FaceThatIsNot,      // one record read back names the face after the last
  ToolThatIsNot,      // ... the tool after the last
  TooManyHits,        // an impossibly large count (four billion; 2^30 for GL_SELECT)
  NoCount,            // an occlusion query whose result never arrives
  SmallStorageBlock,  // GL_MAX_SHADER_STORAGE_BLOCK_SIZE is 8 KiB
  SmallTextureBuffer  // GL_MAX_TEXTURE_BUFFER_SIZE is 1000 texels
};

// Restores the entry points in its destructor.
class InjectedFault {
 public:
  // Numbers of faces and tools of the query: the first indices that do not exist.
  explicit InjectedFault(GlFault fault, unsigned faces = 0, unsigned tools = 0);
  ~InjectedFault();
  InjectedFault(const InjectedFault&) = delete;
  InjectedFault& operator=(const InjectedFault&) = delete;

  struct Saved;

 private:
  std::unique_ptr<Saved> saved_;
};

}  // namespace trocar
