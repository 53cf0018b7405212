/** Which tabs are visible and focused, and which route they show. */

interface PresenceMessage {
  tab: string;
  /** The route that it shows, under the name that open tabs of earlier versions send; null while it is not visible. */
  place: string | null;
}

const NAME = 'toolgate-presence';
const AGAIN_MS = 20_000;
/** A crashed tab sends no message. */
const STALE_MS = 60_000;

export class Presence {
  readonly #tab = crypto.randomUUID();
  readonly #others = new Map<string, { route: string; at: number }>();
  readonly #channel = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel(NAME);
  #timer: ReturnType<typeof setInterval> | undefined;
  #end = new AbortController();

  start(): void {
    this.#end = new AbortController();
    const { signal } = this.#end;
    const report = (): void => this.#report();
    document.addEventListener('visibilitychange', report, { signal });
    for (const event of ['focus', 'blur', 'hashchange', 'pageshow'])
      addEventListener(event, report, { signal });
    addEventListener('pagehide', () => this.#post(null), { signal });
    this.#channel?.addEventListener(
      'message',
      ({ data }: MessageEvent<PresenceMessage>) => this.#onMessage(data),
      {
        signal,
      },
    );
    this.#timer = setInterval(report, AGAIN_MS);
    report();
  }

  stop(): void {
    this.#end.abort();
    clearInterval(this.#timer);
    this.#post(null);
  }

  /** `route`: the fragment of the address; any without. */
  isSeen(route?: string): boolean {
    const matches = (shown: string): boolean => route === undefined || shown === route;
    const own = this.#own();
    if (own !== null && matches(own)) return true;
    const since = Date.now() - STALE_MS;
    return [...this.#others.values()].some((other) => other.at >= since && matches(other.route));
  }

  #own(): string | null {
    return document.visibilityState === 'visible' && document.hasFocus() ? location.hash : null;
  }

  #report(): void {
    this.#post(this.#own());
  }

  #post(route: string | null): void {
    const message: PresenceMessage = { tab: this.#tab, place: route };
    this.#channel?.postMessage(message);
  }

  #onMessage({ tab, place: route }: PresenceMessage): void {
    if (route === null) this.#others.delete(tab);
    else this.#others.set(tab, { route, at: Date.now() });
  }
}
