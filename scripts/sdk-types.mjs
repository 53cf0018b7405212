// What the installed SDKs of the providers can say and the dialects do not name: fields of requests, and the
// `type` of blocks, items, tools and events. Such a thing is carried on its own wire and lost by name on
// others; sdk-types.json says for each why that is enough. After an update of an SDK: `npm run sdk:types`.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const dialects = join(root, 'src/dialects');

const ANTHROPIC = '@anthropic-ai/sdk/resources/beta/messages/messages.js';
const CHAT = 'openai/resources/chat/completions/completions.js';
const RESPONSES = 'openai/resources/responses/responses.js';

/** `fields`: the names of its properties count; otherwise what its `type` may be. */
const TYPES = {
  'anthropic-messages': [
    { module: ANTHROPIC, type: 'MessageCreateParamsNonStreaming', fields: true },
    { module: ANTHROPIC, type: 'BetaContentBlockParam' },
    { module: ANTHROPIC, type: 'BetaContentBlock' },
    { module: ANTHROPIC, type: 'BetaRawContentBlockDelta' },
    { module: ANTHROPIC, type: 'BetaRawMessageStreamEvent' },
    { module: ANTHROPIC, type: 'BetaToolUnion' },
  ],
  'openai-chat': [
    { module: CHAT, type: 'ChatCompletionCreateParamsNonStreaming', fields: true },
    { module: CHAT, type: 'ChatCompletionMessage', fields: true },
    { module: CHAT, type: 'ChatCompletionContentPart' },
    { module: CHAT, type: 'ChatCompletionTool' },
    { module: CHAT, type: 'ChatCompletionMessageToolCall' },
  ],
  'openai-responses': [
    { module: RESPONSES, type: 'ResponseCreateParamsNonStreaming', fields: true },
    { module: RESPONSES, type: 'ResponseInputItem' },
    { module: RESPONSES, type: 'ResponseOutputItem' },
    { module: RESPONSES, type: 'ResponseStreamEvent' },
    { module: RESPONSES, type: 'Tool' },
  ],
};

/** `{dialect: [names]}`: what no source of the dialect, or of what dialects share, writes down. */
export function unknownTypes() {
  return Object.fromEntries(
    Object.entries(saidBySdks()).map(([dialect, names]) => {
      const source = sourcesIn(dialect) + sourcesIn('shared');
      const isKnown = (name) => source.includes(`'${name}'`) || new RegExp(`\\b${name}\\??:`).test(source);
      return [dialect, names.filter((name) => !isKnown(name))];
    }),
  );
}

/** The same without what is explained, and what is explained without need. */
export function unexplained() {
  const explained = JSON.parse(readFileSync(join(root, 'scripts/sdk-types.json'), 'utf8'));
  const unknown = unknownTypes();
  const pairs = (lists) =>
    Object.entries(lists).flatMap(([dialect, names]) => names.map((name) => `${dialect}: ${name}`));
  const given = pairs(
    Object.fromEntries(
      Object.entries(explained).map(([dialect, each]) => [dialect, Object.values(each).flat()]),
    ),
  );
  const found = pairs(unknown);
  return {
    missing: found.filter((each) => !given.includes(each)),
    stale: given.filter((each) => !found.includes(each)),
  };
}

function sourcesIn(folder) {
  return readdirSync(join(dialects, folder))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(dialects, folder, name), 'utf8'))
    .join('\n');
}

function saidBySdks() {
  const said = {};
  for (const [dialect, types] of Object.entries(TYPES)) {
    const names = types.flatMap(({ module, type, fields }) => {
      const declared = declarationsOf(module);
      const found = fields === true ? fieldsOf(type, declared) : typesOf(type, declared);
      if (found.length > 0) return found;
      throw new Error(`${module} has no ${type} any more: change the table in scripts/sdk-types.mjs`);
    });
    said[dialect] = [...new Set(names)].toSorted();
  }
  return said;
}

/** The interfaces and unions of a module by name, those of namespaces as `Namespace.Name`. */
function declarationsOf(module) {
  const text = readFileSync(join(root, 'node_modules', module.replace(/\.js$/, '.d.ts')), 'utf8').replace(
    /\/\*[\s\S]*?\*\//g,
    '',
  );
  const declared = new Map();
  collect(text, '', '', declared);
  return declared;
}

/** The SDKs are made by a generator: a block ends at the indentation that it began with. */
function collect(text, indent, prefix, declared) {
  const block = new RegExp(
    `^${indent}(?:export )?(?:declare )?(interface|namespace) (\\w+)(?: extends ([\\w., <>]+))? \\{$([\\s\\S]*?)^${indent}\\}$`,
    'gm',
  );
  for (const [, kind, name, bases = '', body] of text.matchAll(block)) {
    if (kind === 'namespace') collect(body, `${indent}    `, `${prefix}${name}.`, declared);
    else
      declared.set(prefix + name, {
        bases: bases.split(', ').filter(Boolean),
        fields: fieldsIn(body, `${indent}    `),
        prefix,
      });
  }
  const union = new RegExp(`^${indent}(?:export )?(?:declare )?type (\\w+) = ([\\s\\S]*?);$`, 'gm');
  for (const [, name, value] of text.matchAll(union))
    declared.set(prefix + name, { members: value.split('|').map((each) => each.trim()), prefix });
}

function fieldsIn(body, indent) {
  const field = new RegExp(`^${indent}(?:readonly )?'?(\\w+)'?\\??: ([^\\n]*?);?$`, 'gm');
  return new Map(Array.from(body.matchAll(field), ([, name, type]) => [name, type]));
}

/** A member of a namespace is named with it or, inside of it, without. */
function find(name, prefix, declared) {
  return declared.get(prefix + name) ?? declared.get(name);
}

function interfacesOf(name, declared, prefix = '', seen = new Set()) {
  const found = find(name, prefix, declared);
  if (found === undefined || seen.has(found)) return [];
  seen.add(found);
  if (found.members === undefined) return [found];
  return found.members.flatMap((member) => interfacesOf(member, declared, found.prefix, seen));
}

function fieldsOf(type, declared) {
  return interfacesOf(type, declared).flatMap(({ fields, bases, prefix }) => [
    ...fields.keys(),
    ...bases
      .flatMap((base) => interfacesOf(base, declared, prefix))
      .flatMap((base) => [...base.fields.keys()]),
  ]);
}

/** Every text that the field `type` of a member of the union can be. */
function typesOf(union, declared) {
  return interfacesOf(union, declared).flatMap(({ fields }) =>
    Array.from((fields.get('type') ?? '').matchAll(/'([^']+)'/g), ([, text]) => text),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { missing, stale } = unexplained();
  for (const each of missing) console.log(`unknown  ${each}`);
  for (const each of stale) console.log(`known    ${each} (take it out of scripts/sdk-types.json)`);
  if (missing.length + stale.length === 0)
    console.log('Every type of the SDKs is named by its dialect, or explained.');
  process.exitCode = missing.length + stale.length === 0 ? 0 : 1;
}
