/** `toolgate conformance` as the package has it, on a gateway that breaks two rules in every answer. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { closeAfterTest, tempFolder } from '../support/cleanup.js';
import { COMMAND, startTestGateway } from '../support/gateway.js';
import { freePort } from '../support/scripted-upstream.js';
import { checksOf } from './checks.js';
import { loadCases } from './load.js';
import { configFor } from './setups.js';

const CASE = 'params-answers';

/** Passes everything on, but names the upstream's model and leaves request ids out. */
async function startCareless(gateway: string): Promise<string> {
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const answer = await fetch(`${gateway}${incoming.url}`, {
      method: incoming.method ?? 'GET',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
      ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
    });
    const text = await answer.text();
    outgoing.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
    outgoing.end(text.replaceAll(/"model":"conformance-[^"]+"/g, '"model":"upstream-model"'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closeAfterTest(() => server.closeAllConnections());
  closeAfterTest(() => server.close());
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

async function run(args: readonly string[], cwd: string): Promise<{ status: number; output: string }> {
  const child = spawn(process.execPath, [COMMAND, 'conformance', ...args], { cwd });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      output += data;
    });
  }
  const [status] = await once(child, 'close');
  return { status, output };
}

it('counts what is wrong in every answer once, and writes a page', async () => {
  const cases = loadCases().filter(({ name }) => name === CASE);
  const upstreamPort = await freePort();
  const gateway = await startTestGateway({
    config: JSON.stringify(configFor(cases, `http://127.0.0.1:${upstreamPort}`)),
  });
  const url = await startCareless(gateway.url);
  const folder = await tempFolder();
  const options = ['--upstream-port', String(upstreamPort), '--only', CASE, '--unique-models'];
  const { status, output } = await run([url, ...options], folder.path);

  const own = cases.flatMap(checksOf).filter(({ pair }) => pair.client !== pair.upstream).length;
  expect(output).toContain(`conformance: 1 cases, ${own + 5} checks, ${own + 3} passed`);
  expect(output).toContain(`FAIL Answers name the model that was asked for: not in ${own} of ${own} checks`);
  expect(output).toContain(
    `FAIL Answers carry a request id in the wire's own header: not in ${own} of ${own}`,
  );
  expect(output).toMatch(/Every answer\s+60 %\s+3\/5/);
  expect(output).toContain(`100 %  ${own}/${own}`);
  expect(status).toBe(1);
  const page = await readFile(join(folder.path, 'conformance-report.md'), 'utf8');
  expect(page).toContain(`| Ends of answers | ${own} | ${own} | 100 % |`);
  expect(page).toContain('the answer names upstream-model');

  const nobody = await run(['http://127.0.0.1:1', '--upstream-port', String(upstreamPort)], folder.path);
  expect(nobody).toMatchObject({ status: 1 });
  expect(nobody.output).toContain('Start the gateway first');
});
