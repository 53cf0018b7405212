import { useIdentity } from '../data/identity.js';
import { useConsole } from '../data/store.js';
import { useText } from '../text/language.js';
import { strings } from './strings.js';

/** Why nothing can be sent, apart from what the conversation itself says; undefined where it can. */
export function useObstacle(): string | undefined {
  const { reasons } = useText(strings);
  const connection = useConsole((state) => state.connection);
  const person = useIdentity();
  if (connection === 'signed-out') return reasons.signedOut;
  if (connection === 'lost') return reasons.lost;
  return person.scopes.length > 0 && !person.can('call') ? reasons.scope : undefined;
}
