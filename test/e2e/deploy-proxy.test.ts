/** The proxy of deploy/nginx.conf for real, in front of two gateways on loopback. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { closeAfterTest, tempFolder } from '../support/cleanup.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { openResponsesSocket } from '../support/responses-socket.js';
import { inDialect } from '../support/scripted-answers.js';
import {
  freePort,
  gate,
  type Script,
  type ScriptedUpstream,
  sse,
  startUpstream,
} from '../support/scripted-upstream.js';
import { ROOT } from '../support/source-tree.js';
import { systemProgram } from '../support/system-program.js';
import { until } from '../support/until.js';
import { chatStream, textAnswer } from '../support/wire.js';

interface World {
  url: string;
  nodes: TestGateway[];
  upstream: ScriptedUpstream;
}

async function startWorld(script: Script): Promise<World> {
  const upstream = await startUpstream(script);
  const config = {
    server: { public_hosts: ['127.0.0.1'] },
    upstreams: { theirs: upstream.config('openai-chat') },
    models: { m: { upstream: 'theirs' } },
  };
  const nodes = [await startTestGateway({ config }), await startTestGateway({ config })];
  const port = await freePort();
  const { path: folder } = await tempFolder('toolgate-nginx');
  const ports = nodes.map(({ url }) => new URL(url).port);
  const text = readFileSync(join(ROOT, 'deploy/nginx.conf'), 'utf8')
    .replace('node-a:3000', `127.0.0.1:${ports[0]}`)
    .replace('node-b:3000', `127.0.0.1:${ports[1]}`)
    .replace('listen 8080;', `listen 127.0.0.1:${port};`)
    .replace('worker_processes auto;', 'worker_processes 1;')
    // Where it may write here; in a container it has its own.
    .replace(
      'http {\n',
      `http {\n${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `  ${name}_temp_path ${folder}/${name};\n`).join('')}`,
    );
  const file = join(folder, 'nginx.conf');
  await writeFile(file, text);
  const own = `daemon off; pid ${folder}/nginx.pid;${process.getuid?.() === 0 ? ' user root;' : ''}`;
  const nginx = spawn(systemProgram('nginx'), ['-p', folder, '-c', file, '-g', own], { stdio: 'ignore' });
  const over = once(nginx, 'exit');
  closeAfterTest(async () => {
    nginx.kill('SIGTERM');
    await over;
  });
  const url = `http://127.0.0.1:${port}`;
  await until(() =>
    fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return { url, nodes, upstream };
}

const ask = (url: string, signal?: AbortSignal): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
    ...(signal === undefined ? {} : { signal }),
  });

describe('behind the proxy', () => {
  it('a stream comes piece by piece, and a client that leaves ends its request at the upstream', async () => {
    const held = gate();
    const events = chatStream(textAnswer('piece by piece')).split(/(?<=\n\n)/);
    const reply = sse([...events.slice(0, 2), held, ...events.slice(2)]);
    const { url, upstream } = await startWorld([reply]);
    const left = new AbortController();
    const answer = await ask(url, left.signal);
    const reader = answer.body?.getReader();
    // The upstream still holds the rest: what was read has waited for nothing.
    expect((await reader?.read())?.value?.length).toBeGreaterThan(0);
    left.abort();
    await until(() => upstream.requests.length === 1);
    await upstream.requests[0]?.aborted;
    held.open();
  });

  it('a WebSocket is opened and answers', async () => {
    const { url } = await startWorld(inDialect(textAnswer('over a socket')));
    const socket = await openResponsesSocket(url);
    const events = await socket.ask({ model: 'm', input: 'hi', store: false });
    expect(events.at(-1)?.['type']).toBe('response.completed');
    expect(JSON.stringify(events)).toContain('over a socket');
    socket.webSocket.close();
    await socket.closed;
  });

  it('a node that is gone is passed over, and metrics stay inside', async () => {
    const { url, nodes } = await startWorld(inDialect(textAnswer('still here')));
    await nodes[0]?.close();
    for (let index = 0; index < 6; index += 1) {
      const answer = await ask(url);
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('still here')]);
    }
    expect((await fetch(`${url}/metrics`)).status).toBe(404);
  });
});
