/**
 * node:http with a small router. Argument: how a batch becomes bytes: `write` (node frames the chunk),
 * `framed` (one buffer framed here) or `socket` (that buffer past the response, straight to its socket).
 */
import { createServer } from 'node:http';
import { answer, batches, checkRequest, SSE_HEADERS } from './job.mjs';

const framing = process.argv[2] ?? 'write';

const routes = new Map([
  ['POST /v1/messages', messages],
  ['GET /healthz', (_request, response) => response.end('ok')],
]);

function readBody(request) {
  return new Promise((resolve, reject) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => resolve(parts.length === 1 ? parts[0] : Buffer.concat(parts)));
    request.on('error', reject);
  });
}

async function messages(request, response) {
  const mode = request.headers['x-mode'];
  checkRequest(JSON.parse((await readBody(request)).toString()));
  if (mode === 'json') {
    const body = Buffer.from(JSON.stringify(answer));
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
    return;
  }
  if (framing !== 'write') await streamFramed(response, mode);
  else await streamWritten(response, mode);
}

const drained = (response) => new Promise((resolve) => response.once('drain', resolve));

async function streamWritten(response, mode) {
  response.writeHead(200, SSE_HEADERS);
  for await (const batch of batches(mode)) {
    if (response.destroyed) return;
    if (!response.write(batch)) await drained(response);
  }
  response.end();
}

async function streamFramed(response, mode) {
  response.writeHead(200, { ...SSE_HEADERS, 'transfer-encoding': 'chunked' });
  response.chunkedEncoding = false;
  response.flushHeaders();
  const out = framing === 'socket' ? response.socket : response;
  for await (const batch of batches(mode)) {
    if (response.destroyed) return;
    if (!out.write(frame(batch))) await drained(out);
  }
  response.end('0\r\n\r\n');
}

function frame(text) {
  const size = Buffer.byteLength(text);
  const head = `${size.toString(16)}\r\n`;
  const bytes = Buffer.allocUnsafe(head.length + size + 2);
  bytes.latin1Write(head, 0);
  bytes.utf8Write(text, head.length);
  bytes[head.length + size] = 0x0d;
  bytes[head.length + size + 1] = 0x0a;
  return bytes;
}

const server = createServer((request, response) => {
  const { url } = request;
  const query = url.indexOf('?');
  const route = routes.get(`${request.method} ${query === -1 ? url : url.slice(0, query)}`);
  if (route !== undefined) {
    route(request, response);
    return;
  }
  response.writeHead(404);
  response.end();
});
server.listen(0, '127.0.0.1', () => console.log(`listening ${server.address().port}`));
