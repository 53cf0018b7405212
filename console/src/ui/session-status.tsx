/** What a session does, in the same words on every page. */
import type { SessionStatus } from '../../../src/server/console-api/wire/sessions.js';
import type { Strings } from '../text/language.js';
import type { Tone } from './badge.js';
import { ChatIcon, ClockIcon, PlayIcon, WarnIcon } from './icons.js';

type Words = Record<SessionStatus, string>;

const en: Words = {
  running: 'Working',
  waiting: 'Waiting for you',
  client: 'Waiting for the client',
  idle: 'Idle',
  interrupted: 'Interrupted',
};

const zh: Words = {
  running: '进行中',
  waiting: '等待您审批',
  client: '等待客户端',
  idle: '空闲',
  interrupted: '已中断',
};

export const statusWords: Strings<Words> = { en, zh };

export const STATUS_TONE: Record<SessionStatus, Tone> = {
  running: 'info',
  waiting: 'warn',
  client: 'plain',
  idle: 'plain',
  interrupted: 'danger',
};

export const STATUS_ICON = {
  running: PlayIcon,
  waiting: WarnIcon,
  client: ClockIcon,
  idle: ChatIcon,
  interrupted: WarnIcon,
};
