// Holds the time cursor that all drawings of a session share. Units: seconds.

/** cursor.at, cursor.move(time), cursor.follow(listener): calls the listener at once and at every move. */
export function makeCursor(begin, end) {
  const listeners = [];
  const cursor = {
    begin,
    end,
    at: begin,
    move(time) {
      cursor.at = Math.min(end, Math.max(begin, time));
      for (const listener of listeners) listener(cursor.at);
    },
    follow(listener) {
      listeners.push(listener);
      listener(cursor.at);
    },
  };
  return cursor;
}
