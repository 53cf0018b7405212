/** Two people behind one key, who say the same: whatever route they take and whatever dies, neither sees the other's. */
import { describe, expect, it } from 'vitest';
import { DIALECT_NAMES, type DialectName } from '../../src/core/conversation.js';
import { resultsIn } from '../support/told.js';
import { AgentBed, ENGINES, KEYS, MODEL } from './agent-bed.js';
import { bash, HeldStep, says, words } from './agent-script.js';
import { TIMEOUT_MS } from './counts.js';
import { inTime } from './fault-gateway.js';

interface Said {
  role: 'user' | 'assistant';
  content: string;
}

/** How a person is told from another: by a field of the route, or by the prompt of their own application. */
interface Person {
  user?: string;
  system?: string;
}

const PATHS: Readonly<Record<DialectName, string>> = {
  'anthropic-messages': '/v1/messages',
  'openai-chat': '/v1/chat/completions',
  'openai-responses': '/v1/responses',
};

function bodyOf(dialect: DialectName, messages: readonly Said[], { user, system }: Person): object {
  const model = MODEL;
  switch (dialect) {
    case 'anthropic-messages':
      return {
        model,
        max_tokens: 2000,
        messages,
        ...(system === undefined ? {} : { system }),
        ...(user === undefined ? {} : { metadata: { user_id: user } }),
      };
    case 'openai-chat': {
      const first = system === undefined ? [] : [{ role: 'system', content: system }];
      return { model, messages: [...first, ...messages], ...(user === undefined ? {} : { user }) };
    }
    case 'openai-responses':
      return {
        model,
        input: messages,
        ...(system === undefined ? {} : { instructions: system }),
        ...(user === undefined ? {} : { safety_identifier: user }),
      };
  }
}

async function ask(
  bed: AgentBed,
  dialect: DialectName,
  messages: readonly Said[],
  person: Person,
  headers: Record<string, string> = {},
) {
  const answer = await fetch(`${bed.url}${PATHS[dialect]}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEYS.storm}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(bodyOf(dialect, messages, person)),
  });
  await answer.text();
  return {
    status: answer.status,
    session: answer.headers.get('x-session-id'),
    attach: answer.headers.get('x-toolgate-attach'),
  };
}

const line = (content: string): Said => ({ role: 'user', content });

/** Each run is another line, so that what the server did for one is told from what it did for the other. */
const counted = (id: string, file: string) => bash(id, `echo x >> ${file}; wc -l < ${file}`);

const PAIRS: readonly [string, DialectName, Person, Person][] = [
  ...DIALECT_NAMES.map((dialect): [string, DialectName, Person, Person] => [
    `end users over ${dialect}`,
    dialect,
    { user: 'alice' },
    { user: 'bob' },
  ]),
  ['system prompts', 'anthropic-messages', { system: 'You serve Alice.' }, { system: 'You serve Bob.' }],
];

describe.each(ENGINES)('%s, two people behind one key', (engine) => {
  it('each go on with their own session, also after a kill, and name none of the other', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const bed = await AgentBed.start(engine);
    for (const [index, [name, dialect, alice, bob]] of PAIRS.entries()) {
      const hi = `Hi ${index}.`;
      const call = () => says('', counted(`c${index}`, `n${index}`));
      bed.model.play(hi, [
        [call(), call()],
        [words('Ok.'), words('Ok.')],
      ]);
      const first = [];
      for (const person of [alice, bob]) first.push(await ask(bed, dialect, [line(hi)], person));
      expect([name, ...first.map(({ attach }) => attach)]).toEqual([name, 'new', 'new']);
      if (index % 2 === 1) {
        await bed.kill();
        await bed.restart();
      }
      const more = `And ${index}?`;
      const next = bed.model.play(more, [[words('Yes.'), words('Yes.')]]);
      const history: Said[] = [line(hi), { role: 'assistant', content: 'Ok.' }, line(more)];
      const second = await Promise.all([alice, bob].map((person) => ask(bed, dialect, history, person)));
      expect([name, second]).toEqual([
        name,
        first.map(({ session }) => ({ status: 200, session, attach: 'continue' })),
      ]);
      const hidden = next.requests.map(({ told }) => resultsIn(told).map(({ text }) => text.trim()));
      expect([name, hidden.flat().toSorted()]).toEqual([name, ['1', '2']]);
      if (bob.user === undefined) continue;
      const named = { 'x-session-id': first[0]?.session ?? '' };
      for (const other of [bob, {}]) {
        expect((await ask(bed, dialect, [line('Whose is it?')], other, named)).status).toBe(404);
      }
    }
    expect(bed.model.problems).toEqual([]);
    await bed.close();
  });

  it('a turn of one that a kill broke off is not resumed by the other', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const bed = await AgentBed.start(engine);
    const held = new HeldStep(words('Done with it.'), 'half');
    const prompt = 'Break it.';
    const call = () => says('', counted('b1', 'broken'));
    const turn = bed.model.play(prompt, [
      [call(), call()],
      [held.held, words('Done.'), words('Done.')],
    ]);
    const broken = ask(bed, 'openai-chat', [line(prompt)], { user: 'alice' }).catch(() => undefined);
    await inTime(held.gate.reached, 'the model is asked');
    await bed.kill();
    await broken;
    await bed.restart();
    const [bob, alice] = [
      await ask(bed, 'openai-chat', [line(prompt)], { user: 'bob' }),
      await ask(bed, 'openai-chat', [line(prompt)], { user: 'alice' }),
    ];
    expect([bob.attach, alice.attach]).toEqual(['new', 'new']);
    expect(alice.session).not.toBe(bob.session);
    // Once for Alice, whose result was kept, and once for Bob.
    expect(await bed.linesOf('broken')).toEqual(['x', 'x']);
    const told = turn.requests
      .slice(-2)
      .map((request) => resultsIn(request.told).map(({ text }) => text.trim()));
    expect(told).toEqual([['2'], ['1']]);
    held.gate.open();
    expect(bed.model.problems).toEqual([]);
    await bed.close();
  });
});
