// Keeps attempts in the browser's IndexedDB: the list in "attempts", their texts (attempt.json) in "texts".

let opened = null;

const finished = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

function database() {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("trocar", 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("attempts", { keyPath: "id", autoIncrement: true });
      request.result.createObjectStore("texts");
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error("another tab uses an older database"));
  });
  return opened;
}

const ended = (transaction) =>
  new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error("the browser has no space"));
    transaction.onerror = () => reject(transaction.error);
  });

/** The attempts, the newest first: {id, scene, title, level, date, score, ending, duration}. */
export async function listAttempts() {
  const list = await finished((await database()).transaction("attempts").objectStore("attempts").getAll());
  return list.sort((a, b) => b.date.localeCompare(a.date));
}

/** Returns the id of the kept attempt. Rejects when the browser refuses. */
export async function keepAttempt(attempt, text) {
  const transaction = (await database()).transaction(["attempts", "texts"], "readwrite");
  const done = ended(transaction);
  const id = await finished(transaction.objectStore("attempts").add(attempt));
  transaction.objectStore("texts").put(text, id);
  await done;
  return id;
}

export async function textOfAttempt(id) {
  return finished((await database()).transaction("texts").objectStore("texts").get(id));
}

export async function deleteAttempt(id) {
  const transaction = (await database()).transaction(["attempts", "texts"], "readwrite");
  const done = ended(transaction);
  transaction.objectStore("attempts").delete(id);
  transaction.objectStore("texts").delete(id);
  await done;
}
