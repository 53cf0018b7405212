/** The order of files: one that takes long and comes last keeps a worker busy while the others have nothing to do. */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Vitest knows how long a file took only where it ran before; by size, it puts these last. */
const LONG = new Set(
  [
    'clients/coding-programs',
    'clients/mcp-inspector',
    'clients/libraries',
    'clients/toolgate-launch',
    'faults/cluster',
    'faults/agent-crashes',
    'faults/postgres',
    'e2e/install',
    'e2e/postgres/store-contract',
    'e2e/postgres/workers',
    'e2e/claude-code/watchdog',
    'e2e/scenarios',
    'browser/shown-pages',
    'browser/chat-live',
    'browser/approvals-safety',
    'browser/sign-in',
  ].map((name) => `test/${name}.test.ts`),
);

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean =>
      LONG.has(relative(this.ctx.config.root, moduleId));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
