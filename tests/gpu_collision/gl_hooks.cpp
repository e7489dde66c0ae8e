#include "tests/gpu_collision/gl_hooks.hpp"

#include <glad/gl.h>

#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>

namespace trocar {
namespace {

void ignore(void*, const char*, GLADapiproc, int, ...) {}

}  // namespace

GlHooks::GlHooks(GlHook before) {
  gladSetGLPreCallback(before);
  gladSetGLPostCallback(ignore);
  gladInstallGLDebug();
  // The loader also wraps functions that the context lacks: code that asks whether they are there must see that.
  if (glad_glGetGraphicsResetStatus == nullptr) glad_debug_glGetGraphicsResetStatus = nullptr;
  if (glad_glGetStringi == nullptr) glad_debug_glGetStringi = nullptr;
}

GlHooks::~GlHooks() { gladUninstallGLDebug(); }

namespace {

std::set<std::pair<std::string, std::string>>* collected = nullptr;

const char* stage_of(GLuint shader) {
  GLint type = 0;
  glad_glGetShaderiv(shader, GL_SHADER_TYPE, &type);
  return type == GL_COMPUTE_SHADER    ? "comp"
         : type == GL_VERTEX_SHADER   ? "vert"
         : type == GL_GEOMETRY_SHADER ? "geom"
                                      : "frag";
}

}  // namespace

ShaderSources::ShaderSources() { collected = &sources; }
ShaderSources::~ShaderSources() { collected = nullptr; }

std::string ShaderSources::complaints(const std::filesystem::path& folder) const {
  std::string text;
  int number = 0;
  for (const auto& [stage, source] : sources) {
    const auto file = folder / ("shader" + std::to_string(number++) + "." + stage), output = folder / "output";
    std::ofstream(file) << source;
    // The compiler prints the file's name, and an "ERROR:" or "WARNING:" for every finding.
    const int status = std::system(("glslangValidator " + file.string() + " > " + output.string() + " 2>&1").c_str());
    std::ifstream in(output);
    const std::string said{std::istreambuf_iterator<char>(in), {}};
    if (status != 0 || said.find("WARNING:") != said.npos) text += said;
  }
  return text;
}

void ShaderSources::collect(const char* name, void (*)(), int count, ...) {
  if (std::string(name) != "glShaderSource") return;
  std::va_list arguments;
  va_start(arguments, count);
  const auto shader = va_arg(arguments, GLuint);
  const auto parts = va_arg(arguments, GLsizei);
  const auto* texts = va_arg(arguments, const GLchar* const*);
  const auto* lengths = va_arg(arguments, const GLint*);
  va_end(arguments);
  std::string source;
  for (GLsizei k = 0; k < parts; ++k)
    source += lengths && lengths[k] >= 0 ? std::string(texts[k], static_cast<std::size_t>(lengths[k])) : texts[k];
  collected->emplace(stage_of(shader), std::move(source));
}

namespace {

GlFault fault_now;
GLuint faces_now = 0, tools_now = 0;
int pending_errors = 0;
bool pending_reset = false;
std::map<GLuint, std::byte*> mappings;  // of every buffer
std::byte* read_back_now = nullptr;     // the answer of the last call
std::size_t records_at = 0;             // offset of its records
GLuint* selection_now = nullptr;

// Layout of compute's answer: see gpu_collision/compute.cpp.
constexpr std::size_t kCountAt = 0;
constexpr GLuint kFarTooMany = 4'000'000'000u;

void put(std::size_t at, GLuint value) { std::memcpy(read_back_now + at, &value, sizeof value); }

}  // namespace

struct InjectedFault::Saved {
  PFNGLCLIENTWAITSYNCPROC client_wait_sync = glad_debug_glClientWaitSync;
  PFNGLFENCESYNCPROC fence_sync = glad_debug_glFenceSync;
  PFNGLMAPNAMEDBUFFERRANGEPROC map_buffer_range = glad_debug_glMapNamedBufferRange;
  PFNGLBUFFERDATAPROC buffer_data = glad_debug_glBufferData;
  PFNGLBINDBUFFERSRANGEPROC bind_buffers_range = glad_debug_glBindBuffersRange;
  PFNGLNAMEDBUFFERDATAPROC named_data = glad_debug_glNamedBufferData;
  PFNGLNAMEDBUFFERSTORAGEPROC named_storage = glad_debug_glNamedBufferStorage;
  PFNGLGETERRORPROC get_error = glad_debug_glGetError;
  PFNGLGETGRAPHICSRESETSTATUSPROC reset_status = glad_debug_glGetGraphicsResetStatus;
  PFNGLDISPATCHCOMPUTEPROC dispatch_compute = glad_debug_glDispatchCompute;
  PFNGLENDQUERYPROC end_query = glad_debug_glEndQuery;
  PFNGLGETBUFFERSUBDATAPROC get_buffer_sub_data = glad_debug_glGetBufferSubData;
  PFNGLGETQUERYOBJECTUIVPROC get_query = glad_debug_glGetQueryObjectuiv;
  PFNGLRENDERMODEPROC render_mode = glad_debug_glRenderMode;
  PFNGLSELECTBUFFERPROC select_buffer = glad_debug_glSelectBuffer;
  PFNGLGETINTEGER64VPROC get_integer64 = glad_debug_glGetInteger64v;
  PFNGLGETINTEGERVPROC get_integer = glad_debug_glGetIntegerv;

  void restore() const {
    glad_debug_glClientWaitSync = client_wait_sync;
    glad_debug_glFenceSync = fence_sync;
    glad_debug_glMapNamedBufferRange = map_buffer_range;
    glad_debug_glBufferData = buffer_data;
    glad_debug_glBindBuffersRange = bind_buffers_range;
    glad_debug_glNamedBufferData = named_data;
    glad_debug_glNamedBufferStorage = named_storage;
    glad_debug_glGetError = get_error;
    glad_debug_glGetGraphicsResetStatus = reset_status;
    glad_debug_glDispatchCompute = dispatch_compute;
    glad_debug_glEndQuery = end_query;
    glad_debug_glGetBufferSubData = get_buffer_sub_data;
    glad_debug_glGetQueryObjectuiv = get_query;
    glad_debug_glRenderMode = render_mode;
    glad_debug_glSelectBuffer = select_buffer;
    glad_debug_glGetInteger64v = get_integer64;
    glad_debug_glGetIntegerv = get_integer;
  }
};

namespace {

InjectedFault::Saved* real = nullptr;

GLenum GLAD_API_PTR wait_sync(GLsync sync, GLbitfield flags, GLuint64 timeout) {
  if (fault_now == GlFault::FenceFails) return GL_WAIT_FAILED;
  if (fault_now == GlFault::FenceTimesOut) return GL_TIMEOUT_EXPIRED;
  const GLenum state = real->client_wait_sync(sync, flags, timeout);
  if (!read_back_now || state == GL_TIMEOUT_EXPIRED) return state;
  GLuint count = 0;
  std::memcpy(&count, read_back_now + kCountAt, sizeof count);
  if (count == 0) return state;
  if (fault_now == GlFault::FaceThatIsNot) put(records_at, faces_now);
  if (fault_now == GlFault::ToolThatIsNot) put(records_at + 4, tools_now);
  if (fault_now == GlFault::TooManyHits) put(kCountAt, kFarTooMany);
  return state;
}

GLsync GLAD_API_PTR no_fence(GLenum, GLbitfield) { return nullptr; }

void* GLAD_API_PTR map_range(GLuint buffer, GLintptr offset, GLsizeiptr length, GLbitfield access) {
  if (fault_now == GlFault::NoMapping) return nullptr;
  void* data = real->map_buffer_range(buffer, offset, length, access);
  mappings[buffer] = static_cast<std::byte*>(data);
  return data;
}

// `compute` binds its answer as the first of four blocks, its records as the last.
void GLAD_API_PTR bind_ranges(GLenum target, GLuint first, GLsizei count, const GLuint* buffers,
                              const GLintptr* offsets, const GLsizeiptr* sizes) {
  read_back_now = mappings[buffers[0]];
  records_at = static_cast<std::size_t>(offsets[count - 1]);
  real->bind_buffers_range(target, first, count, buffers, offsets, sizes);
}

void GLAD_API_PTR no_named_data(GLuint, GLsizeiptr, const void*, GLenum) { pending_errors = 1; }
void GLAD_API_PTR no_named_storage(GLuint, GLsizeiptr, const void*, GLbitfield) { pending_errors = 1; }
void GLAD_API_PTR no_data(GLenum, GLsizeiptr, const void*, GLenum) { pending_errors = 1; }

GLenum GLAD_API_PTR get_error() {
  if (fault_now == GlFault::ContextLostError) return GL_CONTEXT_LOST;
  const GLenum error = real->get_error();
  if (pending_errors == 0 || error != GL_NO_ERROR) return error;
  --pending_errors;
  return fault_now == GlFault::OutOfMemory ? GL_OUT_OF_MEMORY : GL_INVALID_OPERATION;
}

GLenum GLAD_API_PTR reset_status() {
  if (!pending_reset) return GL_NO_ERROR;
  pending_reset = false;
  return GL_UNKNOWN_CONTEXT_RESET;
}

void GLAD_API_PTR no_dispatch(GLuint x, GLuint y, GLuint z) {
  if (fault_now == GlFault::DispatchSkipped) return;
  pending_errors = 1;
  real->dispatch_compute(x, y, z);
}

void GLAD_API_PTR refused_end(GLenum target) {
  pending_errors = 1;
  real->end_query(target);
}

void GLAD_API_PTR sub_data(GLenum target, GLintptr offset, GLsizeiptr size, void* data) {
  real->get_buffer_sub_data(target, offset, size, data);
  auto* words = static_cast<GLuint*>(data);
  if (fault_now == GlFault::FaceThatIsNot) words[0] = faces_now * 4;  // as occlusion encodes face and tool
  if (fault_now == GlFault::ToolThatIsNot) words[0] = tools_now;
}

void GLAD_API_PTR query_result(GLuint id, GLenum what, GLuint* value) {
  real->get_query(id, what, value);
  if (fault_now == GlFault::NoCount && what == GL_QUERY_RESULT_AVAILABLE) *value = 0;
  if (fault_now == GlFault::TooManyHits && what == GL_QUERY_RESULT) *value = kFarTooMany;
}

void GLAD_API_PTR select_buffer(GLsizei size, GLuint* buffer) {
  selection_now = buffer;
  real->select_buffer(size, buffer);
}

GLint GLAD_API_PTR render_mode(GLenum mode) {
  const GLint hits = real->render_mode(mode);
  if (fault_now == GlFault::CommandRefused) pending_errors = 1;
  if (mode != GL_RENDER || hits <= 0 || !selection_now) return hits;
  if (fault_now == GlFault::FaceThatIsNot) selection_now[4] = faces_now;
  if (fault_now == GlFault::ToolThatIsNot) selection_now[3] = tools_now;
  return fault_now == GlFault::TooManyHits ? 1 << 30 : hits;
}

void GLAD_API_PTR get_integer64(GLenum name, GLint64* values) {
  real->get_integer64(name, values);
  if (name == GL_MAX_SHADER_STORAGE_BLOCK_SIZE) values[0] = 8192;
}

void GLAD_API_PTR get_integer(GLenum name, GLint* values) {
  real->get_integer(name, values);
  if (name == GL_MAX_TEXTURE_BUFFER_SIZE) values[0] = 1000;
}

}  // namespace

InjectedFault::InjectedFault(GlFault fault, unsigned faces, unsigned tools) : saved_(std::make_unique<Saved>()) {
  real = saved_.get();
  fault_now = fault;
  faces_now = faces;
  tools_now = tools;
  pending_errors = 0;
  pending_reset = fault == GlFault::ContextLost;
  read_back_now = nullptr;
  mappings.clear();
  selection_now = nullptr;
  glad_debug_glClientWaitSync = wait_sync;
  glad_debug_glMapNamedBufferRange = map_range;
  glad_debug_glBindBuffersRange = bind_ranges;
  glad_debug_glGetError = get_error;
  glad_debug_glGetGraphicsResetStatus = reset_status;
  glad_debug_glGetBufferSubData = sub_data;
  glad_debug_glGetQueryObjectuiv = query_result;
  glad_debug_glRenderMode = render_mode;
  glad_debug_glSelectBuffer = select_buffer;
  if (fault == GlFault::NoFence) glad_debug_glFenceSync = no_fence;
  if (fault == GlFault::OutOfMemory) {
    glad_debug_glBufferData = no_data;
    glad_debug_glNamedBufferData = no_named_data;
    glad_debug_glNamedBufferStorage = no_named_storage;
  }
  if (fault == GlFault::DispatchSkipped || fault == GlFault::CommandRefused) glad_debug_glDispatchCompute = no_dispatch;
  if (fault == GlFault::CommandRefused) glad_debug_glEndQuery = refused_end;
  if (fault == GlFault::SmallStorageBlock) glad_debug_glGetInteger64v = get_integer64;
  if (fault == GlFault::SmallTextureBuffer) glad_debug_glGetIntegerv = get_integer;
}

InjectedFault::~InjectedFault() {
  saved_->restore();
  real = nullptr;
}

}  // namespace trocar
