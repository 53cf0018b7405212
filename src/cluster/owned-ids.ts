/**
 * Ids that nodes give out for what one of them alone has. Each says which process that is, to who has the secret
 * of the cluster, and is of use to the key that it was given to alone.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const RANDOM_BYTES = 12;
const NODE_CHARS = 8;
const PROOF_CHARS = 16;
/** The parts are in base64url, and a model may have to copy them: as short as they can be. */
const ID = new RegExp(
  `^([\\w-]{${(RANDOM_BYTES / 3) * 4}})([\\w-]{${NODE_CHARS}})([\\w-]{${PROOF_CHARS}})$`,
  'u',
);

export class OwnedIds {
  readonly #secret: string;
  readonly #own: string;

  constructor(secret: string, instance: string) {
    this.#secret = secret;
    this.#own = this.markOf(instance);
  }

  issue(principal: string): string {
    const random = randomBytes(RANDOM_BYTES).toString('base64url');
    return random + this.#own + this.#proofOf(random, this.#own, principal);
  }

  /** The mark of the process that has it. Undefined for what no node gave to this key. */
  read(id: string, principal: string): string | undefined {
    const [, random, mark, proof] = ID.exec(id) ?? [];
    if (random === undefined || mark === undefined || proof === undefined) return undefined;
    const expected = Buffer.from(this.#proofOf(random, mark, principal));
    return timingSafeEqual(Buffer.from(proof), expected) ? mark : undefined;
  }

  /** Says nothing of the machine to who has no secret. */
  markOf(instance: string): string {
    return this.#mac('node', instance).slice(0, NODE_CHARS);
  }

  #proofOf(random: string, mark: string, principal: string): string {
    return this.#mac('id', `${random}${mark} ${principal}`).slice(0, PROOF_CHARS);
  }

  #mac(what: 'node' | 'id', text: string): string {
    return createHmac('sha256', this.#secret).update(`toolgate ${what}\n${text}`).digest('base64url');
  }
}
