/** Bytes that several readers are given, made once. */

interface SharedBytesOptions {
  /** More than this is not held on to. */
  bytes: number;
  /** What is older is made again. */
  ms: number;
  now: () => number;
}

export class SharedBytes {
  readonly #options: SharedBytesOptions | undefined;
  readonly #made = new Map<string, Buffer>();
  #bytes = 0;
  #since = 0;

  /** Without options, for what is dropped at once. */
  constructor(options?: SharedBytesOptions) {
    this.#options = options;
  }

  of(name: string, make: () => Buffer): Buffer {
    this.#dropOld();
    const known = this.#made.get(name);
    if (known !== undefined) return known;
    const bytes = make();
    if (this.#options !== undefined && this.#bytes + bytes.length > this.#options.bytes) this.clear();
    if (this.#made.size === 0) this.#since = this.#options?.now() ?? 0;
    this.#made.set(name, bytes);
    this.#bytes += bytes.length;
    return bytes;
  }

  /** Something has changed. */
  clear(): void {
    this.#made.clear();
    this.#bytes = 0;
  }

  #dropOld(): void {
    if (this.#options === undefined || this.#made.size === 0) return;
    // A clock that was set back says nothing about the age.
    if (Math.abs(this.#options.now() - this.#since) >= this.#options.ms) this.clear();
  }
}
