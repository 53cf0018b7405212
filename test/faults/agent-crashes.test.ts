/** Deaths beside those of the table: again and again, of Claude Code itself, of servers that do not listen. */
import { describe, expect, it } from 'vitest';
import { oddServer } from '../support/mcp-servers.js';
import { descendants, isClaudeCode, type SeenProcess } from '../support/processes.js';
import type { AgentStep } from '../support/scripted-agent-model.js';
import { until } from '../support/until.js';
import { AgentBed, ENGINES, KEYS, MODEL } from './agent-bed.js';
import { CLIENTS, type Line, type Reply, resultOf, results, said, user } from './agent-client.js';
import { bash, HeldStep, lookup, says, words } from './agent-script.js';
import { count, TIMEOUT_MS } from './counts.js';
import { inTime } from './fault-gateway.js';

const [client] = CLIENTS;
const FINAL = 'And that was the end of it, after all.';

const ask = (bed: AgentBed, lines: readonly Line[], headers: Record<string, string> = {}): Promise<Reply> =>
  inTime(
    client.ask({ url: bed.url, key: KEYS.storm, model: MODEL, lines, headers }),
    JSON.stringify(lines.at(-1)),
  );

const broken = (reply: Promise<Reply>): Promise<'answered' | 'broken'> =>
  reply.then(
    () => 'answered',
    () => 'broken',
  );

describe.each(ENGINES)('%s', (engine) => {
  it('goes on however often the gateway is killed', { timeout: TIMEOUT_MS }, async () => {
    const bed = await AgentBed.start(engine);
    const kills = count(2, 3);
    const held = Array.from({ length: kills }, () => new HeldStep(words(FINAL), 'half'));
    const last: AgentStep[] = [...held.map((step) => step.held), words(FINAL)];
    bed.model.play('Again.', [
      says('Running. ', bash('again_x', 'echo ran >> again_x.txt'), lookup('again_a')),
      last,
    ]);
    const first = await ask(bed, [user('Again.')]);
    const lines = [user('Again.'), said(first), results(first.calls.map(resultOf))];
    for (const { gate } of held) {
      const lost = broken(ask(bed, lines));
      await inTime(gate.reached, 'the model is asked');
      await bed.kill();
      expect(await lost).toBe('broken');
      await bed.restart();
    }
    expect(await ask(bed, lines)).toMatchObject({ text: FINAL, session: first.session, attach: 'continue' });
    expect(await bed.linesOf('again_x.txt')).toEqual(['ran']);
    expect(bed.model.problems).toEqual([]);
    await bed.nothingLeft();
    await bed.close();
  });

  it('ends servers that do not listen when a gateway that was killed is started again', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const bed = await AgentBed.start(engine, { mcpServers: { odd: oddServer('stubborn') } });
    bed.model.play('Serve.', [says('', lookup('serve_a'))]);
    await ask(bed, [user('Serve.')]);
    await connected(bed);
    const servers = descendants(bed.gateway.pid).filter(({ command }) => command.includes('mcp-odd-server'));
    expect(servers).toHaveLength(1);
    await bed.kill();
    await bed.restart();
    await bed.nothingLeft();
    await bed.close();
  });

  it('answers a request with an Idempotency-Key once, also after a kill', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const bed = await AgentBed.start(engine);
    const turn = bed.model.play('Once.', [says('', bash('once_x', 'echo ran >> once_x.txt')), words(FINAL)]);
    const headers = { 'idempotency-key': 'one-and-only' };
    expect(await ask(bed, [user('Once.')], headers)).toMatchObject({ text: FINAL });
    await bed.kill();
    await bed.restart();
    expect(await ask(bed, [user('Once.')], headers)).toMatchObject({ text: FINAL });
    expect(turn.requests).toHaveLength(2);
    expect(await bed.linesOf('once_x.txt')).toEqual(['ran']);
    await bed.close();
  });
});

describe('Claude Code itself is killed', () => {
  const own = ({ gateway: { pid } }: AgentBed): SeenProcess[] =>
    descendants(pid).filter((each) => each.parent === pid && isClaudeCode(each));

  const killAll = (bed: AgentBed): void => {
    const found = own(bed);
    expect(found.length).toBeGreaterThan(0);
    for (const { pid } of found) process.kill(pid, 'SIGKILL');
  };

  it('while its conversation waits for the client', { timeout: TIMEOUT_MS }, async () => {
    const bed = await AgentBed.start('claude-code', { sessions: { max_live: 8 } });
    bed.model.play('Parked.', [
      says('Looking. ', bash('parked_x', 'echo ran >> parked_x.txt'), lookup('parked_a'), lookup('parked_b')),
      words(FINAL),
    ]);
    const first = await ask(bed, [user('Parked.')]);
    killAll(bed);
    const lines = [user('Parked.'), said(first), results(first.calls.map(resultOf))];
    expect(await ask(bed, lines)).toMatchObject({ text: FINAL, session: first.session, attach: 'continue' });
    expect(await bed.linesOf('parked_x.txt')).toEqual(['ran']);
    expect(bed.model.problems).toEqual([]);
    await bed.close();
  });

  it('while the model answers: the turn is recovered, or reported and gone on with', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const bed = await AgentBed.start('claude-code');
    const held = new HeldStep(words(FINAL), 'half');
    bed.model.play('Middle.', [
      says('Looking. ', bash('middle_x', 'echo ran >> middle_x.txt'), lookup('middle_a')),
      held.steps,
    ]);
    const first = await ask(bed, [user('Middle.')]);
    const lines = [user('Middle.'), said(first), results(first.calls.map(resultOf))];
    const reply = broken(ask(bed, lines));
    await inTime(held.gate.reached, 'the model is asked');
    killAll(bed);
    held.gate.open();
    await inTime(reply, 'the answer to the request whose process died');
    expect(await ask(bed, lines)).toMatchObject({ text: FINAL, session: first.session });
    expect(await bed.linesOf('middle_x.txt')).toEqual(['ran']);
    expect(bed.model.problems).toEqual([]);
    await bed.close();
  });

  it('between two messages of one turn: nothing is said twice', { timeout: TIMEOUT_MS }, async () => {
    const bed = await AgentBed.start('claude-code');
    const held = new HeldStep(words(FINAL), 'before');
    bed.model.play('Later.', [says('Running. ', bash('later_x', 'echo ran >> later_x.txt')), held.steps]);
    const lines = [user('Later.')];
    const reply = ask(bed, lines).catch(() => undefined);
    await inTime(held.gate.reached, 'the model is asked');
    killAll(bed);
    held.gate.open();
    // Where it was reported, the client sends it again.
    const answer =
      (await inTime(reply, 'the answer to the request whose process died')) ?? (await ask(bed, lines));
    expect(answer.text).toBe(`Running. ${FINAL}`);
    expect(await bed.linesOf('later_x.txt')).toEqual(['ran']);
    expect(bed.model.problems).toEqual([]);
    await bed.close();
  });
});

/** Resolves when the MCP servers of the bed are connected. Each look is a request of its own. */
async function connected(bed: AgentBed): Promise<void> {
  await until(async () => JSON.stringify(await bed.api('GET', '/api/mcp')).includes('"connected"'));
}
