import { useSyncExternalStore } from 'react';

/** Where tables become cards and the navigation goes to the bottom; the same as `md:` in classes. */
const PHONE = '(max-width: 47.99rem)';

function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const list = matchMedia(query);
      list.addEventListener('change', listener);
      return () => list.removeEventListener('change', listener);
    },
    () => matchMedia(query).matches,
    () => false,
  );
}

export function usePhone(): boolean {
  return useMedia(PHONE);
}
