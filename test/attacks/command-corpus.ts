/** Every command that the tests know: of the table of flags, of the scenarios and of the attacks. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import * as z from 'zod';
import examples from '../../src/permissions/shell/flag-examples.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SOURCES = ['test/attacks', 'src/permissions'];
/** A literal of a test that may be a command: a name, then anything. */
const LOOKS_LIKE_COMMAND = /^[\w./~\\"'$-][^\n]*$/;
const MAX_LENGTH = 400;

const scenario = z.looseObject({
  steps: z.array(z.looseObject({ input: z.looseObject({ command: z.string().optional() }).optional() })),
});

export function commandCorpus(): string[] {
  const found = new Set<string>();
  for (const { never, covered } of examples) {
    for (const example of [...never, ...covered]) found.add(example.replace(/^.* :: /, ''));
  }
  const scenarios = join(ROOT, 'test/scenarios');
  for (const name of readdirSync(scenarios)) {
    const { steps } = scenario.parse(parse(readFileSync(join(scenarios, name, 'scenario.yaml'), 'utf8')));
    for (const { input } of steps) if (input?.command !== undefined) found.add(input.command);
  }
  for (const folder of SOURCES) {
    for (const name of readdirSync(join(ROOT, folder), { encoding: 'utf8', recursive: true })) {
      if (name.endsWith('.test.ts')) for (const text of literalsIn(join(ROOT, folder, name))) found.add(text);
    }
  }
  return [...found].filter((text) => text.length <= MAX_LENGTH && LOOKS_LIKE_COMMAND.test(text)).sort();
}

/** Those in single quotes, which is how commands are written there. */
function literalsIn(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/'((?:[^'\\\n]|\\.)*)'/g)].map(([, literal = '']) =>
    literal.replaceAll('\\n', '\n').replace(/\\(.)/g, '$1'),
  );
}
