/** What kind of thing a parameter wants, read from its name, its description and its tool. */
import { formatOf, type Property, type Schema } from './schema.js';
import { featuresOf, hasHan, setOf, splitIdentifier, stem } from './words.js';

export type ParameterKind =
  | 'expression'
  | 'command'
  | 'code'
  | 'url'
  | 'email'
  | 'pattern'
  | 'glob'
  | 'folder'
  | 'path'
  | 'date'
  | 'time'
  | 'datetime'
  | 'language'
  | 'currency'
  | 'place'
  | 'person'
  | 'identifier'
  | 'owner'
  | 'repository'
  | 'title'
  | 'old'
  | 'new'
  | 'number'
  | 'query'
  | 'content'
  | 'text';

/** "from" and "to" choose between two things of one kind. */
export type Direction = 'from' | 'to' | undefined;

export interface Parameter extends Property {
  kind: ParameterKind;
  direction: Direction;
  /** Stems of the name, to find it in the sentence. */
  words: ReadonlySet<string>;
  description: string;
}

/** In the order they are asked; the last words of a name say most (`file_path`, `search_query`). */
const NAME_KINDS: readonly (readonly [ParameterKind, string])[] = [
  ['expression', 'expression expr formula equation calculation arithmetic math 表达式 算式 公式'],
  ['command', 'command cmd shell 命令'],
  ['url', 'url uri link href website webpage domain domains host hostname 网址 链接'],
  ['email', 'email mail 邮箱 邮件地址'],
  ['folder', 'directory dir folder cwd workdir root 目录 文件夹'],
  ['path', 'path file filename filepath files paths 文件 路径 文件名'],
  ['glob', 'glob'],
  ['pattern', 'pattern regex regexp 正则'],
  ['datetime', 'datetime timestamp'],
  ['date', 'date day due deadline when checkin checkout 日期'],
  ['time', 'time hour 时间'],
  ['language', 'language lang locale 语言'],
  ['currency', 'currency 货币 币种'],
  [
    'place',
    'city location place country region town area state destination departure airport origin 城市 地点 位置 地区 国家',
  ],
  ['owner', 'owner org organization'],
  ['repository', 'repo repository'],
  ['old', 'old find before oldstring oldtext'],
  ['new', 'new replacement replace after newstring newtext'],
  ['code', 'code source snippet program 代码'],
  ['identifier', 'id identifier key symbol ticker uuid sku number code 编号 订单号 代码'],
  [
    'person',
    'recipient person user username contact author assignee attendee customer employee 姓名 收件人 用户 联系人',
  ],
  ['title', 'title subject heading headline label name 标题 主题 名称'],
  ['query', 'query q search keyword keywords term terms topic question word 查询 关键词 搜索词 问题'],
  [
    'content',
    'content contents text body message note comment data value input task prompt description summary 内容 消息 文本 正文',
  ],
];

const KIND_OF = new Map<string, ParameterKind>();
for (const [kind, words] of NAME_KINDS) {
  for (const word of setOf(words)) {
    const key = hasHan(word) ? word : stem(word);
    if (!KIND_OF.has(key)) KIND_OF.set(key, kind);
  }
}

/** What `from`, `to`, `source` and `target` mean depends on the tool. */
const DIRECTION_KINDS: readonly (readonly [concept: string, kind: ParameterKind])[] = [
  ['translate', 'language'],
  ['currency', 'currency'],
  ['email', 'email'],
  ['message', 'person'],
  ['send', 'person'],
  ['file', 'path'],
  ['route', 'place'],
  ['flight', 'place'],
];

const FORMAT_KINDS: ReadonlyMap<string, ParameterKind> = new Map<string, ParameterKind>(
  Object.entries({
    date: 'date',
    'date-time': 'datetime',
    time: 'time',
    email: 'email',
    uri: 'url',
    url: 'url',
    uuid: 'identifier',
  } satisfies Record<string, ParameterKind>),
);

const FROM = setOf('from source origin src start departure base');
const TO = setOf('to target destination dest dst end into recipient');

export function parameterOf(property: Property, toolText: string): Parameter {
  const names = splitIdentifier(property.name);
  const description =
    typeof property.schema.node['description'] === 'string' ? property.schema.node['description'] : '';
  const direction = names.some((word) => FROM.has(word))
    ? 'from'
    : names.some((word) => TO.has(word))
      ? 'to'
      : undefined;
  return {
    ...property,
    kind: kindOf(names, description, property.schema, direction, toolText),
    direction,
    words: new Set(names.map(stem)),
    description,
  };
}

function kindOf(
  names: readonly string[],
  description: string,
  schema: Schema,
  direction: Direction,
  toolText: string,
): ParameterKind {
  const byFormat = FORMAT_KINDS.get(formatOf(schema) ?? '');
  if (byFormat !== undefined) return byFormat;
  if (
    names.every((word) =>
      /^(?:[a-z]|num|number|operand|amount|value|first|second|left|right)\d*$/.test(word),
    ) &&
    isNumeric(schema)
  ) {
    return 'number';
  }
  const byName = kindByName(names);
  if (byName === 'path' && /director|folder|目录/i.test(description) && !/file|文件/i.test(description))
    return 'folder';
  if (byName === 'pattern' && /glob/i.test(`${description} ${toolText}`)) return 'glob';
  if (byName !== undefined && !(direction !== undefined && byName === 'place')) return byName;
  if (direction !== undefined) {
    const about = featuresOf(toolText);
    const found = DIRECTION_KINDS.find(([concept]) => about.get(concept) === 1);
    if (found !== undefined) return found[1];
  }
  return byName ?? kindByDescription(description) ?? 'text';
}

function isNumeric({ node }: Schema): boolean {
  return node['type'] === 'number' || node['type'] === 'integer';
}

function kindByName(names: readonly string[]): ParameterKind | undefined {
  if (names.some((word) => /^(?:old|new)$/.test(word)) && names.length > 1)
    return names.includes('old') ? 'old' : 'new';
  for (const word of names.toReversed()) {
    const kind = hasHan(word) ? chineseKind(word) : KIND_OF.get(stem(word));
    if (kind !== undefined) return kind;
  }
  return undefined;
}

function chineseKind(word: string): ParameterKind | undefined {
  for (const [key, kind] of KIND_OF) if (hasHan(key) && word.includes(key)) return kind;
  return undefined;
}

const DESCRIBED: ReadonlySet<ParameterKind> = new Set([
  'expression',
  'command',
  'url',
  'email',
  'path',
  'folder',
  'date',
  'language',
  'currency',
  'place',
  'query',
]);

/** Only the first words count: further on a description speaks of other things. */
function kindByDescription(description: string): ParameterKind | undefined {
  const start = description.slice(0, 60);
  for (const word of start.match(/[A-Za-z]+/g) ?? []) {
    const kind = KIND_OF.get(stem(word));
    if (kind !== undefined && DESCRIBED.has(kind)) return kind;
  }
  return hasHan(start) ? chineseKind(start) : undefined;
}
