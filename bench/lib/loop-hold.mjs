/**
 * Loaded into a target with `--import`: tells over IPC for how long its event loop was held in one piece.
 * `start` begins to watch, `stop` answers with the longest piece in milliseconds. Between the two a timer
 * ticks each millisecond; at all other times nothing runs, so other measurements do not pay for it.
 */
import { readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const TICK_MS = 1;

/** For how long this thread was ready to run but had no core: what others took is not the loop's. */
const waitedMs = () => Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[1]) / 1e6;

let timer;
let longest = 0;

function watch() {
  longest = 0;
  let [at, waited] = [performance.now(), waitedMs()];
  timer = setInterval(() => {
    const [now, waitedNow] = [performance.now(), waitedMs()];
    longest = Math.max(longest, now - at - (waitedNow - waited) - TICK_MS);
    [at, waited] = [now, waitedNow];
  }, TICK_MS);
}

if (isMainThread && process.send !== undefined) {
  process.on('message', (message) => {
    clearInterval(timer);
    if (message === 'start') watch();
    process.send(message === 'start' ? 'started' : longest);
  });
  process.channel.unref();
}
