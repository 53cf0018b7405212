/** A call that needs a person asks the one at the client, where their key may decide (`input_required`). */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { deferred } from '../support/gate.js';
import { startGatewayProcess } from '../support/gateway.js';
import { until } from '../support/until.js';
import { isRecord } from '../support/violation.js';
import {
  answerOf,
  api,
  connectNewest,
  decide,
  inWork,
  KEYS,
  lookIn,
  pending,
  sendStateless,
  startVirtual,
  stateless,
  textOf,
} from './mcp-virtual-harness.js';

const bash = (command: string) => ({ name: 'Bash', arguments: { command } });
const FORMS = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };
const ask = { permissions: { mode: 'ask', unattended: 'deny' } };

/** What a client that is written by hand has to send again. */
const stateOf = (answer: unknown): string => {
  const result = isRecord(answer) && isRecord(answer['result']) ? answer['result'] : {};
  expect(result).toMatchObject({
    resultType: 'input_required',
    inputRequests: { approval: { method: 'elicitation/create', params: { mode: 'form' } } },
    requestState: expect.any(String),
  });
  return String(result['requestState']);
};

const again = (command: string, requestState: string, answer: object) =>
  stateless(
    'tools/call',
    { ...bash(command), requestState, inputResponses: { approval: answer } },
    { id: 2, meta: FORMS },
  );

const YES = { action: 'accept', content: { decision: 'allow' } };

describe('the person at the client', () => {
  it('is shown what would run, and lets it run', async () => {
    const gateway = await startVirtual(ask);
    const shown: string[] = [];
    const { client } = await connectNewest(gateway, {
      answerForm: async (message) => {
        shown.push(message);
        return { action: 'accept', content: { decision: 'allow' } };
      },
    });
    const result = await client.callTool(bash('echo yes > out'));
    expect(result).toMatchObject({ isError: false });
    expect(shown).toEqual([expect.stringContaining('echo yes > out')]);
    expect(await readFile(inWork(gateway, 'out'), 'utf8')).toBe('yes\n');
    const { json } = await api(gateway, '/api/approvals?state=all');
    expect(json['data']).toMatchObject([{ state: 'allowed', decision: { by: 'alice', via: 'mcp' } }]);
  });

  it('refuses it with a reason that the model reads, or by declining', async () => {
    const gateway = await startVirtual(ask);
    const refusing = await connectNewest(gateway, {
      answerForm: async () => ({
        action: 'accept',
        content: { decision: 'deny', reason: 'not on a Friday' },
      }),
    });
    const refused = await refusing.client.callTool(bash('touch it'));
    expect(refused).toMatchObject({ isError: true, _meta: { 'toolgate/outcome': 'denied' } });
    expect(textOf(refused)).toContain('not on a Friday');
    const declining = await connectNewest(gateway, { answerForm: async () => ({ action: 'decline' }) });
    expect(await declining.client.callTool(bash('touch it'))).toMatchObject({
      isError: true,
      _meta: { 'toolgate/outcome': 'denied' },
    });
    await expect(readFile(inWork(gateway, 'it'))).rejects.toThrow('ENOENT');
  });

  it('that closes the form leaves the question to the others', async () => {
    const gateway = await startVirtual(ask);
    const closed = deferred();
    const { client } = await connectNewest(gateway, {
      answerForm: async () => {
        closed.resolve();
        return { action: 'cancel' };
      },
    });
    const calling = client.callTool(bash('echo later'));
    await closed.promise;
    await decide(gateway, await pending(gateway), { decision: 'allow' });
    expect(textOf(await calling)).toContain('later');
  });

  it('may be overtaken by somebody at the console, and the first decision holds', async () => {
    const gateway = await startVirtual(ask);
    const { client } = await connectNewest(gateway, {
      answerForm: async () => {
        await decide(gateway, await pending(gateway), { decision: 'deny', reason: 'first' });
        return { action: 'accept', content: { decision: 'allow' } };
      },
    });
    expect(textOf(await client.callTool(bash('touch it')))).toContain('first');
    await expect(readFile(inWork(gateway, 'it'))).rejects.toThrow('ENOENT');
  });

  it('of a key without the scope approve is not asked', async () => {
    const gateway = await startVirtual({ permissions: { mode: 'ask' } });
    const { client } = await connectNewest(gateway, {
      key: 'key-of-bob',
      answerForm: () => Promise.reject(new Error('asked')),
    });
    await lookIn(gateway);
    const calling = client.callTool(bash('echo waits'));
    await decide(gateway, await pending(gateway), { decision: 'allow' });
    expect(textOf(await calling)).toContain('waits');
  });
});

describe('an answer', () => {
  it('is taken for its own call alone, of its own key, once', async () => {
    const keys = [
      ...KEYS,
      { key: 'key-of-carol', name: 'carol', scopes: ['call', 'approve'], models: ['*'] },
    ];
    const gateway = await startVirtual({ ...ask, more: { server: { keys } } });
    const call = stateless('tools/call', bash('echo mine'), { meta: FORMS });
    const state = stateOf(await answerOf(await sendStateless(gateway, call)));
    const wrong = [
      await answerOf(await sendStateless(gateway, again('echo mine', state, YES), { key: 'key-of-carol' })),
      await answerOf(await sendStateless(gateway, again('echo other', state, YES))),
      await answerOf(await sendStateless(gateway, again('echo mine', 'made up', YES))),
    ];
    for (const answer of wrong) {
      expect(answer).toMatchObject({ result: { isError: true } });
      expect(textOf(answer['result'])).toContain('does not know this call');
    }
    expect(await pending(gateway)).toMatchObject({ state: 'pending' });
    const done = await answerOf(await sendStateless(gateway, again('echo mine', state, YES)));
    expect(textOf(done['result'])).toContain('mine');
    const repeated = await answerOf(await sendStateless(gateway, again('echo mine', state, YES)));
    expect(textOf(repeated['result'])).toContain('does not know this call');
  });

  it.each([
    { action: 'accept', content: { decision: 'maybe' } },
    { action: 'accept', content: { decision: ['allow'] } },
    { action: 'accept' },
    { action: 'allow' },
    {},
  ])('that is no clear word decides nothing: %j', async (unclear) => {
    const gateway = await startVirtual(ask);
    const call = stateless('tools/call', bash('touch it'), { meta: FORMS });
    const state = stateOf(await answerOf(await sendStateless(gateway, call)));
    const answering = sendStateless(gateway, again('touch it', state, unclear)).then(answerOf);
    await decide(gateway, await pending(gateway), { decision: 'deny' });
    expect(await answering).toMatchObject({ result: { isError: true } });
    await expect(readFile(inWork(gateway, 'it'))).rejects.toThrow('ENOENT');
  });

  it('that never comes ends the call, and its question is withdrawn', async () => {
    const gateway = await startVirtual({ ...ask, limits: { idleMs: 1, sweepMs: 5 } });
    const call = stateless('tools/call', bash('touch it'), { meta: FORMS });
    stateOf(await answerOf(await sendStateless(gateway, call)));
    await until(async () => {
      const { json } = await api(gateway, '/api/approvals?state=all');
      const [first] = Array.isArray(json['data']) ? json['data'] : [];
      return isRecord(first) && first['state'] === 'cancelled';
    });
  });
});

describe('a call that waits for its client', () => {
  it('is not run by an answer after kill -9, and its question can still be seen and closed', async () => {
    const config = {
      server: { keys: KEYS },
      models: { here: { engine: 'native', upstream: 'demo', cwd: '.' } },
      permissions: { mode: 'ask' },
      sandbox: 'off',
    };
    const gateway = await startGatewayProcess({ config });
    const call = stateless('tools/call', bash('touch it'), { meta: FORMS });
    const state = stateOf(await answerOf(await sendStateless(gateway, call)));
    const { id, digest } = await pending(gateway);
    await gateway.kill();
    const restarted = await startGatewayProcess({ config, folder: gateway.folder });
    const late = await answerOf(await sendStateless(restarted, again('touch it', state, YES)));
    expect(late).toMatchObject({ result: { isError: true } });
    expect(textOf(late['result'])).toContain('Whether it ran is not known');
    const left = await pending(restarted);
    expect(left).toMatchObject({ id, digest });
    expect((await decide(restarted, left, { decision: 'allow' })).status).toBe(200);
    await expect(readFile(`${restarted.folder}/it`)).rejects.toThrow('ENOENT');
  });
});
