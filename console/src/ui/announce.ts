/** What a screen reader is told, by the one polite live region that the shell draws. */
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
