/** hono on its Node adapter: parsed body, `c.json`, the stream helper. */
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { stream } from 'hono/streaming';
import { answer, batches, checkRequest, SSE_HEADERS } from './job.mjs';

const app = new Hono();
app.get('/healthz', (c) => c.text('ok'));
app.post('/v1/messages', async (c) => {
  checkRequest(await c.req.json());
  const mode = c.req.header('x-mode');
  if (mode === 'json') return c.json(answer);
  for (const [name, value] of Object.entries(SSE_HEADERS)) c.header(name, value);
  return stream(c, async (out) => {
    for await (const batch of batches(mode)) {
      if (out.aborted) return;
      await out.write(batch);
    }
  });
});
serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, (info) => console.log(`listening ${info.port}`));
