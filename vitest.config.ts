import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const seeded = fileURLToPath(new URL('./test/support/fast-check.ts', import.meta.url));

const EXCLUDED = ['**/node_modules/**', 'test/scenarios/**'];

/** What they count is the whole process's: timers, sockets, memory. Nothing else may run in it. */
const ALONE = [
  'src/server/events/event-streams.test.ts',
  'test/faults/agent-cycles.test.ts',
  'test/faults/disconnect.test.ts',
  'test/faults/hostile-commands.test.ts',
];

export default defineConfig({
  plugins: [
    {
      name: 'seeded-fast-check',
      enforce: 'pre',
      resolveId: (id, importer) => (id === 'fast-check' && importer !== seeded ? seeded : undefined),
    },
  ],
  test: {
    exclude: EXCLUDED,
    globalSetup: ['test/support/build-once.ts'],
    setupFiles: ['test/support/leave-nothing.ts'],
    // Of a busy machine: what starts programs takes five times as long there.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    pool: 'forks',
    // One more than two cores: the tests of processes and pages wait a quarter of their time.
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['src/**/*.test.ts', 'console/src/**/*.test.{ts,tsx}', 'test/**/*.test.ts'],
          exclude: [...EXCLUDED, ...ALONE],
          // A file leaves nothing behind for the next (test/support/leave-nothing.ts): loading the sources
          // once halves the time.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE, isolate: true } },
    ],
  },
});
