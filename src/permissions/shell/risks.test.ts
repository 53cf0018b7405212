import { describe, expect, it } from 'vitest';
import type { Effect, JudgedToolCall } from '../decision.js';
import { risksOf } from './risks.js';

function callWith(effects: readonly Effect[], readOnly = false): JudgedToolCall {
  return {
    ...{ principal: 'local', session: 's', toolUseId: 't', tool: 'Bash', input: {} },
    ...{ readOnly, needsPermissions: true, effects },
    location: { root: '/work', cwd: '/work' },
  };
}

const run = (command: string, readOnly = false) =>
  risksOf(callWith([{ kind: 'command', command, cwd: '/work' }], readOnly));

describe('what about a call deserves a second look', () => {
  it.each([
    ['touch a', ['writes']],
    ['rm -rf build', ['irreversible', 'writes']],
    ['cd src && sudo rm -r ../old', ['irreversible', 'writes']],
    ['git -c a=b status', ['writes']],
    ['git push --force origin main', ['irreversible', 'network', 'writes']],
    ['for f in *; do /bin/rm "$f"; done', ['irreversible', 'writes']],
    ['echo $(curl https://x.test)', ['network', 'writes']],
    ['cp a /etc/hosts', ['outside', 'writes']],
    ['cat ../secrets', ['outside', 'writes']],
    ['cp a src/../../b', ['outside', 'writes']],
    ['cp src/../a src/b', ['writes']],
    ['cd src && cat ../a', ['writes']],
    ['cd src && cat ../../a', ['outside', 'writes']],
    ['cd .. && ls', ['outside', 'writes']],
    ['cat ~/.ssh/id_rsa', ['outside', 'writes']],
    ['cat "$HOME"/.netrc', ['outside', 'writes']],
    ['tool --output=../x', ['outside', 'writes']],
    ['touch a~ b..c ...', ['writes']],
    ['npm install left-pad', ['network', 'writes']],
    ['curlew --help', ['writes']],
  ])('is found in a command: %s', (command, risks) => {
    expect(run(command)).toEqual(risks);
  });

  it('is nothing where it only reads in its folder', () => {
    expect(run('ls src', true)).toEqual([]);
    expect(risksOf(callWith([{ kind: 'read', path: '/work/a' }], true))).toEqual([]);
  });

  it('is found in files and addresses', () => {
    expect(risksOf(callWith([{ kind: 'edit', path: '/work/..a/b' }]))).toEqual(['writes']);
    expect(risksOf(callWith([{ kind: 'edit', path: '/workshop/a' }]))).toEqual(['outside', 'writes']);
    expect(risksOf(callWith([{ kind: 'read', path: '/etc/passwd' }], true))).toEqual(['outside']);
    expect(risksOf(callWith([{ kind: 'fetch', url: 'https://x.test' }], true))).toEqual(['network']);
  });
});
