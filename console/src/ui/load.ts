/** Parts that no page needs to be drawn; fetched when the browser has nothing to do. */
export const loadDialog = () => import('./dialog-view.js');
export const loadMenu = () => import('./menu-view.js');

/** So that they open at once, and also when the gateway has gone in the meantime. */
export function loadLater(): void {
  const load = () => {
    for (const part of [loadDialog, loadMenu]) part().catch(() => {});
  };
  if ('requestIdleCallback' in window) requestIdleCallback(load, { timeout: 10_000 });
  else setTimeout(load, 3000);
}
