// Loaded into a gateway by NODE_OPTIONS: on SIGUSR2 it collects garbage and prints what is left.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
let asked = 0;

process.on('SIGUSR2', () => {
  asked += 1;
  // Twice, and a turn apart: what ends in a finaliser is free only then.
  collect();
  setImmediate(() => {
    collect();
    const { heapUsed, external, arrayBuffers } = process.memoryUsage();
    process.stdout.write(`memory ${asked} ${heapUsed + external + arrayBuffers}\n`);
  });
});
