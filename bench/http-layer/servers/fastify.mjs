/** fastify as its guide shows it: parsed body, returned object, a stream as the reply. */
import { Readable } from 'node:stream';
import Fastify from 'fastify';
import { answer, batches, checkRequest, SSE_HEADERS } from './job.mjs';

const app = Fastify({ bodyLimit: 32 * 1024 * 1024 });
app.get('/healthz', async () => 'ok');
app.post('/v1/messages', async (request, reply) => {
  checkRequest(request.body);
  const mode = request.headers['x-mode'];
  if (mode === 'json') return answer;
  return reply.headers(SSE_HEADERS).send(Readable.from(batches(mode), { objectMode: false }));
});
await app.listen({ port: 0, host: '127.0.0.1' });
console.log(`listening ${app.server.address().port}`);
