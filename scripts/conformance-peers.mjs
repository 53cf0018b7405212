// `npm run docs:conformance`: docs/conformance.md from runs of the suite on this gateway and on those
// that the benchmark installs from npm (bench/targets/peers.mjs).
import { writeFileSync } from 'node:fs';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { freePort } from '../bench/lib/process.mjs';
import { installAll, NOT_RUN, PEERS, startPeer, versionOf } from '../bench/targets/peers.mjs';

register('../test/conformance/ts-hooks.mjs', import.meta.url);
const { isWanted, scoreAgainst } = await import('../test/conformance/against.ts');
const { EVERYWHERE, EVERYWHERE_RULES } = await import('../test/conformance/everywhere.ts');
const { loadCases } = await import('../test/conformance/load.ts');
const { startOwnGateway } = await import('../test/conformance/own-gateway.ts');
const score = await import('../test/conformance/score.ts');

const DOCUMENT = fileURLToPath(new URL('../docs/conformance.md', import.meta.url));

/** The one direction that all of them have. */
const PAIR = { client: 'messages', upstream: 'chat' };

const cases = loadCases();
const options = { ...PAIR, uniqueModels: false, profiles: false };

async function ownScore() {
  const { runner, close } = await startOwnGateway(cases);
  try {
    return await score.scoreOf({ cases, runner, width: 1, wanted: (check) => isWanted(check, options) });
  } finally {
    await close();
  }
}

async function peerScore(peer) {
  const upstreamPort = await freePort();
  const running = await startPeer(peer, { port: upstreamPort });
  try {
    const url = `http://127.0.0.1:${running.port}`;
    return await scoreAgainst(cases, { ...options, url, upstreamPort, model: peer.model('json') });
  } finally {
    await running.stop();
  }
}

installAll();
const columns = [{ name: 'Toolgate', of: await ownScore() }];
for (const peer of PEERS) {
  console.error(`measuring ${peer.name}`);
  columns.push({
    name: `${peer.name} ${versionOf(peer)}`,
    arranged: peer.arranged,
    of: await peerScore(peer),
  });
}

const row = (cells) => `| ${cells.join(' | ')} |`;
const cell = (tally) =>
  tally === undefined ? '–' : `${score.percent(tally)} (${tally.passed}/${tally.checks})`;
const areas = score.areaTallies(columns[0].of).map(({ area }) => area);
const tallyOf = (column, area) => score.areaTallies(column.of).find((each) => each.area === area)?.tally;
const ruleOf = (column, rule) => {
  const found = column.of.everywhere.find((each) => each.rule === rule);
  if (found === undefined) return '–';
  return found.broken === 0 ? 'yes' : `no (${found.broken} of ${found.seen})`;
};

const head = [row(['', ...columns.map(({ name }) => name)]), row(['---', ...columns.map(() => '---')])];

const document = `# Scores of the conformance suite

<!-- Written by \`npm run docs:conformance\`. -->

The suite asks a gateway what clients really ask, plays its upstream, and compares what comes out with what is
right ([how it works](../test/conformance/README.md), [what each pair carries](translation.md)). What concerns
every answer (the model's name, request ids, the shape of errors) is one check each; every other check judges its
own subject alone.

\`\`\`
npx toolgate conformance http://127.0.0.1:4000 --model my-model --upstream chat --client messages
\`\`\`

It starts the upstream on port 9999 of this machine (\`--upstream-port\`): configure the gateway to send the model
there. It prints every check that failed, the score by area, and writes the same as a page.

## Gateways that npm has

Measured on ${new Date().toISOString().slice(0, 10)} with ${cases.length} cases: a client of Anthropic Messages on an upstream of OpenAI
Chat Completions, the direction that all of them have. Retries and settings are those of the packages.

${[
  ...head,
  row([`**${score.EVERY_ANSWER}**`, ...columns.map(({ of }) => cell(score.everywhereTally(of)))]),
  ...areas.map((area) => row([area, ...columns.map((column) => cell(tallyOf(column, area)))])),
  row(['**All**', ...columns.map(({ of }) => `**${cell(score.totalOf(of))}**`)]),
].join('\n')}

${[
  row([score.EVERY_ANSWER, ...columns.map(({ name }) => name)]),
  row(['---', ...columns.map(() => '---')]),
  ...EVERYWHERE_RULES.map((rule) =>
    row([EVERYWHERE[rule], ...columns.map((column) => ruleOf(column, rule))]),
  ),
].join('\n')}

Arranged for them:

${columns.flatMap(({ name, arranged }) => (arranged === undefined ? [] : [`- ${name}: ${arranged}`])).join('\n')}

Not measured:

${NOT_RUN.map((why) => `- ${why}`).join('\n')}
`;

writeFileSync(DOCUMENT, document);
