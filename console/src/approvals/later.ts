/**
 * "Later": a question that is put aside in this browser for a while. It waits all the same, its
 * clock runs, and anyone can decide it; only the badge and the head of the list leave it out.
 */
import { useSyncExternalStore } from 'react';

const KEY = 'toolgate.later';
/** The longest delay that a timer takes. */
const LONGEST_TIMER = 2 ** 31 - 1;

type Later = ReadonlyMap<string, number>;

let current: Later | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

/** Until when, by this browser's clock. */
export function useLater(): Later {
  return useSyncExternalStore(subscribe, later, later);
}

export function putAside(id: string, until: number): void {
  change(new Map([...later(), [id, until]]));
}

export function takeUp(id: string): void {
  const next = new Map(later());
  if (next.delete(id)) change(next);
}

function later(): Later {
  current ??= running(load());
  return current;
}

function change(next: Later): void {
  current = running(next);
  try {
    localStorage.setItem(KEY, JSON.stringify([...current]));
  } catch {
    // Without storage it holds for this page.
  }
  plan();
  for (const listener of listeners) listener();
}

/** Without expired entries. */
function running(entries: Iterable<readonly [string, number]>): Later {
  const now = Date.now();
  return new Map([...entries].filter(([, until]) => until > now));
}

function plan(): void {
  clearTimeout(timer);
  timer = undefined;
  const next = Math.min(...later().values());
  if (!Number.isFinite(next)) return;
  timer = setTimeout(() => change(later()), Math.min(LONGEST_TIMER, Math.max(0, next - Date.now()) + 1));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (listeners.size === 1) {
    addEventListener('storage', onStorage);
    plan();
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    removeEventListener('storage', onStorage);
    clearTimeout(timer);
  };
}

/** Another tab put something aside. */
function onStorage(event: StorageEvent): void {
  if (event.key !== KEY) return;
  current = running(load());
  plan();
  for (const listener of listeners) listener();
}

function load(): [string, number][] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(value) ? value.filter(isEntry) : [];
  } catch {
    return [];
  }
}

function isEntry(value: unknown): value is [string, number] {
  return Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'number';
}
