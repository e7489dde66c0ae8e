// Decodes the page's data, written by app/report/report.cpp, into typed arrays.
// Seconds, millimetres, newtons, pascals.

const kTypes = { f32: Float32Array, u32: Uint32Array, u16: Uint16Array };

/** {type, data} -> typed array. */
export function decodeArray({ type, data }) {
  const text = atob(data);
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; ++k) bytes[k] = text.charCodeAt(k);
  return new kTypes[type](bytes.buffer);
}

/** {low, high, steps} -> Float32Array of x, y, z, mm. */
export function decodePlaces({ low, high, steps }) {
  const whole = decodeArray(steps);
  const points = new Float32Array(whole.length);
  for (let k = 0; k < whole.length; ++k) {
    const axis = k % 3;
    points[k] = low[axis] + (whole[k] / 65535) * (high[axis] - low[axis]);
  }
  return points;
}

function decodeEnvelope({ low, high }) {
  const highest = decodeArray(high);
  return { low: low ? decodeArray(low) : highest, high: highest };
}

function decodeTool(tool, k) {
  return {
    ...tool,
    index: k,
    force: decodeEnvelope(tool.force),
    speed: decodeEnvelope(tool.speed),
    touched: decodeEnvelope(tool.touched),
    pivot: decodePlaces(tool.pivot),
    tip: decodePlaces(tool.tip),
  };
}

function decodeMoments({ face, time }) {
  return { face: decodeArray(face), time: decodeArray(time) };
}

function decodeOrgan(organ) {
  if (!organ.vertices) return organ;
  return {
    ...organ,
    vertices: decodePlaces(organ.vertices),
    faces: decodeArray(organ.faces),
    born: decodeMoments(organ.born),
    gone: decodeMoments(organ.gone),
    contact: {
      face: decodeArray(organ.contact.face),
      seconds: decodeArray(organ.contact.seconds),
      pressure: decodeArray(organ.contact.pressure),
    },
  };
}

/** A session with decoded arrays. */
export function decodeSession(session) {
  const { summary } = session;
  return {
    ...session,
    summary: {
      ...summary,
      binTime: decodeArray(summary.bin_time),
      stepTime: decodeArray(summary.step_time),
      tools: summary.tools.map(decodeTool),
      scope: decodePlaces(summary.scope),
      organs: summary.organs.map(decodeOrgan),
    },
  };
}

/** Index of the last of the ascending `times` that is at or before `time`; 0 where all are later. */
export function indexAt(times, time) {
  let low = 0;
  let high = times.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle;
    else high = middle;
  }
  return low;
}
