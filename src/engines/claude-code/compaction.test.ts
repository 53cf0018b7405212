import { appendFileSync } from 'node:fs';
import { describe, it } from 'vitest';
import { contentOf, openWorld, says, user } from '../../../test/support/claude-world.js';
import { errorInDialect } from '../../../test/support/scripted-answers.js';
import { Inbox } from './inbox.js';
import { ModelHop } from './model-hop.js';

describe('measure', { timeout: 60_000 }, () => {
  it('overflow', async () => {
    const world = await openWorld();
    const messages: object[] = [];
    for (const n of [1, 2]) {
      messages.push(user(`Question ${n} ${'word '.repeat(300)}`));
      world.script(says(`Answer ${n}`));
      const a = await world.post({ messages });
      messages.push({ role: 'assistant', content: a.body['content'] });
    }
    const out = (x: unknown) => appendFileSync('/tmp/x2.log', JSON.stringify(x) + '\n');
    const run = ModelHop.prototype.run;
    ModelHop.prototype.run = function (call) {
      out({
        HOP: call.headers,
        req: {
          ...call.request,
          messages: call.request.messages.length,
          tools: call.request.tools.map((t) => t.name),
          system: 0,
        },
      });
      return run.call(this, call);
    };
    const push = Inbox.prototype.push;
    Inbox.prototype.push = function (item: any) {
      if (item.kind === 'message') {
        const m = item.message;
        if (m.type !== 'stream_event') out({ IN: m });
        else out({ ev: m.event.type });
      } else out({ kind: item.kind, error: item.error?.message });
      return push.call(this, item);
    };
    messages.push(user('Question 3'));
    world.script(
      (request) =>
        errorInDialect(
          400,
          'invalid_request_error',
          'prompt is too long: 210000 tokens > 200000 maximum',
        )(request, 0),
      says('<summary>SUMMARY</summary>'),
      says('Answer 3'),
      says('Extra'),
    );
    const end = await world.post({ messages, temperature: 0.5, stop_sequences: ['STOP'], max_tokens: 321 });
    console.log(end.status, JSON.stringify(end.body));
    for (const [i, r] of world.upstream.requests.entries()) {
      const j = r.json;
      console.log(
        i,
        JSON.stringify(r.headers),
        Object.keys(j),
        'mt',
        j['max_tokens'],
        'temp',
        j['temperature'],
        'stop',
        j['stop_sequences'],
        'tools',
        (j['tools'] as unknown[] | undefined)?.length,
        'tc',
        JSON.stringify(j['tool_choice']),
        'SYS',
        JSON.stringify(j['system']).slice(0, 200),
        'LAST',
        JSON.stringify((j['messages'] as unknown[]).at(-1)).slice(-600),
        'N',
        (j['messages'] as unknown[]).length,
      );
    }
    console.log(JSON.stringify(contentOf(end)));
  });
});
