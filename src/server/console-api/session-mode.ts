/**
 * Who may choose how the calls of a session are decided. The configuration is the upper bound, and
 * letting more through than now is for who may approve: it stands for approvals of theirs.
 */
import type { Config } from '../../config/schema.js';
import { GatewayError } from '../../core/errors.js';
import type { Principal } from '../../engines/engine.js';
import { SESSION_MODES, type SessionMode } from '../../store/sessions.js';

type ConfiguredMode = Config['permissions']['mode'];

/** How much is let through without a question. */
const REACH: Readonly<Record<SessionMode | ConfiguredMode, number>> = {
  deny: 0,
  plan: 0,
  'read-only': 0,
  ask: 1,
  'allow-edits': 2,
  allow: 3,
};

/** What may be chosen where the configuration has this mode. */
function modesUnder(configured: ConfiguredMode): readonly SessionMode[] {
  switch (configured) {
    case 'deny':
      return ['plan'];
    case 'read-only':
      return ['read-only', 'plan'];
    case 'ask':
    case 'allow':
      return SESSION_MODES;
  }
}

/** What the key may choose for a new session. */
export function modesFor(
  configured: ConfiguredMode,
  { scopes }: Pick<Principal, 'scopes'>,
): readonly SessionMode[] {
  const most = scopes.includes('approve') ? Number.POSITIVE_INFINITY : REACH[configured];
  return modesUnder(configured).filter((mode) => REACH[mode] <= most);
}

interface ModeChange {
  /** Null: the configuration's again. */
  to: SessionMode | null;
  from: SessionMode | undefined;
  configured: ConfiguredMode;
  principal: Pick<Principal, 'scopes'>;
}

/** Throws GatewayError where the configuration or the key does not go so far. */
export function checkModeChange({ to, from, configured, principal }: ModeChange): void {
  const modes = modesUnder(configured);
  if (to !== null && !modes.includes(to)) {
    throw new GatewayError(
      'invalid_request',
      `mode: ${to} lets more through than permissions.mode, which is ${configured}. Choose one of ${modes.join(', ')}, or null for the configuration's.`,
      { param: 'mode', detail: 'mode_exceeds_configuration' },
    );
  }
  if (REACH[to ?? configured] <= REACH[from ?? configured]) return;
  if (principal.scopes.includes('approve')) return;
  throw new GatewayError(
    'forbidden',
    `mode: ${to ?? configured} lets more through than ${from ?? configured}, which takes a key with the scope approve.`,
    { param: 'mode' },
  );
}
