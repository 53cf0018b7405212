/** Messages to people and programs outside, connected with what they are about. */
import { randomUUID } from 'node:crypto';
import { Notifier } from '../notify/delivery/notifier.js';
import type { Log } from '../observability/log.js';
import type { ApprovalCoordinator } from '../permissions/approvals.js';
import type { KeyRing } from '../server/access/key-ring.js';
import { isGone, ownerOfThisProcess } from '../sessions/persistence/lease-keeper.js';
import type { Sessions } from '../sessions/sessions.js';
import type { Store } from '../store/store.js';
import type { CloseStack } from './close-stack.js';
import type { LiveConfig } from './live-config.js';

interface OpenOptions {
  live: LiveConfig;
  store: Store;
  approvals: ApprovalCoordinator;
  sessions: Pick<Sessions, 'subscribe'>;
  /** The keys that hold now. */
  keys: Pick<KeyRing, 'named' | 'credentialNameOf'>;
  log: Log;
}

export function openNotifier(
  stack: CloseStack,
  { live, store, approvals, sessions, keys, log }: OpenOptions,
): Notifier {
  const notifier = new Notifier({
    config: () => live.config.notify,
    ...{ store, approvals, log, redact: live.redact, isGone },
    // Two gateways in one process have claims of their own.
    owner: `${ownerOfThisProcess()}/${randomUUID()}`,
    scopesOf: (name) => keys.named(name)?.scopes,
    credentialOf: (name) => keys.credentialNameOf(name),
    timeoutMs: live.config.permissions.approval_timeout_s * 1000,
  });
  stack.defer(() => notifier.close());
  stack.defer(approvals.subscribe((event) => notifier.onApproval(event)));
  stack.defer(
    sessions.subscribe((event) => {
      if (event.type !== 'turn-ended' || event.end === 'parked') return;
      const { session, principal } = event;
      notifier.onTurn({ session, principal, failed: event.end === 'broken' });
    }),
  );
  notifier.start();
  return notifier;
}
