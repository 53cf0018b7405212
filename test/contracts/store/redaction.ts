import { describe, expect, it } from 'vitest';
import { approval } from './approvals.js';
import { type Bench, ownSession, START, TTL } from './place.js';
import { trace } from './traces.js';

const SECRET = 'sk-123456';
const redact = (text: string) => text.replaceAll(SECRET, '***');

export function redactionContract(bench: () => Bench): void {
  describe('redaction', () => {
    it('takes secrets out of what is only shown to people', async () => {
      const store = await bench().open({ redact });
      const leak = `key ${SECRET}.`;
      const { step } = await ownSession(store, 's1', { title: leak });
      const entries = [{ uuid: 'u', message: 'm', meta: { note: [leak], [leak]: 1 } }];
      await step({ append: [{ entries }] });
      store.traces.record(
        trace('r1', {
          model: leak,
          losses: [{ path: 'p', reason: leak }],
          repairs: [leak],
          summary: { a: [{ b: leak }] },
          payload: {
            cut: false,
            inbound: { path: leak, headers: { authorization: leak, [SECRET]: '1' }, body: Buffer.from(leak) },
            attempts: [
              {
                upstream: leak,
                wire: 'openai-chat',
                url: leak,
                body: leak,
                status: 200,
                headers: { a: leak },
              },
              {
                upstream: 'u',
                wire: 'openai-chat',
                url: '',
                body: Buffer.from(leak),
                status: 200,
                headers: {},
              },
            ],
            timeline: [
              { ms: 1, from: 'upstream', attempt: 0, data: Buffer.from(leak) },
              // A character that the network cut in two is before it.
              { ms: 1, from: 'upstream', attempt: 0, data: Buffer.from(`修${leak}`).subarray(1) },
              { ms: 2, from: 'gateway', data: leak },
            ],
            size: 100,
          },
        }),
      );
      await store.audit.append({
        event: 'e',
        by: leak,
        principal: 'a',
        tool: leak,
        what: leak,
        why: leak,
        rule: leak,
        call: { effects: [{ kind: 'command', command: leak }] },
      });
      await store.quirks.put({ upstream: 'u', model: 'm', key: 'k', value: { v: leak }, evidence: leak });
      store.usage.record({
        at: START,
        principal: 'a',
        model: leak,
        upstream: 'u',
        status: 400,
        inputTokens: 0,
        outputTokens: 0,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        latencyMs: 1,
      });
      const seen = JSON.stringify([
        await store.sessions.get('s1'),
        await store.transcripts.read('s1'),
        await store.traces.get('r1'),
        await store.traces.list({ limit: 9 }),
        await store.audit.list({ limit: 9, calls: true }),
        await store.quirks.list(),
        await store.usage.summarise({ from: 0, to: START + 1, by: ['model'] }),
      ]);
      expect(seen).not.toContain(SECRET);
      expect(seen.match(/\*\*\*/g)?.length).toBeGreaterThanOrEqual(27);
    });

    it('puts a redacted reason in the audit log of a decision, and the whole one before the model', async () => {
      const store = await bench().open({ redact });
      await store.approvals.create(approval('a1'));
      const reason = `use ${SECRET} instead`;
      const verdict = { state: 'denied', digest: 'digest-a1', by: 'bob', via: 'api', reason } as const;
      await store.approvals.decide('a1', verdict);
      expect((await store.approvals.get('a1'))?.decision?.reason).toBe(reason);
      expect((await store.audit.list({ limit: 1 })).items[0]?.why).toBe('use *** instead');
    });

    it('changes nothing that is executed, sent on or compared', async () => {
      const store = await bench().open({ redact });
      const { step } = await ownSession(store, 's1', { metadata: { tools: [SECRET] } });
      const content = [{ type: 'text' as const, text: SECRET }];
      await step({
        append: [{ entries: [{ uuid: 'u', message: { content } }] }],
        open: [{ id: 'c', name: 'f', input: { token: SECRET }, runBy: 'client' }],
        answer: { key: 'k', digest: 'd', body: { text: SECRET }, expiresAt: START + TTL },
      });
      await store.toolCalls.record('s1', [{ id: 'c', content, isError: false }], 'alice');
      await store.approvals.create(approval('a1', { input: { command: SECRET } }));
      expect((await store.sessions.get('s1'))?.metadata).toEqual({ tools: [SECRET] });
      expect((await store.transcripts.read('s1'))[0]?.message).toEqual({ content });
      const [call] = await store.toolCalls.list('s1');
      expect([call?.input, call?.result?.content]).toEqual([{ token: SECRET }, content]);
      expect((await store.answers.get('alice', 'k'))?.body).toEqual({ text: SECRET });
      expect((await store.approvals.get('a1'))?.input).toEqual({ command: SECRET });
    });
  });
}
