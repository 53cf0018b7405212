import type { TargetWire } from '../../../../src/server/console-api/wire/notify.js';
import type { Strings } from '../../text/language.js';

const en = {
  title: 'Notification targets',
  intro:
    'Where approvals are asked and events are sent outside this page. Targets are set up under notify in toolgate.yaml.',
  list: 'Notification targets',
  failed: 'The list could not be loaded',
  tryAgain: 'Try again',
  none: 'No targets yet',
  noneText:
    'Add Slack, Telegram, Feishu, ntfy or a webhook under notify.targets in toolgate.yaml to be asked where you are. Notifications of this browser are in the settings.',
  types: {
    webhook: 'Webhook',
    ntfy: 'ntfy',
    slack: 'Slack',
    telegram: 'Telegram',
    feishu: 'Feishu',
  } satisfies Record<TargetWire['type'], string>,
  ok: 'Working',
  failing: 'Failing',
  unused: 'Nothing sent yet',
  lastSent: 'last sent',
  waiting: (count: number) => (count === 1 ? '1 message waiting' : `${count} messages waiting`),
  givenUp: (count: number) => (count === 1 ? '1 message given up' : `${count} messages given up`),
  attempts: (error: string, count: number) =>
    count === 1 ? `The last attempt failed: ${error}` : `The last ${count} attempts failed: ${error}`,
  test: 'Send a test',
  testOf: (name: string) => `Send a test to ${name}`,
  refresh: 'Refresh',
  sent: (name: string) => `A test is on its way to “${name}”. See whether it arrives.`,
};

type TargetStrings = typeof en;

export const targetStrings: Strings<TargetStrings> = {
  en,
  zh: {
    title: '通知目标',
    intro: '在此页面之外请求审批、发送事件的位置。在 toolgate.yaml 的 notify 中设置。',
    list: '通知目标',
    failed: '列表加载失败',
    tryAgain: '重试',
    none: '还没有通知目标',
    noneText:
      '在 toolgate.yaml 的 notify.targets 中添加 Slack、Telegram、飞书、ntfy 或 webhook，就能随时随地收到询问。本浏览器的通知在设置中开启。',
    types: { webhook: 'Webhook', ntfy: 'ntfy', slack: 'Slack', telegram: 'Telegram', feishu: '飞书' },
    ok: '正常',
    failing: '出错',
    unused: '尚未发送',
    lastSent: '上次发送',
    waiting: (count) => `${count} 条消息等待发送`,
    givenUp: (count) => `${count} 条消息已放弃`,
    attempts: (error, count) =>
      count === 1 ? `最近一次发送失败：${error}` : `最近 ${count} 次发送失败：${error}`,
    test: '发送测试',
    testOf: (name) => `向 ${name} 发送测试`,
    refresh: '刷新',
    sent: (name) => `测试消息正在发送到“${name}”，请查看是否收到。`,
  },
};
