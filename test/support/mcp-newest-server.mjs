/**
 * A server on SDK 2.x: `stdio`, or `http` and then its address on stdout. With `only` it speaks
 * 2026-07-28 and nothing else. `add` makes one more tool, `die` ends it in the middle of a call.
 */
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import {
  createMcpHandler,
  fromJsonSchema,
  inputRequired,
  inputResponse,
  McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const [kind = 'stdio', eras = 'both', port = '0'] = process.argv.slice(2);
const added = [];
const cancelled = [];
const open = new Set();
let notify = () => {};

const said = (text) => ({ content: [{ type: 'text', text }] });

function makeServer() {
  const server = new McpServer(
    { name: 'newest', version: '2' },
    { capabilities: { tools: { listChanged: true } } },
  );
  const tool = (name, properties, call) => {
    const inputSchema = fromJsonSchema({ type: 'object', properties });
    server.registerTool(name, { description: name, inputSchema }, call);
  };
  tool('echo', { message: { type: 'string' } }, ({ message }) => said(`Echo: ${message}`));
  tool('progress', {}, async (_input, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [1, 2]) {
      await mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress, total: 2 },
      });
    }
    return said('done');
  });
  tool('hang', {}, async (_input, { mcpReq: { signal, id } }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    cancelled.push(id);
    return said('never');
  });
  tool('trace', {}, (_input, { mcpReq }) => said(String(mcpReq._meta?.traceparent)));
  tool('cancelled', {}, () => said(String(cancelled.length)));
  tool('die', {}, () => process.exit(3));
  tool('cut', {}, () => {
    for (const socket of open) socket.destroy();
    return new Promise(() => {});
  });
  tool('add', {}, () => {
    added.push(`added${added.length}`);
    notify();
    return said('added');
  });
  tool('ask', { schema: { type: 'object' } }, ({ schema }, { mcpReq }) => {
    const { kind, action, content } = inputResponse(mcpReq.inputResponses, 'form');
    if (kind === 'elicit') return said(JSON.stringify({ action, content }));
    const form = inputRequired.elicit({ message: 'Which one?', requestedSchema: schema });
    return inputRequired({ inputRequests: { form }, requestState: 'kept' });
  });
  tool('send', {}, (_input, { mcpReq }) => {
    const { kind, action } = inputResponse(mcpReq.inputResponses, 'page');
    if (kind === 'elicit') return said(String(action));
    const page = inputRequired.elicitUrl({ message: 'Pay there.', url: 'https://pay.example/order?id=1' });
    return inputRequired({ inputRequests: { page } });
  });
  tool('region', { where: { type: 'string', 'x-mcp-header': 'Region' } }, ({ where }, { http }) =>
    said(`${where} ${http?.req?.headers.get('mcp-param-region')}`),
  );
  server.registerResource('one', 'note:///one', { mimeType: 'text/plain' }, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/plain', text: 'The first note.' }],
  }));
  const template = new ResourceTemplate('note:///{name}', { list: undefined });
  server.registerResource('notes', template, {}, ({ href }, { name }) => ({
    contents: [{ uri: href, text: `The note ${name}.` }],
  }));
  const argsSchema = fromJsonSchema({
    type: 'object',
    properties: { who: { type: 'string' } },
    required: ['who'],
  });
  server.registerPrompt('greet', { description: 'Greets', argsSchema }, ({ who }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Greet ${who}.` } }],
  }));
  for (const name of added) tool(name, {}, () => said(name));
  return server;
}

if (kind === 'stdio') {
  let latest;
  serveStdio(
    () => {
      latest = makeServer();
      return latest;
    },
    eras === 'only' ? { legacy: 'reject' } : {},
  );
  notify = () => latest.registerTool(added.at(-1), {}, () => said('late'));
} else {
  const handler = createMcpHandler(makeServer, { legacy: eras === 'only' ? 'reject' : 'stateless' });
  notify = () => handler.notify.toolsChanged();
  const server = createServer(async (request, response) => {
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const answer = await handler.fetch(
      new Request(`http://server${request.url}`, {
        method: request.method,
        headers: Object.entries(request.headers),
        ...(request.method === 'POST' ? { body: Readable.toWeb(request), duplex: 'half' } : {}),
        signal: gone.signal,
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body === null) response.end();
    else
      Readable.fromWeb(answer.body)
        .on('error', () => {})
        .pipe(response);
  });
  server.on('connection', (socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  server.listen(Number(port), '127.0.0.1', () => {
    process.stdout.write(`http://127.0.0.1:${server.address().port}/mcp\n`);
  });
}
