import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.js';

const seeded = fileURLToPath(new URL('./test/support/fast-check.ts', import.meta.url));

const EXCLUDED = ['**/node_modules/**', 'test/scenarios/**'];

/** What `build-once.ts` builds is for the tests that start a gateway as a process or load the page. */
const BUILT = ['test/support/build-once.ts'];

/** The folder of a test says its project; `test/architecture.test.ts` holds what `unit` may not start. */
const PROJECTS = [
  {
    name: 'unit',
    include: [
      'src/**/*.test.ts',
      'console/src/**/*.test.{ts,tsx}',
      'test/*.test.ts',
      'test/support/**/*.test.ts',
    ],
  },
  {
    name: 'e2e',
    include: ['test/{attacks,conformance,e2e,flows}/**/*.test.ts'],
    globalSetup: BUILT,
  },
  { name: 'browser', include: ['test/browser/**/*.test.ts'], globalSetup: BUILT },
  { name: 'clients', include: ['test/clients/**/*.test.ts'], globalSetup: BUILT },
  { name: 'faults', include: ['test/faults/**/*.test.ts'], globalSetup: BUILT },
];

/**
 * What they count is the whole process's: timers, sockets, memory. Nothing else may run in it, so they
 * run in a project of their own, `unit-alone` and `faults-alone`.
 */
const ALONE: Readonly<Record<string, string[]>> = {
  unit: ['src/server/console-api/events/event-streams.test.ts'],
  faults: [
    'test/faults/agent-cycles.test.ts',
    'test/faults/disconnect.test.ts',
    'test/faults/hostile-commands.test.ts',
  ],
};

/** One project after the other: a worker keeps what it has loaded only as long as the next file is of its project. */
const projects: TestProjectInlineConfiguration[] = PROJECTS.flatMap((project, groupOrder) => {
  const alone = ALONE[project.name] ?? [];
  const shared: TestProjectInlineConfiguration = {
    extends: true,
    test: {
      ...project,
      exclude: [...EXCLUDED, ...alone],
      sequence: { groupOrder },
      // A file leaves nothing behind for the next (test/support/leave-nothing.ts): loading the sources
      // once halves the time.
      isolate: false,
    },
  };
  if (alone.length === 0) return [shared];
  return [
    shared,
    {
      extends: true,
      test: {
        ...project,
        name: `${project.name}-alone`,
        include: alone,
        sequence: { groupOrder: PROJECTS.length },
        isolate: true,
      },
    },
  ];
});

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
    setupFiles: ['test/support/leave-nothing.ts'],
    // What requests share is frozen: whoever changes it fails.
    env: { TOOLGATE_FREEZE_SHARED: '1' },
    // Of a busy machine: what starts programs takes five times as long there.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 45_000 } },
    sequence: { sequencer: LongestFirst },
    pool: 'forks',
    // One more than two cores: the tests of processes and pages wait a quarter of their time.
    maxWorkers: 3,
    projects,
  },
});
