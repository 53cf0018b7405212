/** The state of a page in the query of its address, so that it can be shared and the browser can go back to it. */
import { useCallback } from 'react';
import { navigate, useRoute } from '../../ui/router.js';

export type QueryChange = Readonly<Record<string, string | undefined>>;

/** An empty value takes the parameter out. */
export function useQuery(): [URLSearchParams, (change: QueryChange) => void] {
  const { query } = useRoute();
  const change = useCallback(
    (values: QueryChange) => navigate(changedHash(location.hash, values), { replace: true }),
    [],
  );
  return [query, change];
}

function changedHash(hash: string, values: QueryChange): string {
  const [path = '#/', search = ''] = hash.split(/\?(.*)/s);
  const query = new URLSearchParams(search);
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}
