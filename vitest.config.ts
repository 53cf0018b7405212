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
    testTimeout: 20_000,
    hookTimeout: 30_000,
    pool: 'forks',
    // One fewer than the cores would be one on a machine with two.
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'units',
          include: ['src/**/*.test.ts', 'console/src/**/*.test.{ts,tsx}'],
          // A file leaves nothing behind for the next: loading the sources once halves the time.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'whole', include: ['test/**/*.test.ts'], isolate: false } },
    ],
  },
});
