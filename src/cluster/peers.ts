/**
 * The other nodes, as this one reaches them: at the address in the table of nodes and at no other. An answer
 * is taken from who has the secret alone.
 */
import type { NodeReference } from '../core/elsewhere.js';
import { GatewayError } from '../core/errors.js';
import type { ClusterNode, NodeStore } from '../store/nodes.js';
import { HttpClient } from '../transport/http-client/http-client.js';
import type { HttpResponse, Method } from '../transport/http-client/types.js';
import {
  ClaimReader,
  digestOfBody,
  FORWARD_HEADER,
  type ForwardClaim,
  isProof,
  PROOF_HEADER,
  proofOf,
  signClaim,
} from './forward-claim.js';
import { NODE_LIMITS } from './membership.js';
import { OwnedIds } from './owned-ids.js';

interface PeersOptions {
  nodes: NodeStore;
  name: string;
  instance: string;
  secret: string;
  /** Whether the process of an instance has surely ended. */
  isGone(instance: string): boolean;
  log: { warn(facts: object, message: string): void };
  now?: () => number;
}

export interface PeerRequest extends Pick<ForwardClaim, 'id' | 'principal' | 'path' | 'once' | 'again'> {
  method: Method;
  /** Without credentials. */
  headers: Readonly<Record<string, string>>;
  body?: Uint8Array | undefined;
  signal: AbortSignal;
}

/** The node did not answer: nothing is known of what became of the request. */
export class PeerSilent extends Error {}

const CONNECT_MS = 5000;
/** Streams are pinged every 15 seconds. */
const STREAM_IDLE_MS = 60_000;
/** A look that comes later may have missed that the store was away. */
const LATE_MS = NODE_LIMITS.lostMs / 2;

export class Peers {
  readonly name: string;
  /** Of this process: owners that are it, or begin with it and `/`, are this node. */
  readonly instance: string;
  readonly #options: PeersOptions;
  readonly #reader: ClaimReader;
  readonly #ids: OwnedIds;
  readonly #now: () => number;
  // Nodes reach each other themselves: a proxy of the environment is not asked.
  readonly #client = new HttpClient({ env: {} });
  readonly #timer: NodeJS.Timeout;
  /** Requests that are under way, by instance: they end where their node is lost. */
  readonly #sent = new Map<string, Set<AbortController>>();
  #known: readonly ClusterNode[] = [];
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** Since then the store has answered without a gap. */
  #steadySince = 0;
  #isSteady = false;
  #looking: Promise<void> | undefined;
  readonly #listeners = new Set<() => void>();

  constructor(options: PeersOptions) {
    this.#options = options;
    this.name = options.name;
    this.instance = options.instance;
    this.#now = options.now ?? Date.now;
    this.#reader = new ClaimReader(options.secret, options.instance, this.#now);
    this.#ids = new OwnedIds(options.secret, options.instance);
    this.#timer = setInterval(() => void this.look().catch(() => {}), NODE_LIMITS.beatMs).unref();
  }

  /** Another node that was heard of lately. Rejects as the store does. */
  async find(at: NodeReference): Promise<ClusterNode | undefined> {
    await this.look();
    const { instance: own } = this.#options;
    return this.#known.find(({ name, instance }) => {
      if (instance === own) return false;
      return 'node' in at ? isOf(name, at.node) : isOf(at.owner, instance);
    });
  }

  /** For what this process has and no other: `holderOf` finds it, on any node. */
  issueId(principal: string): string {
    return this.#ids.issue(principal);
  }

  /** `unknown`: no node gave that id to this key. `gone`: the node that did is not there any more. Rejects as the store does. */
  async holderOf(id: string, principal: string): Promise<ClusterNode | 'here' | 'gone' | 'unknown'> {
    const mark = this.#ids.read(id, principal);
    if (mark === undefined) return 'unknown';
    if (mark === this.#ids.markOf(this.instance)) return 'here';
    await this.look();
    return this.#known.find(({ instance }) => this.#ids.markOf(instance) === mark) ?? 'gone';
  }

  /** All others that were heard of lately, as of the last look. */
  get others(): ClusterNode[] {
    return this.#known.filter(({ instance }) => instance !== this.#options.instance);
  }

  /** Calls back after each look at who is there. The returned function ends that. */
  onLook(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Like `isLost`, and at once for a process of this machine that has ended. Rejects as the store does. */
  async hasEnded(instance: string): Promise<boolean> {
    return this.#options.isGone(instance) || (await this.isLost(instance));
  }

  /**
   * The process has ended, or is no node any more. Where the store was away lately nobody could be heard of:
   * then no node is lost yet. Rejects as the store does.
   */
  async isLost(owner: string): Promise<boolean> {
    await this.look();
    return this.#isSteady && !this.#known.some(({ instance }) => isOf(owner, instance));
  }

  /**
   * Resolves with the answer of that node, whatever its status. Rejects with PeerSilent where it gives none, and
   * with the signal's reason. A body that breaks off throws GatewayError.
   */
  async send(node: ClusterNode, request: PeerRequest): Promise<HttpResponse> {
    const { secret, name } = this.#options;
    const { method, body, principal, id, once, again, signal } = request;
    // Behind the address, whatever the path says: it cannot name another host.
    const url = new URL(node.address + request.path);
    const path = url.pathname + url.search;
    const asked = { from: name, to: node.instance, principal, id, method, path, body: digestOfBody(body) };
    const flags = { ...(once === true && { once }), ...(again === true && { again }) };
    const { header, nonce } = signClaim(secret, { ...asked, ...flags }, this.#now());
    const lost = this.#watch(node.instance);
    let isOver = true;
    try {
      const response = await this.#client.request({
        method,
        url,
        headers: { ...request.headers, [FORWARD_HEADER]: header },
        ...(body === undefined ? {} : { body }),
        signal: AbortSignal.any([signal, lost.signal]),
        connectTimeoutMs: CONNECT_MS,
        // An agent may work for long before it says something: that its node is there shows its heartbeat.
        headersTimeoutMs: 0,
        idleTimeoutMs: 0,
      });
      if (!isProof(secret, nonce, response.headers[PROOF_HEADER])) {
        await response.body.return();
        this.#options.log.warn({ node: node.name, address: node.address }, 'another program answers there');
        throw new PeerSilent();
      }
      isOver = false;
      return { ...response, body: this.#bodyOf(response, node, lost) };
    } catch (error) {
      if (signal.aborted || error instanceof PeerSilent) throw error;
      throw new PeerSilent(undefined, { cause: error });
    } finally {
      if (isOver) this.#forget(node.instance, lost);
    }
  }

  /** Undefined for anything but a request that another node forwards. */
  read(header: string, asked: Pick<ForwardClaim, 'method' | 'path'>): ForwardClaim | undefined {
    try {
      return this.#reader.read(header, asked);
    } catch {
      return undefined;
    }
  }

  proofFor({ nonce }: ForwardClaim): string {
    return proofOf(this.#options.secret, nonce);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#client.close();
  }

  #bodyOf({ body, headers }: HttpResponse, node: ClusterNode, lost: AbortController): HttpResponse['body'] {
    const isStream = headers['content-type']?.startsWith('text/event-stream') === true;
    const over = () => this.#forget(node.instance, lost);
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      async next() {
        const idle = isStream ? setTimeout(() => lost.abort(new PeerSilent()), STREAM_IDLE_MS) : undefined;
        try {
          const step = await body.next();
          if (step.done === true) over();
          return step;
        } catch (error) {
          over();
          throw broken(node.name, error);
        } finally {
          clearTimeout(idle);
        }
      },
      async return() {
        over();
        return body.return();
      },
    };
  }

  #watch(instance: string): AbortController {
    const lost = new AbortController();
    const sent = this.#sent.get(instance) ?? new Set();
    this.#sent.set(instance, sent.add(lost));
    return lost;
  }

  #forget(instance: string, lost: AbortController): void {
    const sent = this.#sent.get(instance);
    sent?.delete(lost);
    if (sent?.size === 0) this.#sent.delete(instance);
  }

  /** Who is there now. Rejects as the store does. */
  look(): Promise<void> {
    this.#looking ??= this.#read()
      .then(() => {
        for (const listener of this.#listeners) listener();
      })
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  }

  async #read(): Promise<void> {
    const { nodes } = this.#options;
    const heard = await nodes.list(NODE_LIMITS.lostMs).catch((error: unknown) => {
      this.#lookedAt = Number.NEGATIVE_INFINITY;
      throw error;
    });
    const now = performance.now();
    if (now - this.#lookedAt > LATE_MS) this.#steadySince = now;
    this.#lookedAt = now;
    this.#isSteady = now - this.#steadySince >= NODE_LIMITS.lostMs;
    if (!this.#isSteady) {
      const names = new Set(heard.map(({ name }) => name));
      this.#known = [...heard, ...this.#known.filter(({ name }) => !names.has(name))];
      return;
    }
    this.#known = heard;
    const living = new Set(heard.map(({ instance }) => instance));
    for (const [instance, sent] of [...this.#sent]) {
      if (living.has(instance)) continue;
      for (const lost of [...sent]) lost.abort(new PeerSilent());
    }
  }
}

/** A session of a process, or a worker of a node: the name of what it is part of comes first. */
const isOf = (part: string, whole: string): boolean => part === whole || part.startsWith(`${whole}/`);

function broken(node: string, cause: unknown): GatewayError {
  return new GatewayError(
    'unavailable',
    `The node ${node} was answering this request and is gone. Send the request again.`,
    { retryable: true, detail: 'node_lost', cause },
  );
}
