import type { Strings } from '../text/language.js';

const en = {
  approval: (tool: string) => `Approval needed: ${tool}`,
  question: 'The agent has a question',
  expiresSoon: (minutes: number, title: string) =>
    minutes <= 1 ? `Expires in a minute: ${title}` : `Expires in ${minutes} minutes: ${title}`,
  turnDone: (model: string) => `${model} has finished`,
  turnFailed: (model: string) => `${model} stopped with an error`,
  turnText: 'Open the conversation to see the answer.',
};

const zh: typeof en = {
  approval: (tool) => `需要审批：${tool}`,
  question: '智能体有一个问题',
  expiresSoon: (minutes, title) =>
    minutes <= 1 ? `即将在一分钟内过期：${title}` : `还有 ${minutes} 分钟过期：${title}`,
  turnDone: (model) => `${model} 已完成`,
  turnFailed: (model) => `${model} 出错并停止`,
  turnText: '打开对话查看结果。',
};

export const strings: Strings<typeof en> = { en, zh };
