/**
 * The gateway as an OAuth client of one MCP server: is looked up or registers itself, proves itself with PKCE,
 * keeps the tokens, and hands the address of the sign-in to a person.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import { GatewayError } from '../../../core/errors.js';
import type {
  FetchLike,
  OAuthClientProvider,
  OAuthDiscoveryState,
  Sdk,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '../wire/sdk.js';
import { clientMetadata } from './client-document.js';
import type { TokenFile } from './token-file.js';

/** What the browser came back with. */
export interface SignInAnswer {
  code: string;
  state: string;
  /** Who says that it signed the person in: it must be whom they were sent to. */
  iss?: string;
}

/** `issuer` is the SDK's stamp: what one authorisation server gave is not sent to another. */
const tokensSchema = z.object({
  access_token: z.string(),
  token_type: z.string(),
  id_token: z.string().optional(),
  expires_in: z.number().optional(),
  scope: z.string().optional(),
  refresh_token: z.string().optional(),
  issuer: z.string().optional(),
});

const registrationSchema = z.object({
  client_id: z.string(),
  client_secret: z.string().optional(),
  client_id_issued_at: z.number().optional(),
  client_secret_expires_at: z.number().optional(),
  redirect_uris: z.array(z.string()).optional(),
  token_endpoint_auth_method: z.string().optional(),
  issuer: z.string().optional(),
});

interface SignInOptions {
  name: string;
  url: string;
  file: TokenFile;
  /** Where the browser comes back to. */
  callbackUrl: string;
  /** The client id, where it can be looked up. */
  clientMetadataUrl?: string | undefined;
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
  readonly #sdk: Sdk;
  readonly #options: SignInOptions;
  /** The SDK takes it where the authorisation server says that it looks clients up. */
  readonly clientMetadataUrl?: string;
  #pending: Pending | undefined;
  #discovery: OAuthDiscoveryState | undefined;

  constructor(sdk: Sdk, options: SignInOptions) {
    this.#sdk = sdk;
    this.#options = options;
    if (options.clientMetadataUrl !== undefined) this.clientMetadataUrl = options.clientMetadataUrl;
  }

  get redirectUrl(): string {
    return this.#options.callbackUrl;
  }

  get clientMetadata() {
    const { callbackUrl, version } = this.#options;
    return { ...clientMetadata(callbackUrl), software_id: 'toolgate', software_version: version };
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

  async clientInformation(): Promise<StoredOAuthClientInformation | undefined> {
    const { client } = (await this.#read()) ?? {};
    const { data } = registrationSchema.safeParse(client);
    // A registration is for one address to come back to; with another port there is another one.
    const isOfAnother = data?.redirect_uris?.includes(this.#options.callbackUrl) === false;
    return isOfAnother ? undefined : data;
  }

  saveClientInformation(client: StoredOAuthClientInformation): Promise<void> {
    // One that is looked up is for one address as well.
    const redirect_uris = [this.#options.callbackUrl];
    return this.#update((current) => ({ ...current, client: { redirect_uris, ...client } }));
  }

  async tokens(): Promise<StoredOAuthTokens | undefined> {
    const parsed = tokensSchema.safeParse((await this.#read())?.tokens);
    return parsed.data;
  }

  saveTokens(tokens: StoredOAuthTokens): Promise<void> {
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
  async finish({ code, state, iss }: SignInAnswer, fetchFn: FetchLike): Promise<void> {
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
      await this.#sdk.auth(this, {
        serverUrl: this.#options.url,
        authorizationCode: code,
        ...(iss === undefined ? {} : { iss }),
        fetchFn,
      });
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
