/** What was encoded before, by what it was encoded from and the upstream that it was encoded for. */
import type { JsonObject } from '../../core/conversation.js';
import type { LossLog } from '../../core/losses.js';
import { RunMemo, share } from '../../core/shared-values.js';
import type { Quirks } from './quirks.js';
import type { ToolNames } from './tool-names.js';

/** What encoding depends on and reports to, besides its values. */
interface Surroundings {
  quirks: Quirks;
  losses: LossLog;
  names: ToolNames;
}

export class EncodeMemo<K extends object, V extends JsonObject = JsonObject> {
  readonly #memos = new WeakMap<Quirks, RunMemo<K, readonly V[]>>();

  /**
   * What `encode` made of `values` before, or makes now. It is kept only where it named no loss and
   * mapped no name: these belong to the request that they came with.
   */
  of(
    values: readonly K[],
    { quirks, losses, names }: Surroundings,
    encode: () => readonly V[],
  ): readonly V[] {
    let memo = this.#memos.get(quirks);
    if (memo === undefined) {
      memo = new RunMemo();
      this.#memos.set(quirks, memo);
    }
    const known = memo.get(values);
    if (known !== undefined) return known;
    const before = losses.reported + names.mapped;
    const encoded = encode();
    if (losses.reported + names.mapped === before && memo.keeps(values)) {
      for (const each of encoded) share(each);
      memo.keep(values, encoded);
    }
    return encoded;
  }
}
