/** For a `<div>` that scrolls in itself: it must be reachable by keyboard, and then it needs a name. */
export function scrollRegion(label: string): { role: 'region'; tabIndex: 0; 'aria-label': string } {
  return { role: 'region', tabIndex: 0, 'aria-label': label };
}
