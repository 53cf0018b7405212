/** Every sentence the demo model says, in both languages. */
import type { Language } from './words.js';

export interface Phrases {
  greeting: string;
  /** That no model is connected, and what this is. */
  honest: string;
  /** How to connect one. */
  connect: string;
  noTool(count: number): string;
  serverTools(names: string): string;
  received(media: string): string;
  /** `value` undefined: no number, such as 1 / 0. */
  arithmetic(expression: string, value: string | undefined): string;
  calculated(subject: string, result: string): string;
  weather(subject: string, result: string): string;
  returned(tool: string, subject: string, result: string): string;
  failed(tool: string, subject: string, result: string): string;
  image(facts: string): string;
  document(facts: string): string;
  opaque(kind: string): string;
  nothing: string;
  items(count: number): string;
  characters(count: number): string;
  inAll(characters: number): string;
  join: string;
  thinkingCall(calls: string): string;
  thinkingAnswer(results: number): string;
  thinkingNone: string;
  summary(asks: string, tools: string): string;
  title: string;
}

const ENGLISH: Phrases = {
  greeting: 'Hello!',
  honest:
    'No model is connected: this is the demo model built into the gateway. It works by fixed rules: it can call the tools that you offer, read their results and do arithmetic, and it cannot answer this.',
  connect:
    'To connect a real model, set ANTHROPIC_API_KEY or OPENAI_API_KEY and start the gateway again, run `toolgate init` to write a configuration, or point `upstreams.local` in toolgate.yaml at a local server such as Ollama (http://127.0.0.1:11434/v1).',
  noTool: (count) =>
    count === 1
      ? 'The tool on offer does not fit this request.'
      : `None of the ${count} tools on offer fits this request.`,
  serverTools: (names) => `Tools that the provider itself would run (${names}) are not available here.`,
  received: (media) => `I received ${media}, but I cannot see or read such content.`,
  arithmetic: (expression, value) =>
    value === undefined ? `${expression} has no value.` : `${expression} = ${value}`,
  calculated: (subject, result) => `The result of ${subject} is ${result}.`,
  weather: (subject, result) => `The weather in ${subject}: ${result}`,
  returned: (tool, subject, result) => `${tool}${subject === '' ? '' : ` (${subject})`} returned: ${result}`,
  failed: (tool, subject, result) => `${tool}${subject === '' ? '' : ` (${subject})`} failed: ${result}`,
  image: (facts) => `an image (${facts})`,
  document: (facts) => `a document (${facts})`,
  opaque: (kind) => `a block of the kind ${kind}`,
  nothing: 'nothing',
  items: (count) => (count === 1 ? '1 item: ' : `${count} items: `),
  characters: (count) => `${count} characters`,
  inAll: (characters) => `(${characters} characters in all)`,
  join: ' and ',
  thinkingCall: (calls) => `By fixed rules: the words of the request match ${calls}.`,
  thinkingAnswer: (results) =>
    results === 1
      ? 'By fixed rules: one tool result is there; I repeat what it says.'
      : `By fixed rules: ${results} tool results are there; I repeat what they say.`,
  thinkingNone: 'By fixed rules: no offered tool matches the words of the request.',
  summary: (asks, tools) =>
    `A summary made by fixed rules, as no model is connected.\n\nThe user asked:\n${asks}\n\nTools called: ${tools === '' ? 'none' : tools}.`,
  title: 'New conversation',
};

const CHINESE: Phrases = {
  greeting: '你好！',
  honest:
    '当前没有连接任何模型：这是网关内置的演示模型，只按固定规则工作。它可以调用你提供的工具、读取工具结果、做算术，但无法回答这个问题。',
  connect:
    '要连接真正的模型：设置 ANTHROPIC_API_KEY 或 OPENAI_API_KEY 后重新启动网关，或运行 `toolgate init` 生成配置文件，或把 toolgate.yaml 里的 `upstreams.local` 指向本地服务，例如 Ollama（http://127.0.0.1:11434/v1）。',
  noTool: (count) =>
    count === 1 ? '所提供的工具不适合这个请求。' : `所提供的 ${count} 个工具都不适合这个请求。`,
  serverTools: (names) => `需要由模型提供方自己运行的工具（${names}）在这里不可用。`,
  received: (media) => `我收到了${media}，但我看不到、也读不了这类内容。`,
  arithmetic: (expression, value) =>
    value === undefined ? `${expression} 没有确定的值。` : `${expression} 等于 ${value}。`,
  calculated: (subject, result) => `${subject} 的结果是 ${result}。`,
  weather: (subject, result) => `${subject}的天气：${result}`,
  returned: (tool, subject, result) => `${tool}${subject === '' ? '' : `（${subject}）`}返回：${result}`,
  failed: (tool, subject, result) => `${tool}${subject === '' ? '' : `（${subject}）`}出错：${result}`,
  image: (facts) => `一张图片（${facts}）`,
  document: (facts) => `一份文档（${facts}）`,
  opaque: (kind) => `一段类型为 ${kind} 的内容`,
  nothing: '没有内容',
  items: (count) => `共 ${count} 项：`,
  characters: (count) => `${count} 个字符`,
  inAll: (characters) => `（共 ${characters} 个字符）`,
  join: '，以及',
  thinkingCall: (calls) => `按固定规则：请求中的词与 ${calls} 相符。`,
  thinkingAnswer: (results) => `按固定规则：已有 ${results} 个工具结果，照实转述。`,
  thinkingNone: '按固定规则：没有工具与请求中的词相符。',
  summary: (asks, tools) =>
    `这是按固定规则生成的摘要，因为没有连接任何模型。\n\n用户的请求：\n${asks}\n\n调用过的工具：${tools === '' ? '无' : tools}。`,
  title: '新对话',
};

export const PHRASES_OF: Readonly<Record<Language, Phrases>> = { en: ENGLISH, zh: CHINESE };
