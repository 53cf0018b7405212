import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { captureIo } from '../../test/support/captured-io.js';
import { COMMANDS } from './commands.js';
import { runCli } from './main.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolgate-cli-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function run(...args: string[]) {
  const io = captureIo({ cwd: folder });
  const code = await runCli(args, io);
  return { code, out: io.lines.join('\n'), err: io.errors.join('\n') };
}

describe('help and version', () => {
  it.each([['--version'], ['-v']])('%s prints the version alone', async (flag) => {
    expect(await run(flag)).toEqual({ code: 0, out: '9.8.7', err: '' });
  });

  it.each([['--help'], ['-h'], ['help']])('%s lists every command', async (flag) => {
    const { code, out, err } = await run(flag);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    for (const name of Object.keys(COMMANDS)) expect(out).toMatch(new RegExp(`^ {2}${name} +\\S`, 'm'));
  });

  it('shows the options of a command, whatever else is on the line', async () => {
    const { code, out } = await run('start', '--prot', '1', '--help');
    expect(code).toBe(0);
    expect(out).toMatch(/^Usage: toolgate \[start\] .*\[--port N\]/);
    expect(out).toMatch(/^ {2}--log-level L +One of /m);
  });

  it('puts the options before what another program gets', async () => {
    const { out } = await run('code', '--help');
    expect(out).toMatch(/^Usage: toolgate code \[--config FILE\] .*\[-- claude arguments\]$/m);
  });
});

const ANY_COMMAND = `Usage: toolgate [${Object.keys(COMMANDS).join(' | ')}] [options]`;

describe('wrong usage ends with 2, the nearest word and the usage', () => {
  it.each<[string[], string, string]>([
    [['strat'], 'Unknown command `strat`. Did you mean `start`?', ANY_COMMAND],
    [['zzz'], 'Unknown command `zzz`.', ANY_COMMAND],
    [['constructor'], 'Unknown command `constructor`.', ANY_COMMAND],
    [['--prot', '1'], 'Unknown option --prot. Did you mean --port?', 'Usage: toolgate [start]'],
    [['start', '-x'], 'Unknown option -x.', 'Usage: toolgate [start]'],
    [['start', 'now'], '`start` does not take `now`.', 'Usage: toolgate [start]'],
    [['start', '--port'], 'The option --port needs a value: --port N', 'Usage: toolgate [start]'],
    [['--port', '--host', 'x'], 'The option --port needs a value: --port N', 'Usage: toolgate [start]'],
    [['--port=70000'], '--port takes a number from 0 to 65535, not `70000`.', 'Usage: toolgate [start]'],
    [['--port', '0x10'], '--port takes a number from 0 to 65535, not `0x10`.', 'Usage: toolgate [start]'],
    [
      ['--log-level', 'wran'],
      '--log-level takes one of fatal, error, warn, info, debug, trace, silent, not `wran`. Did you mean warn?',
      'Usage: toolgate [start]',
    ],
    [['init', '--force=yes'], 'The option --force takes no value.', 'Usage: toolgate init [--force]'],
    [['doctor', '--', 'x'], '`doctor` does not take `x`.', 'Usage: toolgate doctor [--config FILE]'],
  ])('%j', async (args, message, usage) => {
    const { code, out, err } = await run(...args);
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(err.split('\n')[0]).toBe(message);
    expect(err.split('\n')[1]).toContain(usage);
    expect(err).toContain('--help');
  });
});

describe('a wrong configuration ends with 2', () => {
  it('names the file, the place and the key', async () => {
    const file = join(folder, 'wrong.yaml');
    await writeFile(file, 'server:\n  prot: 1\n');
    expect(await run('--config', file)).toEqual({
      code: 2,
      out: '',
      err: `${file}:2:3  server.prot: unknown key. Did you mean \`port\`?`,
    });
  });

  it('names the place of a quirk and a profile that there is not, before anything is made', async () => {
    const file = join(folder, 'quirks.yaml');
    const upstream = 'dialect: openai-chat, base_url: "http://127.0.0.1:1/v1"';
    await writeFile(
      file,
      `store: sqlite:./never.db\nupstreams:\n  a: { ${upstream}, quirks: { samplin: true } }\n  b: { ${upstream}, profile: opnai }\n`,
    );
    const { code, err } = await run('start', '--port', '0', '--config', file);
    expect(code).toBe(2);
    const [quirk = '', profile = ''] = err.split('\n');
    expect(quirk).toBe(`${file}:3:75  upstreams.a.quirks.samplin: unknown key. Did you mean \`sampling\`?`);
    expect(profile).toContain(`${file}:4:65  upstreams.b.profile: expected one of openai, `);
    expect(profile).toContain('Did you mean `openai`?');
    expect(existsSync(join(folder, 'never.db'))).toBe(false);
  });

  it('names a file that is not there', async () => {
    const { code, err } = await run('start', '--config', 'nope.yaml');
    expect(code).toBe(2);
    expect(err).toContain(`${join(folder, 'nope.yaml')}: there is no such file`);
  });

  it('refuses an address that others reach, without keys', async () => {
    const { code, err } = await run('start', '--host', '0.0.0.0');
    expect(code).toBe(2);
    expect(err).toContain('--host: without `server.keys` the gateway listens on loopback only');
  });
});

describe('what is printed', () => {
  it('holds no secret of the environment or of the configuration, the one token apart', () => {
    const io = captureIo({ cwd: folder, env: { SOME_API_KEY: 'value-in-environment' } });
    io.hide(['value-in-file']);
    io.out('a value-in-environment b value-in-file');
    io.err('value-in-file, Bearer abcdefgh1234');
    io.outVerbatim('http://127.0.0.1/#token=abc');
    expect(io.lines).toEqual(['a [redacted] b [redacted]', 'http://127.0.0.1/#token=abc']);
    expect(io.errors).toEqual(['[redacted], Bearer [redacted]']);
  });
});
