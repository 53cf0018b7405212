/** How much is tried: a sample in `npm test`, all of it in `npm run test:long`. */
import process from 'node:process';

export const LONG = process.env['TOOLGATE_LONG'] === '1';

/** A failure names the seed of its case; `TOOLGATE_SEED` begins elsewhere. */
export const SEED = Number(process.env['TOOLGATE_SEED'] ?? 20_260_101);

export const count = (sample: number, all: number): number => (LONG ? all : sample);

/** For tests whose length depends on the count. */
export const TIMEOUT_MS = LONG ? 1_800_000 : 180_000;
