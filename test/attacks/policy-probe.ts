/** A policy on a real workspace, and calls as the tools would make them. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll } from 'vitest';
import type { Decision, Effect, JudgedToolCall } from '../../src/permissions/decision.js';
import { createPolicy, type Policy } from '../../src/permissions/judge/policy.js';
import type { Rule } from '../../src/store/rules.js';

export interface ProbeOptions {
  mode?: 'ask' | 'allow' | 'deny' | 'read-only';
  allow?: string[];
  ask?: string[];
  deny?: string[];
  stored?: readonly Rule[];
  session?: string;
  ownPaths?: readonly string[];
  /** What the gateway runs, from the workspace. */
  executed?: readonly string[];
  /** More of what is the gateway's own, from the workspace. */
  own?: readonly string[];
}

export interface Probe {
  root: string;
  home: string;
  outside: string;
  policy: Policy;
  warnings: string[];
  write(path: string, text?: string): string;
  /** `rules`: that people made, instead of those of the probe. */
  judge(call: Partial<JudgedToolCall>, rules?: readonly Rule[]): Promise<Decision>;
  bash(command: string, cwd?: string): Promise<Decision>;
  read(path: string): Promise<Decision>;
  edit(path: string): Promise<Decision>;
  fetch(url: string): Promise<Decision>;
}

const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** `…/work` is the workspace, `…/home` the home, `…/outside` neither; `…/gateway` is the gateway's own. */
export function probe(options: ProbeOptions = {}): Probe {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'toolgate-policy-')));
  made.push(base);
  const [root, home, outside, gateway] = ['work', 'home', 'outside', 'gateway'].map((name) =>
    join(base, name),
  ) as [string, string, string, string];
  for (const folder of [root, home, outside, gateway]) mkdirSync(folder);
  const warnings: string[] = [];
  const policy = createPolicy({
    config: {
      mode: options.mode ?? 'ask',
      allow: options.allow ?? [],
      ask: options.ask ?? [],
      deny: options.deny ?? [],
    },
    home,
    protectedPaths: [
      join(base, 'gateway'),
      join(root, 'toolgate.yaml'),
      ...(options.own ?? []).map((path) => join(root, path)),
    ],
    executedPaths: (options.executed ?? []).map((path) => join(root, path)),
    onWarning: (message) => warnings.push(message),
    repositoryRecheckMs: 0,
  });
  const stored = options.stored ?? [];
  const judge = async (call: Partial<JudgedToolCall>, rules = stored): Promise<Decision> =>
    policy.decide(
      {
        principal: 'local',
        session: options.session ?? 's1',
        toolUseId: 't1',
        tool: 'Bash',
        input: {},
        readOnly: false,
        needsPermissions: true,
        effects: [],
        location: {
          root,
          cwd: root,
          ...(options.ownPaths === undefined ? {} : { ownPaths: options.ownPaths }),
        },
        ...call,
      },
      rules,
    );
  const one = (tool: string, effect: Effect, readOnly: boolean): Promise<Decision> =>
    judge({ tool, effects: [effect], readOnly });
  return {
    root,
    home,
    outside,
    policy,
    warnings,
    judge,
    write(path, text = 'x\n') {
      const whole = resolve(root, path);
      mkdirSync(dirname(whole), { recursive: true });
      writeFileSync(whole, text);
      return whole;
    },
    bash: (command, cwd = root) =>
      judge({ tool: 'Bash', input: { command }, effects: [{ kind: 'command', command, cwd }] }),
    read: (path) => one('Read', { kind: 'read', path: resolve(root, path) }, true),
    edit: (path) => one('Edit', { kind: 'edit', path: resolve(root, path) }, false),
    fetch: (url) => one('WebFetch', { kind: 'fetch', url }, true),
  };
}
