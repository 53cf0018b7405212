/** Announcements for screen readers, by the one polite live region of the page. */
type Listener = (text: string) => void;

const listeners = new Set<Listener>();

/** A repeated text is announced again. */
export function announce(text: string): void {
  for (const listener of listeners) listener(text);
}

export function onAnnounce(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
