in vec2 uv;
uniform sampler2D picture;
out vec4 result;
void main() { result = texture(picture, uv); }
