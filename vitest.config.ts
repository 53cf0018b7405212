import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const seeded = fileURLToPath(new URL('./test/support/fast-check.ts', import.meta.url));

export default defineConfig({
  plugins: [
    {
      name: 'seeded-fast-check',
      enforce: 'pre',
      resolveId: (id, importer) => (id === 'fast-check' && importer !== seeded ? seeded : undefined),
    },
  ],
  test: {
    exclude: ['**/node_modules/**', 'test/scenarios/**'],
    globalSetup: ['test/support/build-once.ts'],
    setupFiles: ['test/support/leave-nothing.ts'],
    // Of a busy machine: what starts programs takes five times as long there.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    pool: 'forks',
    // One more than two cores: the tests of processes and pages wait a quarter of their time.
    maxWorkers: 3,
    include: ['src/**/*.test.ts', 'console/src/**/*.test.{ts,tsx}', 'test/**/*.test.ts'],
    // A file leaves nothing behind for the next (test/support/leave-nothing.ts): loading the sources once halves the time.
    isolate: false,
  },
});
