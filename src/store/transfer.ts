/**
 * What a store gives to another one, of whatever kind: sessions with all that belongs to them, answers, rules, usage
 * and keys by their digests. Records are rows by their columns, which all stores have under the same names.
 */

/** In the order in which they are moved: keys and rules are few, and there first. */
export const TRANSFER_KINDS = ['key', 'rule', 'session', 'answer', 'usage'] as const;
export type TransferKind = (typeof TRANSFER_KINDS)[number];

export type TransferRow = Readonly<Record<string, string | number | null>>;

export interface TransferRecord {
  kind: TransferKind;
  row: TransferRow;
  /** Of a session: its transcript, index, calls and answers, by table. */
  parts?: Readonly<Record<string, readonly TransferRow[]>>;
  /** Of usage, whose rows have no id: it is the so-manieth of several that are equal. Left out: the first. */
  nth?: number;
}

export interface TransferPage {
  records: TransferRecord[];
  /** Absent on the last page. */
  next?: string;
}

export interface TransferStore {
  count(kind: TransferKind): Promise<number>;
  /** In an order that stays; each record is whole. */
  read(kind: TransferKind, after?: string): Promise<TransferPage>;
  /**
   * All of them or none. What is there stays as it is, so that the same records can be written again.
   * Resolves with how many were new. Rejects with `invalid_request` for a record that is none.
   */
  write(records: readonly TransferRecord[]): Promise<number>;
}
