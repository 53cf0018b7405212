/**
 * The gateway as an OAuth client of one MCP server: registers itself, proves itself with PKCE,
 * keeps the tokens, and hands the address of the sign-in to a person.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { OAuthClientProvider, OAuthDiscoveryState } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { GatewayError } from '../../../core/errors.js';
import type { FetchLike, HttpSdk } from '../wire/sdk.js';
import type { TokenFile } from './token-file.js';

interface SignInOptions {
  name: string;
  url: string;
  file: TokenFile;
  /** Where the browser comes back to. */
  callbackUrl: string;
  version: string;
  now(): number;
  lifetimeMs: number;
}

interface Pending {
  state: string;
  expiresAt: number;
  verifier?: string;
  url?: URL;
}

export class ServerSignIn implements OAuthClientProvider {
  readonly #sdk: HttpSdk;
  readonly #options: SignInOptions;
  #pending: Pending | undefined;
  #discovery: OAuthDiscoveryState | undefined;

  constructor(sdk: HttpSdk, options: SignInOptions) {
    this.#sdk = sdk;
    this.#options = options;
  }

  get redirectUrl(): string {
    return this.#options.callbackUrl;
  }

  get clientMetadata() {
    return {
      client_name: 'Toolgate',
      redirect_uris: [this.#options.callbackUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      software_id: 'toolgate',
      software_version: this.#options.version,
    };
  }

  /** The page where a person signs in; undefined while that is not needed. */
  get signInUrl(): string | undefined {
    return this.#pending?.url?.href;
  }

  state(): string {
    const { now, lifetimeMs } = this.#options;
    this.#pending = { state: randomBytes(32).toString('base64url'), expiresAt: now() + lifetimeMs };
    return this.#pending.state;
  }

  async clientInformation(): Promise<OAuthClientInformationMixed | undefined> {
    const { client } = (await this.#read()) ?? {};
    const full = this.#sdk.OAuthClientInformationFullSchema.safeParse(client);
    // A registration is for one address to come back to; with another port there is another one.
    if (full.success)
      return full.data.redirect_uris.includes(this.#options.callbackUrl) ? full.data : undefined;
    const short = this.#sdk.OAuthClientInformationSchema.safeParse(client);
    return short.success ? short.data : undefined;
  }

  saveClientInformation(client: OAuthClientInformationMixed): Promise<void> {
    return this.#update((current) => ({ ...current, client: { ...client } }));
  }

  async tokens(): Promise<OAuthTokens | undefined> {
    const parsed = this.#sdk.OAuthTokensSchema.safeParse((await this.#read())?.tokens);
    return parsed.success ? parsed.data : undefined;
  }

  saveTokens(tokens: OAuthTokens): Promise<void> {
    return this.#update((current) => ({ ...current, tokens: { ...tokens } }));
  }

  redirectToAuthorization(url: URL): void {
    // Shown to people as a link: nothing but a web address may get there.
    if (url.protocol !== 'https:' && url.protocol !== 'http:')
      throw new Error('The address of the sign-in is not a web address');
    if (this.#pending !== undefined) this.#pending.url = url;
  }

  saveCodeVerifier(verifier: string): void {
    if (this.#pending !== undefined) this.#pending.verifier = verifier;
  }

  codeVerifier(): string {
    const verifier = this.#pending?.verifier;
    if (verifier === undefined) throw new Error('No sign-in is under way');
    return verifier;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }

  async invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Promise<void> {
    if (scope === 'all' || scope === 'discovery') this.#discovery = undefined;
    if (scope === 'all') await this.#update(() => undefined);
    else if (scope === 'tokens')
      await this.#update(({ url, client }) => ({ url, ...(client && { client }) }));
    else if (scope === 'client')
      await this.#update(({ url, tokens }) => ({ url, ...(tokens && { tokens }) }));
  }

  /** Throws `forbidden` for a state that is not of this sign-in, `upstream_failed` for a code that is not taken. */
  async finish({ code, state }: { code: string; state: string }, fetchFn: FetchLike): Promise<void> {
    const pending = this.#pending;
    if (pending === undefined || !same(pending.state, state) || this.#options.now() > pending.expiresAt) {
      throw new GatewayError(
        'forbidden',
        'This sign-in is not under way: it was finished, took too long, or was started anew. Start again from the list of MCP servers.',
      );
    }
    // For one use, whatever comes of it; the verifier is needed for the exchange.
    this.#pending = { ...pending, state: randomBytes(32).toString('base64url') };
    try {
      await this.#sdk.auth(this, { serverUrl: this.#options.url, authorizationCode: code, fetchFn });
    } catch (error) {
      throw new GatewayError(
        'upstream_failed',
        `The sign-in to the MCP server "${this.#options.name}" was not accepted. Start again from the list of MCP servers.`,
        { cause: error },
      );
    } finally {
      this.#pending = undefined;
    }
  }

  #read() {
    const { file, name, url } = this.#options;
    return file.read(name, url);
  }

  #update(change: Parameters<TokenFile['update']>[2]): Promise<void> {
    const { file, name, url } = this.#options;
    return file.update(name, url, change);
  }
}

function same(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
