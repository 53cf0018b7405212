/** The words that the demo model knows, in both languages, and how a text is read with them. */
type Language = 'en' | 'zh';

/**
 * A row joins words that ask for the same thing and is called by its first word. The words after
 * the bar hint at it, but also mean other things. English words without a synonym need no row.
 */
const CONCEPTS: readonly string[] = [
  'calculate calculator calc compute math maths arithmetic evaluate expression equation 计算 运算 数学 算术 求值 表达式 算一下 | result 结果 等于 多少',
  'add addition sum plus 加法 相加',
  'subtract subtraction minus 减法 相减',
  'multiply multiplication times product 乘法 相乘',
  'divide division 除法 相除',
  'weather forecast temperature rain raining snow umbrella 天气 气温 温度 预报 下雨 下雪 | hot cold',
  'search lookup google find query 搜索 查找 检索 搜 | about information 查 找 查询',
  'web internet online website webpage 网页 网络 网上 互联网 网站',
  'fetch url http https download 抓取 下载 网址 | open visit 打开 获取',
  'read reader cat 读取 阅读 读 | show view open display content contents print inside 查看 打开 看看 显示 内容',
  'write writer save 写入 写 保存 | create make new put 创建 新建 生成',
  'create generate insert register 创建 新建 生成 新增 添加 | add make new open write',
  'edit modify replace update 修改 编辑 替换 更新 改成 改为 | change fix set',
  'delete remove erase 删除 移除 删掉 | clear cancel 取消',
  'list glob 列出 列表 列举 | show all which 有哪些 所有',
  'file files document 文件 文档 | path',
  'folder directory dir 目录 文件夹',
  'run execute exec bash shell terminal command 运行 执行 命令 终端 | script start 启动',
  'grep regex 正则 | pattern match containing search find 包含 搜索 查找',
  'time clock timezone 时间 几点 时区 | now 现在',
  'translate translation 翻译 译成 | language 语言',
  'email mail 邮件 邮箱 | message send 发送',
  'message sms notify chat 消息 短信 通知 | tell say text 告诉',
  'remind reminder 提醒 闹钟',
  'send deliver forward 发送 发给 发 | email message',
];

/** Words that say nothing about which tool is meant. */
const STOP_WORDS = new Set(
  (
    'a an the this that these those it its is are was were be am do does did have has had will would can could should may must ' +
    'i me my you your we us our they them their he she who what which when where why how and or but if then so as at by for from in into of off on out over to up with about near between via ' +
    'please thanks thank hello hi hey ok yes no not just also too very want need like let give tell get use using tool tools function call api given gets returns any some all each there here ' +
    'now today tomorrow tonight current currently right latest week equals result value s'
  ).split(' '),
);

/** Chinese words around what a sentence is about, beside those of the concepts. */
const FILLERS =
  '请问 请 帮我 帮忙 麻烦 给我 告诉我 我想知道 我想 我要 我 你好 您好 你 您 谢谢 需要 能不能 可以 一下 一个 一条 这个 里的 里 什么 怎么样 怎样 怎么 如何 哪里 是多少 是 会 吗 呢 吧 的 了 把 用 使用 情况 度 在 从 到 成 给 和 与 跟 以及 然后 ' +
  '摄氏 华氏 今天 明天 后天 昨天 目前 当前 最近 本周 下周 今晚 早上 上午 下午 晚上';

export const hasHan = (text: string): boolean => /\p{Script=Han}/u.test(text);

/** Chinese where Han characters outnumber Latin words; a text with kana or hangul is not Chinese. */
export function languageOf(text: string): Language {
  const han = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  if (han === 0 || /[\u3040-\u30ff\uac00-\ud7af]/.test(text)) return 'en';
  return han >= (text.match(/[A-Za-z]{2,}/g)?.length ?? 0) ? 'zh' : 'en';
}

/** `readFile_v2` → read, file, v2. */
export function splitIdentifier(name: string): string[] {
  const spaced = name.replace(/([a-z\d])([A-Z])/g, '$1 $2').replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2');
  return spaced.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** A rough stem: the table and the texts are cut the same way, so it need not be a word. */
function stem(word: string): string {
  const lower = word.toLowerCase();
  if (lower.length <= 3 || /(?:ss|us|is|news)$/.test(lower)) return lower;
  const cut = lower.replace(/ies$/, 'y').replace(/(?<=..)(?:ing|ed|(?<=ch|sh|x|z)es|s)$/, '');
  return cut.replace(/e$/, '').replace(/([^ls])\1$/, '$1');
}

export const isStopWord = (word: string): boolean => STOP_WORDS.has(word.toLowerCase());

/** What a text is about: concepts, and `=stem` for every other word, each with how sure it is (0 to 1). */
export type Features = Map<string, number>;

export function raise(features: Features, key: string, strength: number): void {
  features.set(key, Math.max(features.get(key) ?? 0, strength));
}

/** For each word of the table, the concepts that it names. */
const MEANINGS = new Map<string, Features>();
for (const row of CONCEPTS) {
  for (const [index, words] of row.split(' | ').entries()) {
    for (const word of words.split(' ').map((each) => (hasHan(each) ? each : stem(each)))) {
      if (!MEANINGS.has(word)) MEANINGS.set(word, new Map());
      raise(MEANINGS.get(word) ?? new Map(), row.split(' ', 1).join(), index === 0 ? 1 : 0.4);
    }
  }
}
const HAN_WORDS = [...MEANINGS.keys(), ...FILLERS.split(' ')]
  .filter(hasHan)
  .sort((a, b) => b.length - a.length);
const HAN_WORD = new RegExp(HAN_WORDS.join('|'), 'g');
const HAN_LEAD = new RegExp(`^(?:${HAN_WORDS.join('|')}|\\s)+`);

/** True where the word alone asks for something: weather, translate, 计算. */
export const isConceptWord = (word: string): boolean =>
  [...(MEANINGS.get(stem(word))?.values() ?? [])].includes(1);

export function featuresOf(text: string): Features {
  const features: Features = new Map();
  const words = text.replace(/\blook\s+up\b/gi, 'lookup').match(/[A-Za-z]{2,}/g) ?? [];
  for (const word of words.flatMap(splitIdentifier)) {
    const meanings = MEANINGS.get(stem(word));
    for (const [concept, strength] of meanings ?? []) raise(features, concept, strength);
    if (meanings === undefined && !isStopWord(word)) raise(features, `=${stem(word)}`, 1);
  }
  for (const [word] of text.matchAll(HAN_WORD))
    for (const [concept, strength] of MEANINGS.get(word) ?? []) raise(features, concept, strength);
  for (const { text: chunk } of hanChunks(text))
    for (let at = 0; at + 2 <= chunk.length; at++) raise(features, `=${chunk.slice(at, at + 2)}`, 0.7);
  return features;
}

/** What is left of a Chinese text without the words of the tables: names and subjects. */
export function hanChunks(text: string): { text: string; start: number }[] {
  const left = text.replace(HAN_WORD, (word) => ' '.repeat(word.length));
  return [...left.matchAll(/\p{Script=Han}+/gu)].map(({ 0: chunk, index }) => ({
    text: chunk,
    start: index,
  }));
}

const POLITE =
  /^(?:(?:please|hey|hi|hello|ok|now|then|also|and|(?:can|could|would)\s+you|i\s+(?:want|need)(?:\s+you)?(?:\s+to)?|i['’]d\s+like(?:\s+you)?(?:\s+to)?|help\s+me|let['’]s|(?:tell|show|give|get)\s+me|what(?:\s+is|\s+are|['’]s))\b[,:]?\s*|请|麻烦|帮我|帮忙|给我)/i;
const USES_TOOL =
  /^(?:use|call)\s+(?:the\s+)?[\w-]+(?:\s+(?:tool|function))?\s+(?:to|and|with|for)\s+(?:say\s+)?/i;
const LINK =
  /^(?:(?:up|for|about|on|of|that|to|me|and|then|say|the\s+(?:web|internet|input))\b[:,]?\s*|[，、,]\s*)/i;

function stripped(text: string, pattern: RegExp): string {
  const rest = text.replace(pattern, '');
  return rest === text || rest === '' ? text : stripped(rest, pattern);
}

export const withoutPoliteness = (text: string): string => stripped(text.trim(), POLITE);

/** Without the punctuation and blanks around it. */
export const trimmed = (text: string): string =>
  text.replace(/^[\s,;:，；：、]+|[\s,.;:!?，。；：！？、]+$/gu, '').replace(/\s+please$/i, '');

/** The sentence without politeness and without the verb that names the tool. */
export function topicOf(text: string, toolWords: readonly string[] = []): string {
  if (languageOf(text) === 'zh') return trimmed(text.replace(HAN_LEAD, '')) || trimmed(text);
  const rest = withoutPoliteness(text).replace(USES_TOOL, '');
  const verb = /^(?:look\s+up|[A-Za-z]+)(?=\s)/i.exec(rest)?.[0] ?? '';
  const isVerb = isConceptWord(verb.replace(/\s+/, '')) || toolWords.includes(verb.toLowerCase());
  return trimmed(isVerb ? stripped(rest.slice(verb.length).trimStart(), LINK) : rest) || trimmed(text);
}

/** The first words of a text, as a title. */
export function headline(text: string): string {
  const words = topicOf(text.replace(/<\/?[a-z][\w-]*>|\s+/gi, ' ')).split(' ');
  const short = trimmed(words.slice(0, 8).join(' ').slice(0, 60)).replace(/[\ud800-\udbff]$/, '');
  return short.charAt(0).toUpperCase() + short.slice(1);
}
