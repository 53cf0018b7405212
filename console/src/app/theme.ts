/** Light or dark: the system's choice, unless the person made one. */
import { useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';

export const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

const KEY = 'toolgate.theme';
const DARK = '(prefers-color-scheme: dark)';

let chosen: Theme = read();
const listeners = new Set<() => void>();

function theme(): Theme {
  return chosen;
}

/** Kept in this browser. */
export function setTheme(next: Theme): void {
  chosen = next;
  try {
    if (next === 'system') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
  } catch {
    // Without storage it holds for this page.
  }
  applyTheme();
  for (const listener of listeners) listener();
}

export function applyTheme(): void {
  const dark = chosen === 'dark' || (chosen === 'system' && matchMedia(DARK).matches);
  document.documentElement.dataset['theme'] = dark ? 'dark' : 'light';
  colourTheFrame();
}

/** What the browser, or the system around an installed console, draws beside the page. */
function colourTheFrame(): void {
  const colour = getComputedStyle(document.documentElement).getPropertyValue('--tg-bg').trim();
  if (colour === '') return;
  document.querySelector('meta[name="theme-color"]')?.setAttribute('content', colour);
}

/** Follows the system, and what is chosen in another tab. */
export function watchTheme(): void {
  matchMedia(DARK).addEventListener('change', applyTheme);
  addEventListener('storage', ({ key }) => {
    if (key !== KEY && key !== null) return;
    chosen = read();
    applyTheme();
    for (const listener of listeners) listener();
  });
}

export function useTheme(): Theme {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    theme,
    theme,
  );
}

function read(): Theme {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === 'light' || kept === 'dark' ? kept : 'system';
  } catch {
    return 'system';
  }
}
