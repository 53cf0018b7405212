/**
 * English and Chinese. Each folder keeps its own texts, as `{ en, zh }` with the same keys, in a
 * `strings.ts`; a value is a text or a function that makes one.
 */
import { useSyncExternalStore } from 'react';

export type Language = 'en' | 'zh';

/** The same keys and the same arguments in both. */
export interface Strings<T> {
  en: T;
  zh: T;
}

const KEY = 'toolgate.language';

let current: Language = initial();
const listeners = new Set<() => void>();

export function language(): Language {
  return current;
}

/** Kept in this browser. */
export function setLanguage(next: Language): void {
  current = next;
  applyLanguage();
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Without storage it holds for this page.
  }
  for (const listener of listeners) listener();
}

/** Sets the language of the document; without it a screen reader would read Chinese as English. */
export function applyLanguage(): void {
  document.documentElement.lang = langTag(current);
}

export function langTag(of: Language): string {
  return of === 'zh' ? 'zh-CN' : 'en';
}

export function useLanguage(): Language {
  return useSyncExternalStore(subscribe, language, () => 'en');
}

/** The texts of a folder in the language of the page. */
export function useText<T>(strings: Strings<T>): T {
  return strings[useLanguage()];
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function initial(): Language {
  if (typeof navigator === 'undefined') return 'en';
  let chosen: string | null = null;
  try {
    chosen = localStorage.getItem(KEY);
  } catch {
    // As if nothing had been chosen.
  }
  const tag = chosen ?? navigator.languages?.[0] ?? navigator.language ?? 'en';
  return tag.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}
