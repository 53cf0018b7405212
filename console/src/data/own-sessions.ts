/** Conversations that this browser sent messages to: the ends of their turns cause notifications. */

const KEY = 'toolgate.own-sessions';
const KEPT = 200;

export function noteOwnSession(session: string): void {
  const others = read().filter((each) => each !== session);
  try {
    localStorage.setItem(KEY, JSON.stringify([session, ...others].slice(0, KEPT)));
  } catch {
    // Without storage there is no notification of its end.
  }
}

export function isOwnSession(session: string): boolean {
  return read().includes(session);
}

function read(): string[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
  } catch {
    return [];
  }
}
