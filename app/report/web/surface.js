// Gives an organ's faces at any time as arrays for drawing. Units: millimetres, seconds.

/** [face] times of creation and removal: -Infinity if it existed from the start, Infinity if it was never removed. */
export function lifetimes(organ) {
  const count = organ.faces.length / 3;
  const born = new Float32Array(count).fill(-Infinity);
  const gone = new Float32Array(count).fill(Infinity);
  organ.born.face.forEach((face, k) => (born[face] = organ.born.time[k]));
  organ.gone.face.forEach((face, k) => (gone[face] = organ.gone.time[k]));
  return { born, gone };
}

/** Unit normals of the vertices: the sum of the cross products of the faces around each. */
export function vertexNormals(vertices, faces) {
  const normals = new Float32Array(vertices.length);
  for (let k = 0; k < faces.length; k += 3) {
    const [a, b, c] = [3 * faces[k], 3 * faces[k + 1], 3 * faces[k + 2]];
    const side = (to, axis) => vertices[to + axis] - vertices[a + axis];
    const cross = [
      side(b, 1) * side(c, 2) - side(b, 2) * side(c, 1),
      side(b, 2) * side(c, 0) - side(b, 0) * side(c, 2),
      side(b, 0) * side(c, 1) - side(b, 1) * side(c, 0),
    ];
    for (const corner of [a, b, c]) for (let axis = 0; axis < 3; ++axis) normals[corner + axis] += cross[axis];
  }
  for (let k = 0; k < normals.length; k += 3) {
    const length = Math.hypot(normals[k], normals[k + 1], normals[k + 2]) || 1;
    for (let axis = 0; axis < 3; ++axis) normals[k + axis] /= length;
  }
  return normals;
}

/** Expands vertex values to separate corners of each face: values[corner of faces] = ofVertex[vertex]. */
export function perCorner(ofVertex, faces) {
  const out = new Float32Array(faces.length * 3);
  for (let k = 0; k < faces.length; ++k)
    for (let axis = 0; axis < 3; ++axis) out[3 * k + axis] = ofVertex[3 * faces[k] + axis];
  return out;
}

/** Corner numbers of the faces for which `keep` is true. */
export function cornersOf(faceCount, keep) {
  const corners = [];
  for (let face = 0; face < faceCount; ++face) if (keep(face)) corners.push(3 * face, 3 * face + 1, 3 * face + 2);
  return new Uint32Array(corners);
}

/** Low and high corner of the bounding box of points, mm. */
export function boxOf(listOfPlaces) {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (const places of listOfPlaces) {
    for (let k = 0; k < places.length; ++k) {
      low[k % 3] = Math.min(low[k % 3], places[k]);
      high[k % 3] = Math.max(high[k % 3], places[k]);
    }
  }
  return { low, high };
}
