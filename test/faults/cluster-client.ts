/** Clients of a cluster: they come to any node, and send again what was not answered, to any other. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { found } from './agent-client.js';
import { type ClusterBed, type ClusterNode, callOf, KEY } from './cluster-bed.js';
import type { Random } from './random.js';

/** As often as a client tries: longer than a restart of a node or of the database takes on a busy machine. */
const TRIES = 200;
const PAUSE_MS = 500;

interface Answer {
  text: string;
  calls: { id: string; name: string; input: unknown }[];
}

type Attempt = { answer: Answer } | { again: string } | { refused: string };

const RETRIED: ReadonlySet<number> = new Set([408, 409, 429, 500, 502, 503, 504, 529]);

export class ClusterClient {
  readonly #bed: ClusterBed;
  readonly #random: Random;
  readonly #history: object[] = [];

  constructor(bed: ClusterBed, random: Random) {
    this.#bed = bed;
    this.#random = random;
  }

  /** One turn with the agent, tool calls of the client included; `isNew`: of a conversation that begins. */
  async talk(turn: string, isNew: boolean): Promise<void> {
    if (isNew) this.#history.length = 0;
    this.#history.push({ role: 'user', content: `Turn ${turn}.` });
    const first = await this.#ask(`${turn} begin`, 'agent');
    if (first === undefined) return;
    this.#history.push(messageOf(first));
    const id = callOf(turn);
    const result = { type: 'tool_result', tool_use_id: id, content: found({ id }) };
    this.#history.push({ role: 'user', content: [result] });
    const last = await this.#ask(`${turn} results`, 'agent');
    if (last !== undefined) this.#history.push(messageOf(last));
  }

  async relay(turn: string): Promise<void> {
    this.#history.splice(0, this.#history.length, { role: 'user', content: `Turn ${turn}.` });
    await this.#ask(`${turn} plain`, 'plain');
  }

  /** Until it is answered. Sometimes it is impatient and asks a second node meanwhile. */
  async #ask(request: string, model: string): Promise<Answer | undefined> {
    const { history } = this.#bed;
    const key = randomUUID();
    let last = '';
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const nodes = this.#random.shuffled(this.#bed.nodes).slice(0, this.#random.chance(0.25) ? 2 : 1);
      const tried = await Promise.all(nodes.map((node) => this.#try(node, request, { model, key, attempt })));
      let answer: Answer | undefined;
      for (const each of tried) {
        if ('answer' in each) {
          ({ answer } = each);
          const calls = answer.calls.filter(({ name }) => name === 'lookup').map(({ id }) => id);
          history.push({ kind: 'answered', request, text: answer.text, calls });
        } else if ('refused' in each) {
          history.push({ kind: 'gave-up', request, last: each.refused });
          return undefined;
        } else last = each.again;
      }
      if (answer !== undefined) return answer;
      await pause(PAUSE_MS);
    }
    history.push({ kind: 'gave-up', request, last });
    return undefined;
  }

  async #try(
    { url, name }: ClusterNode,
    request: string,
    { model, key, attempt }: { model: string; key: string; attempt: number },
  ): Promise<Attempt> {
    let text = '';
    let isOver = false;
    let status = 0;
    try {
      const answer = await fetch(`${url}/v1/messages`, {
        method: 'POST',
        headers: {
          ...{ authorization: `Bearer ${KEY}`, 'content-type': 'application/json', 'idempotency-key': key },
          'x-stainless-retry-count': String(attempt),
        },
        body: JSON.stringify({
          ...{ model, max_tokens: 999, stream: true, messages: this.#history },
          ...(model === 'agent' && { tools: [LOOKUP] }),
        }),
      });
      ({ status } = answer);
      const decoder = new TextDecoder();
      for await (const chunk of answer.body ?? []) text += decoder.decode(chunk, { stream: true });
      isOver = true;
    } catch (error) {
      if (status === 0) return { again: `${name}: ${String(error)}` };
    }
    if (status !== 200) {
      const what = `${name}: ${status} ${text}`;
      return RETRIED.has(status) || !isOver ? { again: what } : { refused: what };
    }
    const isWhole = text.includes('event: message_stop');
    const end = isWhole ? 'whole' : text.includes('event: error') ? 'error' : isOver ? 'none' : 'cut';
    this.#bed.history.push({ kind: 'stream', request, end });
    return isWhole ? { answer: read(text) } : { again: `${name}: ${end} ${text.slice(-300)}` };
  }
}

const LOOKUP = { name: 'lookup', description: 'Looks it up.', input_schema: { type: 'object' } };

function read(stream: string): Answer {
  const answer: Answer = { text: '', calls: [] };
  let json = '';
  for (const [, data = ''] of stream.matchAll(/^data: (.*)$/gm)) {
    const event = JSON.parse(data);
    if (event.type === 'content_block_start' && event.content_block.type === 'tool_use') {
      answer.calls.push({ id: event.content_block.id, name: event.content_block.name, input: {} });
      json = '';
    }
    if (event.type !== 'content_block_delta') continue;
    if (event.delta.type === 'text_delta') answer.text += event.delta.text;
    if (event.delta.type !== 'input_json_delta') continue;
    json += event.delta.partial_json;
    const call = answer.calls.at(-1);
    if (call !== undefined && isJson(json)) call.input = JSON.parse(json);
  }
  return answer;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function messageOf({ text, calls }: Answer): object {
  const content: object[] = calls.map((call) => ({ type: 'tool_use', ...call }));
  if (text !== '') content.unshift({ type: 'text', text });
  return { role: 'assistant', content };
}

/** A person at any node: decides whatever waits, until `isOver`. */
export async function approveAll(bed: ClusterBed, random: Random, isOver: () => boolean): Promise<void> {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  while (!isOver()) {
    await pause(50);
    try {
      const shown = await fetch(`${random.pick(bed.nodes).url}/api/approvals?state=pending`, { headers });
      for (const { id, digest } of waitingIn(JSON.parse(await shown.text()))) {
        const node = random.pick(bed.nodes);
        const body = JSON.stringify({ decision: 'allow', digest });
        const answer = await fetch(`${node.url}/api/approvals/${id}`, { method: 'POST', headers, body });
        await answer.text();
        if (answer.status === 200) bed.history.push({ kind: 'decided', approval: id, node: node.name });
      }
    } catch {
      // The node is away: the next look goes to any of them.
    }
  }
}

function waitingIn(body: { data: { id: string; digest: string }[] }): { id: string; digest: string }[] {
  return body.data;
}
