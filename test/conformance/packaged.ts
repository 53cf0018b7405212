/** `toolgate conformance`: the suite as the package carries it. scripts/build.mjs puts its cases beside it. */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import type { ConformanceProgram } from '../../src/cli/conformance.js';
import { caseLines, scoreAgainst } from './against.js';
import { checkedCases } from './load.js';
import { pageOf } from './page.js';
import { scoreLines, totalOf } from './score.js';

const CASES = new URL('conformance-cases.json', import.meta.url);

export const conformance: ConformanceProgram['conformance'] = async (options, print) => {
  const cases = checkedCases(JSON.parse(readFileSync(CASES, 'utf8')));
  const score = await scoreAgainst(cases, options, (done) => {
    for (const line of caseLines(done)) print(line);
  });
  const { checks, passed } = totalOf(score);
  if (checks === 0) throw new Error('No check is left. Say less with --only, --client and --upstream.');
  const subject = {
    title: `Conformance of ${new URL(options.url).host}`,
    about: [
      `Measured by \`toolgate conformance\` ${options.version} on ${new Date().toISOString().slice(0, 10)}.`,
    ],
  };
  await writeFile(options.page, pageOf(subject, score));
  for (const line of ['', ...scoreLines(score), `The page is ${options.page}`]) print(line);
  return passed === checks;
};
