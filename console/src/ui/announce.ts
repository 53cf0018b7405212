/** Announcements for screen readers, by the one polite live region of the page. */
type Listener = (text: string) => void;

const listeners = new Set<Listener>();

/** Said once; the same words again are said again. */
export function announce(text: string): void {
  for (const listener of listeners) listener(text);
}

export function onAnnounce(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
