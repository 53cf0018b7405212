/** Light or dark: the system's choice, unless the person made one. */
export type Theme = 'system' | 'light' | 'dark';

const KEY = 'toolgate.theme';

export function applyTheme(): void {
  const dark =
    theme() === 'dark' || (theme() === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset['theme'] = dark ? 'dark' : 'light';
}

export function theme(): Theme {
  const chosen = localStorage.getItem(KEY);
  return chosen === 'light' || chosen === 'dark' ? chosen : 'system';
}
