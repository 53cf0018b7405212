/**
 * The gateway's own sentences in the language of the page: titles of calls, why something was asked,
 * allowed or refused, and why it stopped. What a model, a tool or a person said stays as it is.
 */
import type { Language } from './language.js';

type Pattern = readonly [sentence: RegExp, zh: string];

const TITLES: readonly Pattern[] = [
  [/^Run in the background (.*)$/s, '在后台运行 $1'],
  [/^Run (.*)$/s, '运行 $1'],
  [/^Edit (.*)$/s, '编辑 $1'],
  [/^Write memory (.*)$/s, '写入记忆 $1'],
  [/^Remove memory (.*)$/s, '删除记忆 $1'],
  [/^Read memory (.*)$/s, '读取记忆 $1'],
  [/^List memories$/, '列出记忆'],
  [/^Write (.*)$/s, '写入 $1'],
  [/^Read the output of (.*)$/s, '读取 $1 的输出'],
  [/^Read the to-do list$/, '读取待办列表'],
  [/^Read (.*)$/s, '读取 $1'],
  [/^Find (.*)$/s, '查找 $1'],
  [/^Search the web for "(.*)"$/s, '在网上搜索“$1”'],
  [/^Search for (.*)$/s, '搜索 $1'],
  [/^Fetch (.*)$/s, '访问 $1'],
  [/^End (.*)$/s, '结束 $1'],
  [/^Agent: (.*)$/s, '智能体：$1'],
  [/^Answer a question$/, '回答一个问题'],
  [/^Answer (\d+) questions$/, '回答 $1 个问题'],
  [/^Question not answered$/, '问题未回答'],
  [/^Approve a plan$/, '批准计划'],
  [/^Plan not approved$/, '计划未批准'],
  [/^Plan a change$/, '规划改动'],
  [/^Clear the to-do list$/, '清空待办列表'],
  [/^Update the to-do list \((.*)\)$/s, '更新待办列表（$1）'],
];

const REASONS: readonly Pattern[] = [
  [/^rule (.*) of the configuration$/s, '配置中的规则 $1'],
  [/^rule (.*) of the repository's own file$/s, '仓库自带文件中的规则 $1'],
  [/^rule (.*) of this session$/s, '此会话的规则 $1'],
  [/^rule (.*) of this project$/s, '此项目的规则 $1'],
  [/^rule (.*) for everywhere$/s, '对所有位置生效的规则 $1'],
  [/^rule (.*) for one call$/s, '仅对一次调用生效的规则 $1'],
  [/^no rule matches, and the mode is (.*)$/, '没有匹配的规则，当前模式为 $1'],
  [/^reading inside the workspace needs no approval$/, '在工作区内读取无需审批'],
  [/^it reads and changes nothing outside of the conversation$/, '它不读取也不更改对话之外的内容'],
  [/^allowed by (.*?) \((.*?)\), with the rule (.*)$/s, '由 $1 允许（$2），并新增规则 $3'],
  [/^denied by (.*?) \((.*?)\), with the rule (.*)$/s, '由 $1 拒绝（$2），并新增规则 $3'],
  [/^allowed by (.*?) \((.*?)\)(.*)$/s, '由 $1 允许（$2）$3'],
  [/^denied by (.*?) \((.*?)\)(.*)$/s, '由 $1 拒绝（$2）$3'],
  [/^nobody answered in time$/, '无人及时回应'],
  [/^stopped before it was decided$/, '在作出决定前已停止'],
  [/^nobody was connected who could answer$/, '当时没有可以回应的人在线'],
  [/^its approval had been used already$/, '该批准已经使用过'],
  [/^the gateway stopped; the question stays open$/, '网关已停止，此问题仍然有效'],
  // Why a question was withdrawn.
  [/^The request was stopped before anyone answered\.$/, '在有人回应之前，请求已停止。'],
  [
    /^What the call would do has changed since it was shown\. It is asked again\.$/,
    '此调用的内容在展示后已发生变化，将重新询问。',
  ],
  // Why a person is asked.
  [/^The rule `(.*)` of the configuration asks about (.*)\.$/s, '配置中的规则 `$1` 要求就$2询问。'],
  [/^The rule `(.*)` (?:of|for) .*? asks about (.*)\.$/s, '规则 `$1` 要求就$2询问。'],
  [
    /^Mode allow-edits allows (.*), which is inside the workspace\.$/s,
    '“允许编辑”模式允许$1，它在工作区内。',
  ],
  [/^No rule is about (.*), and the mode is ask\.$/s, '没有规则涉及$1，当前模式为“询问”。'],
  [/^No rule is about (.*), and the mode is (.*)\.$/s, '没有规则涉及$1，当前模式为 $2。'],
  [
    /^(.*) is asked about whatever allows it: it is (.*)\. A rule with exactly this path would allow it\.$/s,
    '$1 始终需要询问：它属于 $2。只有指明此确切路径的规则才能允许它。',
  ],
  [
    /^A rule allows the program, but (.*) needs a rule for (.*) as well\.$/s,
    '已有规则允许该程序，但$1还需要针对 $2 的规则。',
  ],
  [
    /^`(.*)` (.*): no prefix rule covers that, only a rule for exactly this command or a person\.$/s,
    '`$1` 的写法（$2）不在前缀规则的范围内，只能由指明此确切命令的规则或由人决定。',
  ],
  [
    /^The command is too long or too deep to be looked through, so that somebody must look at it\.$/,
    '命令过长或嵌套过深，无法自动检查，需要人工查看。',
  ],
];

/** Inside of a sentence: what it is about. */
const PARTS: readonly Pattern[] = [
  [/the command `/g, '命令 `'],
  [/this command/g, '此命令'],
  [/the tool /g, '工具 '],
  [/reaching /g, '访问 '],
];

export function gatewayTitle(title: string, language: Language): string {
  return translated(title, TITLES, language);
}

export function gatewaySentence(sentence: string, language: Language): string {
  if (language === 'en' || !mayHaveRun(sentence)) return translated(sentence, REASONS, language);
  const first = sentence.slice(0, -MAY_HAVE_RUN.length).trim();
  return translated(first, REASONS, language) + MAY_HAVE_RUN_ZH;
}

/** Of why something is asked: it also says that the call was begun before. */
export function mayHaveRun(why: string): boolean {
  return why.endsWith(MAY_HAVE_RUN);
}

const MAY_HAVE_RUN =
  'It was allowed before and had begun when the gateway stopped, so it may have done its work already.';
const MAY_HAVE_RUN_ZH = '它此前已获允许，并在网关停止时已经开始，因此可能已经执行过。';

function translated(sentence: string, patterns: readonly Pattern[], language: Language): string {
  if (language === 'en') return sentence;
  const found = patterns.find(([pattern]) => pattern.test(sentence));
  if (found === undefined) return sentence;
  const [pattern, zh] = found;
  // The parts first: what was put into the sentence by others is not translated after it.
  const part = (text: string): string =>
    PARTS.reduce((said, [from, to]) => (said.search(from) === 0 ? said.replace(from, to) : said), text);
  const match = pattern.exec(sentence);
  return zh.replaceAll(/\$(\d)/g, (_, group: string) => part(match?.[Number(group)] ?? ''));
}
