/** What holds for all of the sources, whoever wrote them. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  filesUnder,
  findCycles,
  importsOf,
  packageOf,
  ROOT,
  readSources,
  resolveImport,
  type SourceFile,
  withoutComments,
} from './support/source-tree.js';

/**
 * Whom each folder of src may import, besides itself. A new folder gets a line here first.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  dialects: ['core'],
  transport: ['core'],
  config: ['core'],
  store: ['core'],
  cluster: ['core', 'store', 'transport'],
  observability: ['core', 'transport'],
  workspace: ['core'],
  sandbox: ['core', 'workspace'],
  permissions: ['core', 'config', 'store', 'workspace'],
  tools: ['core', 'transport', 'workspace', 'permissions', 'sandbox'],
  mcp: ['core', 'config', 'transport', 'workspace', 'permissions', 'tools'],
  notify: ['core', 'config', 'transport', 'store', 'permissions', 'routing'],
  answers: ['core', 'dialects', 'transport', 'store'],
  sessions: ['core', 'store', 'answers'],
  activity: ['core', 'observability', 'permissions', 'tools'],
  upstreams: ['core', 'config', 'dialects', 'transport'],
  routing: ['core'],
  engines: [
    'core',
    'config',
    'dialects',
    'observability',
    'workspace',
    'permissions',
    'tools',
    'answers',
    'sessions',
    'activity',
    'upstreams',
    'routing',
  ],
  server: [
    'core',
    'config',
    'dialects',
    'transport',
    'store',
    'cluster',
    'observability',
    'permissions',
    'notify',
    'tools',
    'mcp',
    'answers',
    'sessions',
    'activity',
    'upstreams',
    'routing',
    'engines',
  ],
};

/** These two stand above all others and may import any of them: what puts the gateway together, and the command. */
const ABOVE = ['gateway', 'cli'];

/**
 * The rooms of a folder from the bottom to the top: a room imports those on lower levels only, types
 * included. Rooms on one level know nothing of each other. `.` is the folder's own files.
 */
const ROOMS: Readonly<Record<string, readonly (string | readonly string[])[]>> = {
  cli: ['shared', ['chat', 'checks', 'clients', 'trace'], '.'],
  dialects: ['shared', ['anthropic-messages', 'openai-chat', 'openai-responses'], '.'],
  engines: [
    '.',
    'tool-search',
    'agent',
    'agent/loop',
    ['relay', 'plain', 'native', 'claude-code/processes'],
    'claude-code/tool-calls',
    'claude-code/conversation',
    'claude-code',
  ],
  gateway: [['limits', 'upstreams'], '.', 'workers'],
  mcp: ['client/wire', 'client/oauth', 'client', 'virtual'],
  notify: ['.', 'adapters', 'delivery'],
  permissions: ['.', 'shell', 'rules', 'judge', 'coordinator'],
  server: [
    ['access', 'console-api/wire'],
    'http',
    'observe',
    'model-api/memory',
    'model-api/requests',
    ['model-api/passed', 'model-api/responses'],
    ['model-api', 'mcp-api', 'console-api/events'],
    'console-api/chat',
    'console-api',
    '.',
  ],
  sessions: ['.', 'history', 'persistence', 'turns', 'matching', 'lifetime'],
  store: ['.', 'sql', ['sqlite', 'postgres'], 'open'],
  tools: ['runtime', ['files', 'bash', 'web'], 'search', '.'],
  transport: ['.', 'http-client', 'guarded-fetch'],
  upstreams: [['demo', 'quirks', 'pool'], '.'],
  workspace: ['.', 'process'],
};

/** Words that were retired, with those of docs/glossary.md in their place: in no exported name. */
const RETIRED = [
  ...[
    'Telling',
    'Tellings',
    'Teller',
    'Attacher',
    'PlaceFinder',
    'FoundPlace',
    'HeldSession',
    'SessionMaker',
  ],
  ...['CallDesk', 'KnownCalls', 'ParkedCalls', 'CallCourses', 'ModelHop', 'HopOwner', 'AnswerVoice'],
  ...['TurnKeeper', 'CallLedger', 'RuleBook', 'Releaser', 'AssistantTurn', 'TurnCollector', 'SessionTurn'],
  ...['TurnRecord', 'RunningTurn', 'SharedTurn', 'ConsoleSession', 'ConsoleSessions', 'OpenToolSession'],
  ...['TurnObserver', 'TurnRecorder', 'HotStart', 'Told', 'Attendance', 'KeyDesk', 'PinnedModel'],
  ...['AskedCall', 'HiddenCalls', 'SuspendedCall', 'SuspendedCalls'],
  ...['ServerTools', 'ServerToolDefinition'],
];
/** These mean several things alone; as a part of a longer name they say which. */
const RETIRED_ALONE = [
  'Place',
  'TurnEvent',
  'StreamEvent',
  'Call',
  'Conversation',
  'Desk',
  'Batch',
  'Step',
  'Remembered',
  'Edition',
  'Locator',
  'TargetConfig',
  'TargetState',
  'TargetStatus',
  'CallClock',
  'CallEvent',
  'TaskCall',
];

const MAX_LINES = 450;

/** Every dialect is built the same way, so that one who knows one knows all. */
const DIALECT_FILES = [
  'decode-request.ts',
  'decode-response.ts',
  'decode-stream.ts',
  'encode-request.ts',
  'encode-response.ts',
  'encode-stream.ts',
  'errors.ts',
  'index.ts',
  'wire.ts',
];
const DIALECT_NOT = ['shared'];

const KEBAB_FILE = /^[a-z0-9]+(-[a-z0-9]+)*(\.test)?\.ts$/;
const KEBAB_FOLDER = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** The bundles that `scripts/build.mjs` makes, and the schema for editors that `scripts/schema.mjs` writes. */
const ENTRIES = ['src/cli/main.ts', 'src/tools/public.ts', 'src/config/json-schema.ts'];

/** What `toolgate start` runs, with or without agents. */
const STARTED = ['src/cli/main.ts', 'src/cli/start.ts', 'src/gateway/open-gateway.ts'];

/** Each of them is a tenth of a start or more. */
const FIRST_USE =
  /^src\/(tools\/(built-ins|runtime\/(create-runtime|own-tools))|engines\/(native|claude-code)\/driver|mcp\/client\/create-client|observability\/open-telemetry|store\/(sqlite\/sqlite|postgres\/postgres)-store|config\/yaml-document)\.ts$/;

/** What starts gateways, Claude Code and browsers for tests. */
const STARTERS = ['browser', 'claude-processes-bench', 'claude-world', 'gateway'].map(
  (name) => `test/support/${name}.ts`,
);

const all = readSources('src');
const isTest = ({ path }: SourceFile): boolean => path.endsWith('.test.ts');
const sources = all.filter((file) => !isTest(file));
const support = new Map(readSources('test').map((file) => [file.path, file]));
const unitTests = [...all, ...support.values()]
  .filter(isTest)
  .filter(({ path }) => /^(src\/|test\/support\/|test\/[^/]+$)/.test(path));

/** `core` for src/core/…, `test` for what is outside of src. */
function areaOf(path: string): string {
  const [top = '', second = ''] = path.split('/');
  return top === 'src' ? second : top;
}

interface Edge {
  from: string;
  to: string;
}

const edges = (files: readonly SourceFile[]): Edge[] =>
  files.flatMap(({ path, imports }) =>
    imports.flatMap(({ specifier }) => {
      const to = resolveImport(path, specifier);
      return to === undefined ? [] : [{ from: path, to }];
    }),
  );

const shown = ({ from, to }: Edge): string => `${from} → ${to}`;

describe('imports', () => {
  it('know every folder of src', () => {
    const known = [...Object.keys(MAY_IMPORT), ...ABOVE];
    const areas = new Set(all.map(({ path }) => areaOf(path)));
    expect([...areas].filter((area) => !known.includes(area))).toEqual([]);
  });

  it('point one way', () => {
    const wrong = edges(sources).filter(({ from, to }) => {
      const [source, target] = [areaOf(from), areaOf(to)];
      if (source === target) return false;
      if (source === 'cli') return false;
      if (source === 'gateway') return target === 'cli';
      return !MAY_IMPORT[source]?.includes(target);
    });
    // package.json is data, and only the command and what assembles it may read it.
    const allowed = wrong.filter(({ from, to }) => !(to === 'package.json' && ABOVE.includes(areaOf(from))));
    expect(allowed.map(shown)).toEqual([]);
  });

  it('are allowed only where a file has one', () => {
    const used = new Set(edges(sources).map(({ from, to }) => `${areaOf(from)} → ${areaOf(to)}`));
    const allowed = Object.entries(MAY_IMPORT).flatMap(([area, others]) =>
      others.map((other) => `${area} → ${other}`),
    );
    expect(allowed.filter((edge) => !used.has(edge))).toEqual([]);
  });

  it('are allowed without a loop', () => {
    const visit = (area: string, trail: readonly string[]): string[] => {
      if (trail.includes(area)) return [[...trail, area].join(' → ')];
      return (MAY_IMPORT[area] ?? []).flatMap((next) => visit(next, [...trail, area]));
    };
    expect(Object.keys(MAY_IMPORT).flatMap((area) => visit(area, []))).toEqual([]);
  });

  it('make no loop between files', () => {
    expect(findCycles(sources).map((cycle) => cycle.join(' → '))).toEqual([]);
  });

  it('never reach from the product into tests or benchmarks', () => {
    const outside = edges(sources).filter(({ to }) => !to.startsWith('src/') && to !== 'package.json');
    expect(outside.map(shown)).toEqual([]);
  });

  it('reach every file of src from the product: what only tests import stands in test/support', () => {
    const byPath = new Map(sources.map((file) => [file.path, file]));
    const reached = new Set(ENTRIES);
    for (const path of reached) {
      const file = byPath.get(path);
      for (const { to } of file === undefined ? [] : edges([file])) reached.add(to);
    }
    expect(sources.map(({ path }) => path).filter((path) => !reached.has(path))).toEqual([]);
  });

  it('load what only some gateways need with its first use, not with the start', () => {
    const byPath = new Map(sources.map((file) => [file.path, file]));
    const loaded = new Map(STARTED.map((path) => [path, '']));
    for (const [path] of loaded) {
      for (const { specifier, typeOnly, lazy } of byPath.get(path)?.imports ?? []) {
        const to = resolveImport(path, specifier);
        if (!typeOnly && !lazy && to !== undefined && !loaded.has(to)) loaded.set(to, path);
      }
    }
    expect(loaded.size).toBeGreaterThan(100);
    expect(
      [...loaded].filter(([path]) => FIRST_USE.test(path)).map(([to, from]) => shown({ from, to })),
    ).toEqual([]);
  });

  it('start no gateway, Claude Code or browser in unit tests: those stand in the folders of test/', () => {
    const wrong = unitTests.filter((file) => {
      const reached = new Set([file.path]);
      for (const path of reached) {
        const from = path === file.path ? file : support.get(path);
        for (const { to } of from === undefined ? [] : edges([from])) reached.add(to);
      }
      return STARTERS.some((starter) => reached.has(starter));
    });
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  it('take vitest only in tests', () => {
    const wrong = sources.filter(({ imports }) =>
      imports.some(({ specifier }) => packageOf(specifier) === 'vitest'),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  it('take at run time only packages that are installed with the product', () => {
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const wrong = sources.flatMap(({ path, imports }) =>
      imports
        .filter(({ specifier, typeOnly }) => !typeOnly && !/^(\.|node:)/.test(specifier))
        .filter(({ specifier }) => !Object.hasOwn(dependencies, packageOf(specifier)))
        .map(({ specifier }) => `${path} → ${specifier}`),
    );
    expect(wrong).toEqual([]);
  });
});

describe('rooms', () => {
  const topOf = (path: string): string => path.split('/')[1] ?? '';
  const roomOf = (path: string): string => dirname(path).split('/').slice(2).join('/') || '.';
  const levelOf = (top: string, room: string): number | undefined => {
    const level = ROOMS[top]?.findIndex((each) => [each].flat().includes(room)) ?? -1;
    return level < 0 ? undefined : level;
  };
  const inFolders = sources.filter(({ path }) => path.split('/').length > 2);

  it('have a place in the table wherever a folder has some', () => {
    const divided = new Set(
      inFolders.filter(({ path }) => roomOf(path) !== '.').map(({ path }) => topOf(path)),
    );
    const unknown = inFolders
      .map(({ path }) => ({ top: topOf(path), room: roomOf(path) }))
      .filter(({ top, room }) => divided.has(top) && levelOf(top, room) === undefined)
      .map(({ top, room }) => `src/${top}/${room}`);
    expect([...new Set(unknown)]).toEqual([]);
  });

  it('are all there', () => {
    const rooms = new Set(inFolders.map(({ path }) => `${topOf(path)}/${roomOf(path)}`));
    const listed = Object.entries(ROOMS).flatMap(([top, levels]) =>
      levels.flat().map((room) => `${top}/${room}`),
    );
    expect(listed.filter((room) => !rooms.has(room))).toEqual([]);
  });

  it('import only rooms on lower levels', () => {
    const wrong = edges(inFolders).filter(({ from, to }) => {
      const top = topOf(from);
      const [room, other] = [roomOf(from), roomOf(to)];
      if (top !== topOf(to) || room === other) return false;
      return (levelOf(top, other) ?? 0) >= (levelOf(top, room) ?? 0);
    });
    expect(wrong.map(shown)).toEqual([]);
  });
});

describe('surfaces of the server', () => {
  const surfaceOf = (path: string): string | undefined =>
    /^src\/server\/(model-api|console-api|mcp-api|observe)\//.exec(path)?.[1];

  it('know nothing of each other; the console shows what is observed', () => {
    const wrong = edges(sources).filter(({ from, to }) => {
      const [own, other] = [surfaceOf(from), surfaceOf(to)];
      if (own === undefined || other === undefined || own === other) return false;
      return !(own === 'console-api' && other === 'observe');
    });
    expect(wrong.map(shown)).toEqual([]);
  });
});

describe('exported names', () => {
  const EXPORTED =
    /^export (?:abstract )?(?:async )?(?:class|function\*?|const|let|interface|type|enum) (\w+)/gm;
  const wordsOf = (name: string): string =>
    `|${Array.from(name.matchAll(/[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+/g), ([word]) => word.charAt(0).toUpperCase() + word.slice(1)).join('|')}|`;
  const names = [...filesUnder('src'), ...filesUnder('console/src')]
    .filter((path) => /(?<!\.test)\.tsx?$/.test(path))
    .flatMap((path) =>
      Array.from(readFileSync(join(ROOT, path), 'utf8').matchAll(EXPORTED), ([, name = '']) => ({
        path,
        name,
      })),
    );

  const readers = ['src', 'console/src', 'test', 'bench', 'scripts'].flatMap((folder) =>
    filesUnder(folder).filter((path) => /\.(tsx?|mjs)$/.test(path) && !path.startsWith('test/scenarios/')),
  );

  it('are found', () => {
    expect(names.length).toBeGreaterThan(1000);
  });

  it('stand in another file too: what its own file alone uses is not exported', () => {
    const inFiles = new Map<string, number>();
    for (const path of readers)
      for (const word of new Set(readFileSync(join(ROOT, path), 'utf8').match(/\w+/g)))
        inFiles.set(word, (inFiles.get(word) ?? 0) + 1);
    const alone = names.filter(({ name }) => inFiles.get(name) === 1);
    expect(alone.map(({ path, name }) => `${name} in ${path}`)).toEqual([]);
  });

  it('have none of the words that were retired', () => {
    const wrong = names.filter(
      ({ name }) =>
        RETIRED_ALONE.includes(name) || RETIRED.some((word) => wordsOf(name).includes(wordsOf(word))),
    );
    expect(wrong.map(({ path, name }) => `${name} in ${path}`)).toEqual([]);
  });
});

describe("CONTRIBUTING.md's table of folders", () => {
  const rows = Array.from(
    readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8').matchAll(/^\| `src\/([a-z-]+)` \|.*\| ([^|]+) \|$/gm),
    ([, folder = '', allowed = '']) => ({ folder, allowed }),
  );

  it('says for every folder whom it may import', () => {
    const listed = rows.filter(({ allowed }) => !allowed.startsWith('everything'));
    const table = Object.fromEntries(
      listed.map(({ folder, allowed }) => [folder, allowed === 'nothing' ? [] : allowed.split(', ').sort()]),
    );
    const held = Object.fromEntries(
      Object.entries(MAY_IMPORT).map(([folder, allowed]) => [folder, allowed.toSorted()]),
    );
    expect(table).toEqual(held);
  });

  it('names those that may import everything', () => {
    const above = rows.filter(({ allowed }) => allowed.startsWith('everything')).map(({ folder }) => folder);
    expect(above).toEqual(ABOVE);
  });
});

describe('files', () => {
  it(`have at most ${MAX_LINES} lines`, () => {
    const long = sources
      .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
      .filter(({ lines }) => lines > MAX_LINES);
    expect(long).toEqual([]);
  });

  it('are named in kebab case', () => {
    const wrong = all.filter(({ path }) => {
      const names = path.split('/');
      const file = names.pop() ?? '';
      return !KEBAB_FILE.test(file) || !names.every((name) => KEBAB_FOLDER.test(name));
    });
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  it('export by name', () => {
    const wrong = all.filter(({ text }) => /^export default\b|\bas default\b/m.test(withoutComments(text)));
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  it('do not switch the compiler or the linter off', () => {
    const compiler = all.filter(({ text }) => /@ts-(ignore|expect-error|nocheck)/.test(text));
    const linter = sources.filter(({ text }) => text.includes('biome-ignore'));
    expect([...compiler, ...linter].map(({ path }) => path)).toEqual([]);
  });

  it('have no any', () => {
    const type = /(?::|\bas|<|\||&|=>|,)\s*any\b(?=\s*(?:[[\]>,;)=|&{]|$))/m;
    const wrong = all.filter(({ text }) => type.test(withoutComments(text)));
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });
});

describe('dialects', () => {
  const paths = new Set(all.map(({ path }) => path));
  const dialects = new Set(
    [...paths]
      .flatMap((path) => /^src\/dialects\/([^/]+)\//.exec(path)?.[1] ?? [])
      .filter((name) => !DIALECT_NOT.includes(name)),
  );

  it('are there', () => {
    expect(dialects.size).toBeGreaterThan(1);
  });

  it.each([...dialects])('%s has the files of every dialect', (name) => {
    expect(DIALECT_FILES.filter((file) => !paths.has(`src/dialects/${name}/${file}`))).toEqual([]);
  });

  it('know nothing of each other', () => {
    const wrong = edges(sources).filter(({ from, to }) => {
      const [own, other] = [from, to].map((path) => /^src\/dialects\/([^/]+)\//.exec(path)?.[1]);
      return own !== undefined && other !== undefined && own !== other && !DIALECT_NOT.includes(other);
    });
    expect(wrong.map(shown)).toEqual([]);
  });
});

/** Whom each folder of console/src may import, besides itself. `app` stands above all others. */
const CONSOLE_MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  text: [],
  ui: ['text'],
  'data/reducer': [],
  'data/events': ['data/reducer'],
  data: ['data/reducer', 'data/events'],
  notifications: ['text', 'ui', 'data', 'data/events', 'data/reducer'],
  markdown: ['text', 'ui'],
  'cards/parse': ['ui', 'data/reducer'],
  'cards/view': ['text', 'ui', 'data', 'data/reducer', 'cards/parse'],
  'cards/bodies': ['text', 'ui', 'data/reducer', 'markdown', 'cards/parse', 'cards/view'],
  approvals: [
    ...['text', 'ui', 'data', 'data/events', 'markdown', 'notifications'],
    ...['cards/parse', 'cards/view', 'cards/bodies'],
  ],
  cards: ['text', 'ui', 'data', 'data/reducer', 'cards/parse', 'cards/view', 'cards/bodies', 'approvals'],
  sessions: ['text', 'ui', 'data'],
  connect: ['text', 'ui', 'data'],
  chat: [
    ...['text', 'ui', 'data', 'data/reducer', 'markdown', 'sessions', 'connect'],
    ...['cards', 'cards/parse', 'cards/view'],
  ],
  'pages/shared': ['text', 'ui', 'data'],
  'pages/keys': ['text', 'ui', 'data', 'pages/shared'],
  'pages/rules': ['text', 'ui', 'data', 'pages/shared'],
  'pages/sessions': ['text', 'ui', 'data', 'sessions', 'pages/shared'],
  'pages/setup': ['text', 'ui', 'data', 'notifications', 'connect', 'pages/shared'],
  'pages/tools': ['text', 'ui', 'data', 'pages/shared'],
  'pages/traces': ['text', 'ui', 'data', 'pages/shared'],
  'pages/usage': ['text', 'ui', 'data', 'pages/shared'],
};
/** The shell, and main.tsx, which starts it. */
const CONSOLE_ABOVE = ['app', ''];
/** What both sides of the wire share: its types, and what both compute with. */
const CONSOLE_SHARED =
  /^src\/(server\/(.+\/)?wire\/|activity\/wire\.ts$|core\/histogram\.ts$|config\/common-mcp-form\.ts$)/;

describe('the console', () => {
  const files = filesUnder('console/src').filter((path) => /(?<!\.test)\.tsx?$/.test(path));
  const folderOf = (path: string): string => dirname(path).replace(/^console\/src\/?/, '');
  const imports = files.flatMap((from) =>
    importsOf(readFileSync(join(ROOT, from), 'utf8')).flatMap(({ specifier }): Edge[] => {
      const to = resolveImport(from, specifier);
      return to === undefined ? [] : [{ from, to }];
    }),
  );
  const isOwn = ({ to }: Edge): boolean => to.startsWith('console/src/');

  it('has a line in the table for every folder', () => {
    const known = [...Object.keys(CONSOLE_MAY_IMPORT), ...CONSOLE_ABOVE];
    expect([...new Set(files.map(folderOf))].filter((folder) => !known.includes(folder))).toEqual([]);
  });

  it('has folders that import one way', () => {
    const wrong = imports.filter(isOwn).filter(({ from, to }) => {
      const [source, target] = [folderOf(from), folderOf(to)];
      if (source === target || source === '') return false;
      if (source === 'app') return target === '';
      return CONSOLE_MAY_IMPORT[source]?.includes(target) !== true;
    });
    expect(wrong.map(shown)).toEqual([]);
  });

  it('has a table without a loop', () => {
    const visit = (folder: string, trail: readonly string[]): string[] => {
      if (trail.includes(folder)) return [[...trail, folder].join(' → ')];
      return (CONSOLE_MAY_IMPORT[folder] ?? []).flatMap((next) => visit(next, [...trail, folder]));
    };
    expect(Object.keys(CONSOLE_MAY_IMPORT).flatMap((folder) => visit(folder, []))).toEqual([]);
  });

  it('takes of the gateway only what both sides of the wire share', () => {
    const wrong = imports.filter((edge) => !isOwn(edge) && !CONSOLE_SHARED.test(edge.to));
    expect(wrong.map(shown)).toEqual([]);
  });
});
