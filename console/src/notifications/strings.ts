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

/** Of the switch. */
export const switchStrings = {
  en: {
    title: 'Notifications',
    approvals: 'When an agent is waiting for a decision',
    turnEnds: 'When an answer I asked for is ready',
    push: 'Also when no page is open, on this device',
    pushFailed: 'That did not work. The gateway or the push service of this browser cannot be reached.',
    ask: 'The browser will ask for permission first.',
    denied:
      'This browser has blocked notifications for this address. Allow them in the site settings (the icon beside the address), then reload.',
    unsupported: 'This browser does not show notifications for this address.',
  },
  zh: {
    title: '通知',
    approvals: '智能体等待审批时',
    turnEnds: '我的对话回答完成时',
    push: '没有打开页面时也通知（此设备）',
    pushFailed: '操作失败：无法连接网关或此浏览器的推送服务。',
    ask: '浏览器会先请求授权。',
    denied: '浏览器已屏蔽此地址的通知。请在网站设置（地址栏旁的图标）中允许通知，然后刷新页面。',
    unsupported: '此浏览器无法为该地址显示通知。',
  },
};
