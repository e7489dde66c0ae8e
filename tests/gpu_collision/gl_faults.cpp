#include "tests/gpu_collision/gl_faults.hpp"

#include <glad/gl.h>

#include <cstring>

namespace trocar {
namespace {

GlFault fault_now;
GLuint faces_now = 0, tools_now = 0;
int pending_errors = 0;
bool pending_reset = false;
std::byte* read_back_now = nullptr;  // the mapping for reading only
GLuint* selection_now = nullptr;

// Layout of compute's answer: see gpu_collision/compute_query.cpp.
constexpr std::size_t kCountAt = 12, kFaceAt = 24, kToolAt = 28;
constexpr GLuint kFarTooMany = 4'000'000'000u;

void put(std::size_t at, GLuint value) { std::memcpy(read_back_now + at, &value, sizeof value); }

}  // namespace

struct InjectedFault::Saved {
  PFNGLCLIENTWAITSYNCPROC client_wait_sync = glad_glClientWaitSync;
  PFNGLFENCESYNCPROC fence_sync = glad_glFenceSync;
  PFNGLMAPBUFFERRANGEPROC map_buffer_range = glad_glMapBufferRange;
  PFNGLBUFFERDATAPROC buffer_data = glad_glBufferData;
  PFNGLBUFFERSTORAGEPROC buffer_storage = glad_glBufferStorage;
  PFNGLGETERRORPROC get_error = glad_glGetError;
  PFNGLGETGRAPHICSRESETSTATUSPROC reset_status = glad_glGetGraphicsResetStatus;
  PFNGLDISPATCHCOMPUTEPROC dispatch_compute = glad_glDispatchCompute;
  PFNGLENDQUERYPROC end_query = glad_glEndQuery;
  PFNGLGETBUFFERSUBDATAPROC get_buffer_sub_data = glad_glGetBufferSubData;
  PFNGLGETQUERYOBJECTUIVPROC get_query = glad_glGetQueryObjectuiv;
  PFNGLRENDERMODEPROC render_mode = glad_glRenderMode;
  PFNGLSELECTBUFFERPROC select_buffer = glad_glSelectBuffer;
  PFNGLGETINTEGER64VPROC get_integer64 = glad_glGetInteger64v;
  PFNGLGETINTEGERVPROC get_integer = glad_glGetIntegerv;
  PFNGLGETSTRINGIPROC get_string = glad_glGetStringi;

  void restore() const {
    glad_glClientWaitSync = client_wait_sync;
    glad_glFenceSync = fence_sync;
    glad_glMapBufferRange = map_buffer_range;
    glad_glBufferData = buffer_data;
    glad_glBufferStorage = buffer_storage;
    glad_glGetError = get_error;
    glad_glGetGraphicsResetStatus = reset_status;
    glad_glDispatchCompute = dispatch_compute;
    glad_glEndQuery = end_query;
    glad_glGetBufferSubData = get_buffer_sub_data;
    glad_glGetQueryObjectuiv = get_query;
    glad_glRenderMode = render_mode;
    glad_glSelectBuffer = select_buffer;
    glad_glGetInteger64v = get_integer64;
    glad_glGetIntegerv = get_integer;
    glad_glGetStringi = get_string;
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
  if (fault_now == GlFault::FaceThatIsNot) put(kFaceAt, faces_now);
  if (fault_now == GlFault::ToolThatIsNot) put(kToolAt, tools_now);
  if (fault_now == GlFault::TooManyHits) put(kCountAt, kFarTooMany);
  return state;
}

GLsync GLAD_API_PTR no_fence(GLenum, GLbitfield) { return nullptr; }

void* GLAD_API_PTR map_range(GLenum target, GLintptr offset, GLsizeiptr length, GLbitfield access) {
  if (fault_now == GlFault::NoMapping) return nullptr;
  void* data = real->map_buffer_range(target, offset, length, access);
  if ((access & GL_MAP_WRITE_BIT) == 0) read_back_now = static_cast<std::byte*>(data);
  return data;
}

void GLAD_API_PTR no_data(GLenum, GLsizeiptr, const void*, GLenum) { pending_errors = 1; }
void GLAD_API_PTR no_storage(GLenum, GLsizeiptr, const void*, GLbitfield) { pending_errors = 1; }

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

const GLubyte* GLAD_API_PTR no_string(GLenum, GLuint) { return reinterpret_cast<const GLubyte*>(""); }

}  // namespace

InjectedFault::InjectedFault(GlFault fault, unsigned faces, unsigned tools) : saved_(std::make_unique<Saved>()) {
  real = saved_.get();
  fault_now = fault;
  faces_now = faces;
  tools_now = tools;
  pending_errors = 0;
  pending_reset = fault == GlFault::ContextLost;
  read_back_now = nullptr;
  selection_now = nullptr;
  glad_glClientWaitSync = wait_sync;
  glad_glMapBufferRange = map_range;
  glad_glGetError = get_error;
  glad_glGetGraphicsResetStatus = reset_status;
  glad_glGetBufferSubData = sub_data;
  glad_glGetQueryObjectuiv = query_result;
  glad_glRenderMode = render_mode;
  glad_glSelectBuffer = select_buffer;
  if (fault == GlFault::NoFence) glad_glFenceSync = no_fence;
  if (fault == GlFault::OutOfMemory) glad_glBufferData = no_data, glad_glBufferStorage = no_storage;
  if (fault == GlFault::DispatchSkipped || fault == GlFault::CommandRefused) glad_glDispatchCompute = no_dispatch;
  if (fault == GlFault::CommandRefused) glad_glEndQuery = refused_end;
  if (fault == GlFault::SmallStorageBlock) glad_glGetInteger64v = get_integer64;
  if (fault == GlFault::SmallTextureBuffer) glad_glGetIntegerv = get_integer;
  if (fault == GlFault::NoExtensions) glad_glGetStringi = no_string;
}

InjectedFault::~InjectedFault() {
  saved_->restore();
  real = nullptr;
}

}  // namespace trocar
