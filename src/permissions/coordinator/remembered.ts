/** A set that forgets its oldest members: bounded, whatever a long-lived process sees. */
export class Remembered {
  readonly #most: number;
  readonly #members = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  has(member: string): boolean {
    return this.#members.has(member);
  }

  /** False when it was there already. */
  add(member: string): boolean {
    if (this.#members.has(member)) return false;
    this.#members.add(member);
    if (this.#members.size > this.#most) {
      const [oldest] = this.#members;
      if (oldest !== undefined) this.#members.delete(oldest);
    }
    return true;
  }
}
