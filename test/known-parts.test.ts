/**
 * What was seen before changes nothing but the cost: the bytes for the upstream, the losses and the
 * names of tools are those of a gateway that sees every request for the first time.
 */
import { describe, expect, it } from 'vitest';
import type { DialectName, JsonObject } from '../src/core/conversation.js';
import { GatewayError } from '../src/core/errors.js';
import { LossLog } from '../src/core/losses.js';
import { DIALECTS } from '../src/dialects/all.js';
import { KnownParts } from '../src/dialects/shared/known-parts.js';
import type { Quirks } from '../src/dialects/shared/quirks.js';
import { writeJson } from '../src/dialects/shared/write-json.js';
import { createQuirkSource } from '../src/upstreams/quirks/create-quirk-source.js';
import { PROFILES } from '../src/upstreams/quirks/profiles.js';
import { checksOf } from './conformance/checks.js';
import { DIALECT_OF, WIRES, type WireName } from './conformance/dialects.js';
import { loadCases } from './conformance/load.js';
import { bodyOf } from './conformance/run.js';
import { writeRequest } from './conformance/write-request.js';
import { count, LONG, SEED, TIMEOUT_MS } from './faults/counts.js';
import { Conversation } from './support/random-conversation.js';

const DEPTH = 100;

const TARGETS: readonly { dialect: DialectName; model: string; quirks: Quirks }[] = (
  ['anthropic-messages', 'openai-chat', 'openai-responses'] as const
).flatMap((dialect) =>
  Object.keys(PROFILES).map((profile) => {
    const source = createQuirkSource({
      upstream: 'test',
      options: { dialect, base_url: 'http://127.0.0.1/v1', api_key: 'none', profile, timeout_s: 60 },
    });
    return { dialect, model: 'gpt-5.4', quirks: source.of('gpt-5.4') };
  }),
);

/** Everything that is called by a name in it. */
function namesIn(value: unknown, found = new Set<string>()): ReadonlySet<string> {
  if (typeof value !== 'object' || value === null) return found;
  for (const [key, each] of Object.entries(value)) {
    if (key === 'name' && typeof each === 'string') found.add(each);
    else namesIn(each, found);
  }
  return found;
}

/** What goes to the upstream, or the error that the client gets. */
function translate(
  client: DialectName,
  body: unknown,
  { dialect, model, quirks }: (typeof TARGETS)[number],
): string {
  try {
    const request = DIALECTS[client].ingress.decodeRequest(body);
    const losses = new LossLog();
    const encoded = DIALECTS[dialect].egress.encodeRequest(request, { model, quirks, losses });
    const { names, path } = encoded;
    const called = [...namesIn(encoded.body)].map((name) => [
      name,
      names.decode(name),
      names.offered.has(name),
    ]);
    // The bytes as they are, then what is made of the request beside them.
    return `${writeJson(encoded.body)}\n${JSON.stringify({ path, losses: losses.list(), called })}`;
  } catch (error) {
    if (error instanceof GatewayError) return error.message;
    throw error;
  }
}

/** The same body for a gateway that knows its parts, and for one that does not. */
function compare(known: KnownParts, client: DialectName, body: JsonObject, targets: typeof TARGETS): void {
  const text = JSON.stringify(body);
  const { lists } = DIALECTS[client].ingress;
  for (const target of targets) {
    const parsed = known.parse('key', lists, Buffer.from(text)) ?? JSON.parse(text);
    expect(translate(client, parsed, target)).toBe(translate(client, JSON.parse(text), target));
  }
}

describe('what goes upstream is the same, known or not', () => {
  it('for every request of the conformance cases, three times each', { timeout: TIMEOUT_MS }, () => {
    const known = new KnownParts(DEPTH, { leastBytes: 0 });
    const checks = loadCases()
      .flatMap(checksOf)
      .filter(({ stream }) => !stream);
    for (const [index, check] of checks.entries()) {
      const body = bodyOf(check, 'conformance');
      const targets = TARGETS.filter(({ dialect }) => dialect === DIALECT_OF[check.pair.upstream]);
      const some = LONG ? targets : targets.slice(index % targets.length).slice(0, 1);
      compare(known, DIALECT_OF[check.pair.client], body, [...some, ...some, ...some]);
    }
    expect(checks.length).toBeGreaterThan(500);
  });

  it('for a result that changes beside a call that is known', () => {
    const known = new KnownParts(DEPTH, { leastBytes: 0 });
    const bodyWith = (wire: WireName, content: string) => ({
      model: 'm',
      ...writeRequest(wire, {
        turns: [
          'Hi',
          { assistant: [{ call: { id: 'call_1', name: 'Bash', input: { command: 'ls' } } }] },
          { user: [{ result: { id: 'call_1', content } }] },
          { assistant: 'Done.' },
          'Go on',
        ],
        tools: ['Bash'],
      }),
    });
    for (const wire of WIRES) {
      for (let time = 0; time < 3; time += 1)
        compare(known, DIALECT_OF[wire], bodyWith(wire, 'a.txt'), TARGETS);
      compare(known, DIALECT_OF[wire], bodyWith(wire, '[cleared]'), TARGETS);
    }
  });

  it(`for ${count(200, 10_000)} random conversations, turn by turn`, { timeout: TIMEOUT_MS }, () => {
    const known = new KnownParts(DEPTH, { leastBytes: 0, budget: 2_000_000 });
    for (let index = 0; index < count(200, 10_000); index += 1) {
      const seed = SEED + index;
      const conversation = new Conversation(seed);
      const wire = WIRES[index % WIRES.length] ?? 'messages';
      const target = TARGETS[conversation.below(TARGETS.length)];
      if (target === undefined) throw new Error('There is no target');
      for (let turn = 0; turn < 6; turn += 1) {
        conversation.goOn();
        const spec = conversation.specFor(wire);
        const body = conversation.decorate(wire, { model: 'm', ...writeRequest(wire, spec) });
        try {
          compare(known, DIALECT_OF[wire], body, [target]);
        } catch (error) {
          throw new Error(`Conversation ${seed}, turn ${turn}, ${wire} > ${target.dialect}`, {
            cause: error,
          });
        }
      }
    }
  });
});
