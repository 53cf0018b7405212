/**
 * Takes the gateway's own credential out of what an upstream says: some repeat it in their errors
 * ("incorrect API key: …"), and the gateway's clients are not those who own it.
 */
import { secretParameters } from '../config/redact.js';
import { GatewayError } from '../core/errors.js';
import type { ModelEvent } from '../core/events.js';
import type { Endpoint } from './endpoint.js';

const CONCEALED = '[redacted]';
/** Shorter values are placeholders, and parts of ordinary words. */
const SHORTEST = 8;

export class CredentialConcealer {
  readonly #secrets: readonly string[];
  readonly #bytes: readonly Buffer[];

  constructor({ baseUrl, apiKey, headers }: Pick<Endpoint, 'baseUrl' | 'apiKey' | 'headers'>) {
    const sent = [apiKey ?? '', ...Object.values(headers ?? {}), ...inAddress(baseUrl)];
    const bare = sent.map((value) => value.replace(/^(?:bearer|basic|token)\s+/i, ''));
    this.#secrets = [...new Set(bare)].filter((value) => value.length >= SHORTEST);
    this.#bytes = this.#secrets.map((secret) => Buffer.from(secret));
  }

  error(error: GatewayError): GatewayError {
    const { code, message, param, detail, status, retryable, retryAfter, cause } = error;
    if (![message, param, detail].some((said) => said !== undefined && this.#holds(said))) return error;
    return new GatewayError(code, this.#text(message), {
      status,
      retryable,
      ...(retryAfter === undefined ? {} : { retryAfter }),
      ...(param === undefined ? {} : { param: this.#text(param) }),
      ...(detail === undefined ? {} : { detail: this.#text(detail) }),
      cause,
    });
  }

  /** Changes `events`. */
  errorsIn(events: ModelEvent[]): void {
    for (const [index, event] of events.entries()) {
      if (event.type === 'error') events[index] = { ...event, error: this.error(event.error) };
    }
  }

  /** The same bytes where there is nothing to conceal. */
  bytes(bytes: Buffer): Buffer {
    if (!this.#bytes.some((secret) => bytes.includes(secret))) return bytes;
    return Buffer.from(this.#text(bytes.toString('utf8')));
  }

  #holds(text: string): boolean {
    return this.#secrets.some((secret) => text.includes(secret));
  }

  #text(text: string): string {
    return this.#secrets.reduce((rest, secret) => rest.replaceAll(secret, CONCEALED), text);
  }
}

/** What stands in the address itself to say who asks. */
function inAddress(baseUrl: string): string[] {
  if (!URL.canParse(baseUrl)) return [];
  const url = new URL(baseUrl);
  return [url.password, ...secretParameters(url)];
}
