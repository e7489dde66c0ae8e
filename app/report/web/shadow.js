// Computes the silhouette of the organs projected onto a plane, pixel by pixel. Filling tens of thousands of small
// triangles with the canvas API takes minutes with software rendering.

// Returns twice the signed area of a, b and the point.
function side(a, b, x, y) {
  return (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
}

/** Sets the pixels of `inside` whose centre lies in the triangle a, b, c (pixels, either orientation). */
export function fillTriangle(inside, columns, rows, a, b, c) {
  const least = (axis) => Math.max(0, Math.floor(Math.min(a[axis], b[axis], c[axis]) - 0.5));
  const most = (axis, limit) => Math.min(limit - 1, Math.ceil(Math.max(a[axis], b[axis], c[axis])));
  for (let row = least(1); row <= most(1, rows); ++row) {
    for (let column = least(0); column <= most(0, columns); ++column) {
      const [x, y] = [column + 0.5, row + 0.5];
      const [u, v, w] = [side(a, b, x, y), side(b, c, x, y), side(c, a, x, y)];
      if ((u >= 0 && v >= 0 && w >= 0) || (u <= 0 && v <= 0 && w <= 0)) inside[row * columns + column] = 1;
    }
  }
}

/** [row][column] 1 where a projected organ covers the pixel. `mapping` maps millimetres to pixels. */
export function shadowOf(organs, view, mapping, columns, rows) {
  const inside = new Uint8Array(columns * rows);
  for (const { vertices, faces } of organs.filter((organ) => organ.vertices)) {
    const corner = (k) => [mapping.x(vertices[3 * faces[k] + view.right]), mapping.y(vertices[3 * faces[k] + view.up])];
    for (let k = 0; k < faces.length; k += 3)
      fillTriangle(inside, columns, rows, corner(k), corner(k + 1), corner(k + 2));
  }
  return inside;
}
