/** What `GET /api/events` tells of turns of Claude Code. */
import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { openWorld, says, user, type World } from '../../support/claude-world.js';
import { EventReader } from '../../support/event-reader.js';
import { hasEnded, isOfTurn } from '../../support/event-world.js';
import { call, type Scripted } from '../../support/wire.js';

async function read({ gateway }: World): Promise<EventReader> {
  const key = new URL(gateway.consoleUrl).hash.replace('#token=', '');
  const reader = await EventReader.open(gateway.url, { key });
  await reader.until(() => true);
  return reader;
}

/** Words for the order of a turn, with equal neighbours told once. */
function orderOf({ events }: EventReader): string[] {
  const words = events.filter(isOfTurn).map((event) => {
    if (event.type === 'turn') return `turn ${event.state}`;
    const of = event.agent === null ? '' : 'agent: ';
    const name = 'name' in event ? ` ${event.name}` : '';
    return `${of}${event.type}${name}${event.type === 'tool_use' ? ` complete=${event.complete}` : ''}`;
  });
  return words.filter((word, index) => word !== words[index - 1]);
}

describe('the events of Claude Code', { timeout: 60_000 }, () => {
  it('are the same for a call of its own and for one of the gateway, with plain names', async () => {
    const world = await openWorld({
      config: { permissions: { mode: 'ask', allow: ['Grep'], unattended: 'deny' } },
    });
    await writeFile(world.path('a.txt'), 'open words');
    const write = { file_path: world.path('b.txt'), content: 'new words\n' };
    const grep: Scripted = {
      parts: [
        { type: 'text', text: 'Let me look.' },
        call('mcp__gateway__Grep', { pattern: 'words', path: world.root }, 'toolu_grep'),
      ],
    };
    world.script({ parts: [call('Write', write, 'toolu_write')] }, grep, says('Done.'));
    const reader = await read(world);
    const answering = world.post({ messages: [user('Go')] });
    const asked = await reader.until((event) => event.type === 'approval');
    if (asked.type !== 'approval') throw new Error('no question');
    const waiting = await reader.until((event) => event.type === 'tool_waiting');
    expect(waiting).toMatchObject({
      tool_use_id: 'toolu_write',
      approval: asked.approval.id,
      title: asked.approval.describe.title,
    });
    expect(asked.approval).toMatchObject({ tool_use_id: 'toolu_write', tool: 'Write' });
    await world.decide({ ...asked.approval }, { decision: 'allow' });
    await answering;
    await reader.until(hasEnded);
    expect(orderOf(reader)).toEqual([
      'turn began',
      'model_start',
      'tool_use Write complete=false',
      'tool_input_delta',
      'tool_use Write complete=true',
      'usage',
      'tool_waiting Write',
      'tool_start Write',
      'tool_result Write',
      'model_start',
      'text',
      'tool_use Grep complete=false',
      'tool_input_delta',
      'tool_use Grep complete=true',
      'usage',
      'tool_start Grep',
      'tool_result Grep',
      'model_start',
      'text',
      'usage',
      'turn ended',
    ]);
    const [written, searched] = reader.of('tool_result');
    expect(written).toMatchObject({
      tool_use_id: 'toolu_write',
      outcome: 'done',
      because: 'allowed by local (api)',
    });
    expect(written?.duration_ms).toBeGreaterThan(0);
    expect(searched).toMatchObject({
      tool_use_id: 'toolu_grep',
      outcome: 'done',
      because: 'rule Grep of the configuration',
    });
    expect(reader.of('tool_start')[0]).toMatchObject({
      kind: 'edit',
      diff: expect.stringContaining('+new words'),
    });
    expect(reader.of('turn').at(-1)).toMatchObject({ end: 'complete', stop_reason: 'end_turn' });
    expect(reader.gaps).toEqual([]);
  });

  it('say why a call was refused, and tell what a sub-agent does under its name', async () => {
    const world = await openWorld({
      config: { permissions: { mode: 'allow', deny: ['Read(./secret.txt)'] } },
    });
    await writeFile(world.path('secret.txt'), 'hidden words');
    await writeFile(world.path('open.txt'), 'open words');
    const task = { description: 'find it', prompt: 'What is it?', subagent_type: 'general-purpose' };
    world.script(
      { parts: [call('Read', { file_path: world.path('secret.txt') }, 'toolu_secret')] },
      { parts: [call('Agent', task, 'toolu_task')] },
      { parts: [call('Read', { file_path: world.path('open.txt') }, 'toolu_inner')] },
      says('Open words.'),
      says('Done.'),
    );
    const reader = await read(world);
    await world.post({ messages: [user('Go')] });
    await reader.until(hasEnded);
    const results = reader.of('tool_result');
    expect(results.find(({ tool_use_id }) => tool_use_id === 'toolu_secret')).toMatchObject({
      outcome: 'denied',
      because: 'rule Read(./secret.txt) of the configuration',
      duration_ms: 0,
    });
    const ofAgent = orderOf(reader).filter((word) => word.startsWith('agent: '));
    // A call may begin before the message that it is in has been counted.
    expect(ofAgent.filter((word) => word === 'agent: usage')).toHaveLength(2);
    expect(ofAgent.filter((word) => word !== 'agent: usage')).toEqual([
      'agent: agent_start',
      'agent: model_start',
      'agent: tool_use Read complete=false',
      'agent: tool_input_delta',
      'agent: tool_use Read complete=true',
      'agent: tool_start Read',
      'agent: tool_result Read',
      'agent: model_start',
      'agent: text',
      'agent: agent_end',
    ]);
    const [inner] = results.filter(({ agent }) => agent !== null);
    expect(inner).toMatchObject({
      tool_use_id: 'toolu_inner',
      outcome: 'done',
      agent: { parent: 'toolu_task', label: 'find it' },
    });
    expect(reader.of('agent_end')[0]).toMatchObject({ turns: 2 });
    expect(
      reader
        .of('tool_use')
        .filter(({ complete }) => complete)
        .map(({ name }) => name),
    ).toContain('Task');
  });
});
