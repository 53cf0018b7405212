/** Targets outside the gateway, as `/api/notify` shows them. Their addresses and secrets are not shown. */

export interface TargetWire {
  name: string;
  type: 'webhook' | 'ntfy' | 'slack' | 'telegram' | 'feishu';
  /** Messages that are still to be sent, and those that were given up. */
  waiting: number;
  failed: number;
  last_sent_at: string | null;
  /** Why the last attempt failed; null where it did not. */
  failing: { error: string; attempts: number } | null;
}
