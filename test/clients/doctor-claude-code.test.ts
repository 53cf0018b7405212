/** `toolgate doctor --claude-code`, with the real program on models that can more and less. */
import { expect, it } from 'vitest';
import { TIMEOUT_MS } from '../faults/counts.js';
import { runCommand } from '../support/gateway.js';
import { json } from '../support/replies.js';
import { inDialect } from '../support/scripted-answers.js';
import { freePort, startUpstream } from '../support/scripted-upstream.js';
import { call, openaiError } from '../support/wire.js';
import { clientProgram } from './programs.js';
import { readRequest, resultsOf, type SeenRequest, userTexts } from './read-request.js';
import { say, use } from './scripted-model.js';
import { makeWorkspace } from './workspace.js';

/** What a model does that follows its instructions; `blind` names those that see no images. */
function follow(seen: SeenRequest) {
  const asked = userTexts(seen).join('\n');
  const { text } = seen.recorded;
  if (text.includes('You are a security monitor')) return say('<severity>0</severity>');
  const results = resultsOf(seen);
  if (asked.includes('note.txt')) {
    const word = /Q\d{7}/.exec(JSON.stringify(results))?.[0];
    return word === undefined
      ? use([call('Read', { file_path: fileIn(text, 'note.txt') }, 'call_1')])
      : say(word);
  }
  if (asked.includes('square.png')) {
    if (results.length === 0) return use([call('Read', { file_path: fileIn(text, 'square.png') }, 'call_1')]);
    return say(text.includes('data:image/png;base64') ? 'Red' : 'I see no image.');
  }
  if (asked.includes('made.txt')) {
    const command = /once and as it is: (node -e .*)/.exec(asked)?.[1];
    return results.length > 0 ? say('Done.') : use([call('Bash', { command, description: 'Run' }, 'call_1')]);
  }
  const word = /Q\d{7}/.exec(asked)?.[0] ?? '';
  if (asked.includes('Give the word')) return use([call('StructuredOutput', { word }, 'call_1')]);
  return say(word);
}

const fileIn = (text: string, name: string): string => {
  const folder = /Primary working directory: ([^\\]+)\\n/.exec(text)?.[1] ?? '';
  return `${folder}/${name}`;
};

it(
  'says of each model what of Claude Code works on it',
  async () => {
    const workspace = await makeWorkspace();
    const upstream = await startUpstream((request, index) => {
      if (request.method === 'GET') return json({ object: 'list', data: [] });
      const seen = readRequest(request);
      if (seen.model === 'broken') return json(openaiError('No credit.', { code: 'x' }), { status: 402 });
      if (seen.model === 'blind' && request.text.includes('image_url'))
        return json(openaiError('This model does not support image input.', { code: 'x' }), { status: 400 });
      return inDialect(follow(seen))(request, index);
    });
    const run = await runCommand({
      folder: workspace.path,
      config: {
        server: { port: await freePort() },
        upstreams: { up: upstream.config('openai-chat') },
        models: {
          'claude-*': { upstream: 'up', model: 'able' },
          blind: { upstream: 'up' },
          broken: { upstream: 'up' },
          helper: { engine: 'native', upstream: 'up' },
        },
      },
      args: [
        'doctor',
        '--config',
        'toolgate.yaml',
        '--claude-code',
        '--claude',
        clientProgram('Claude Code'),
      ],
      env: { HOME: workspace.home, TMPDIR: workspace.home },
    });
    const { code } = await run.exited;
    const lines = run.stdout.split('\n');
    const all = 'answers, tools, images, structured output, auto mode';
    expect(lines[0], run.stdout + run.stderr).toBe(`ok    claude code  claude-opus-5-5: ${all}`);
    expect(lines[1]).toBe(`warn  claude code  blind: ${all.replace(' images,', '')}`);
    expect(lines[2]).toContain('→ not: images ("I see no image.")');
    expect(lines[3]).toBe('FAIL  claude code  broken: does not answer');
    expect(code).toBe(1);
    expect(run.stdout).not.toContain('helper');
  },
  TIMEOUT_MS,
);
