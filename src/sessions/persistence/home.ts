/** Which node has the folder of a session. */
import { folderElsewhere } from '../refusals.js';
import type { SessionPlace } from '../session-parts.js';
import type { SessionRow } from './session-row.js';

type Home = Pick<SessionRow, 'home'>;

/** For the record of a session that runs here. */
export function homeOf(place: SessionPlace | undefined, root: string): Home {
  if (place === undefined || root === '') return {};
  return { home: { node: place.node, shared: place.shares(root) } };
}

/** The node that alone has the folder; undefined where the session may run here. */
export function homeElsewhere(
  place: SessionPlace | undefined,
  { home, root }: Pick<SessionRow, 'home' | 'root'>,
): string | undefined {
  if (place === undefined || home === undefined || home.node === place.node) return undefined;
  return home.shared && place.shares(root) ? undefined : home.node;
}

/** Throws HeldElsewhere. */
export function checkHome(
  place: SessionPlace | undefined,
  id: string,
  record: Pick<SessionRow, 'home' | 'root'>,
): void {
  const node = homeElsewhere(place, record);
  if (node !== undefined) throw folderElsewhere(id, { root: record.root, node });
}
