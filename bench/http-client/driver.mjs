/** One client under test in its own process: told over IPC what to run, says how many answers it read. */
import { anthropicRequest } from '../lib/workload.mjs';

const { post } = await import(process.argv[2]);
const body = anthropicRequest(true);

async function readOne(url, expected) {
  let size = 0;
  for await (const part of await post(url, body)) size += part.length;
  if (size !== expected) throw new Error(`${size} bytes of ${expected}`);
}

process.on('message', async ({ url, expected, concurrency, durationMs, minCount }) => {
  const target = new URL(url);
  const deadline = performance.now() + durationMs;
  let count = 0;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (performance.now() < deadline || count < minCount) {
        await readOne(target, expected);
        count++;
      }
    }),
  );
  process.send({ count });
});
console.log('listening 1');
