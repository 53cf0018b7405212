import type { PageName } from '../ui/router.js';

interface AppText {
  pages: Record<PageName, string>;
  more: string;
  navigation: string;
  skip: string;
  settings: string;
  waiting: (count: number) => string;
  newChat: string;
  palette: {
    open: string;
    title: string;
    placeholder: string;
    actions: string;
    conversations: string;
    searching: string;
    nothing: string;
    failed: string;
    stop: string;
    ofThis: (action: string) => string;
    goTo: (page: string) => string;
    theme: (name: string) => string;
    otherLanguage: string;
    fork: string;
    forked: string;
    resume: string;
    resumed: string;
    copyLink: string;
    copied: string;
    connect: string;
  };
  recent: {
    label: string;
    pinned: string;
    recent: string;
    untitled: string;
    actionsOf: (name: string) => string;
    failed: string;
    retry: string;
  };
  connection: {
    live: string;
    connecting: string;
    lost: string;
    lostSince: (time: string) => string;
    lostHint: string;
    signedOut: string;
  };
  signIn: {
    title: string;
    label: string;
    action: string;
    hint: string;
    checking: string;
    none: string;
    badToken: string;
    unwritten: string;
    ended: string;
    keptNote: string;
    unreachable: string;
    unreachableHint: string;
    retry: string;
    retrying: string;
    failed: (message: string) => string;
    staleToken: (name: string) => string;
  };
  otherSignIn: {
    title: (name: string) => string;
    text: (present: string, name: string) => string;
    action: (name: string) => string;
  };
  signedInAs: string;
  scopes: string;
  scopeNames: Record<string, string>;
  signOut: string;
  signOutFailed: string;
  everywhere: { action: string; title: string; text: (name: string) => string };
  language: string;
  theme: string;
  themes: { system: string; light: string; dark: string };
  version: string;
  update: string;
  updateAction: string;
  unknown: { title: string; text: (path: string) => string; action: string };
  crash: { title: string; text: string; again: string; reload: string; chunk: string; details: string };
  loadingPage: string;
  notAllowed: { title: string; text: (scope: string) => string };
}

const en: AppText = {
  pages: {
    chat: 'Chat',
    inbox: 'Inbox',
    sessions: 'Sessions',
    traces: 'Traces',
    tools: 'Tools & MCP',
    rules: 'Rules',
    keys: 'Keys',
    usage: 'Usage',
    setup: 'Setup',
  },
  more: 'More',
  navigation: 'Pages',
  skip: 'Skip to content',
  settings: 'Settings',
  newChat: 'New chat',
  palette: {
    open: 'Search',
    title: 'Actions and conversations',
    placeholder: 'Type an action, or words of a conversation',
    actions: 'Actions',
    conversations: 'Conversations',
    searching: 'Searching…',
    nothing: 'Nothing found.',
    failed: 'The search failed. Keep typing to try again.',
    stop: 'Stop the turn',
    ofThis: (action) => `This conversation: ${action}`,
    goTo: (page) => `Go to ${page}`,
    theme: (name) => `Colours: ${name}`,
    otherLanguage: '切换到中文',
    fork: 'Fork',
    forked: 'A copy of the conversation is now open. The original is unchanged.',
    resume: 'Resume',
    resumed: 'The interrupted turn was resumed.',
    copyLink: 'Copy link',
    copied: 'The address was copied.',
    connect: 'Connect a model',
  },
  recent: {
    label: 'Recent conversations',
    pinned: 'Pinned',
    recent: 'Recent',
    untitled: 'Untitled',
    actionsOf: (name) => `Actions for ${name}`,
    failed: 'The conversations could not be loaded.',
    retry: 'Try again',
  },
  waiting: (count) => (count === 1 ? '1 waiting for a decision' : `${count} waiting for a decision`),
  connection: {
    live: 'Connected',
    connecting: 'Connecting…',
    lost: 'Connection lost',
    lostSince: (time) => `Connection lost at ${time}`,
    lostHint:
      'What you see may be out of date. The page reconnects automatically; if the gateway was stopped, start it with “npm start”.',
    signedOut: 'Signed out',
  },
  signIn: {
    title: 'Sign in',
    label: 'Token or key',
    action: 'Sign in',
    hint: 'Open the console address that the gateway printed when it started, or sign in with one of its keys.',
    checking: 'Contacting the gateway…',
    none: 'You are not signed in.',
    badToken: 'This token or key is not valid.',
    unwritten:
      'You are signed out, but the gateway could not save that yet: if it stops before it can, a copy of your cookie would work again. See its log.',
    ended:
      'You are no longer signed in: someone signed out, the sign-in expired, or the key is no longer valid.',
    keptNote: 'What you typed will still be there when you have signed in again.',
    unreachable: 'The gateway cannot be reached.',
    unreachableHint: 'Start it with “npm start”, or check the network. This page keeps trying.',
    retry: 'Try now',
    retrying: 'Trying again…',
    failed: (message) => `The gateway refused: ${message}`,
    staleToken: (name) => `The token in the address is not valid. You are still signed in as ${name}.`,
  },
  otherSignIn: {
    title: (name) => `Sign in as ${name}?`,
    text: (present, name) =>
      `You are signed in as ${present}. The address that was opened would sign this browser in as ${name} instead, in all tabs. Continue only if you opened it on purpose.`,
    action: (name) => `Sign in as ${name}`,
  },
  signedInAs: 'Signed in as',
  scopes: 'Permissions',
  scopeNames: { call: 'call models', approve: 'approve', admin: 'administer' },
  signOut: 'Sign out',
  signOutFailed:
    'Could not sign out: the gateway is not responding. Try again later; closing this browser deletes the cookie, but does not end the sign-in.',
  everywhere: {
    action: 'Sign out everywhere',
    title: 'Sign out everywhere?',
    text: (name) =>
      `This ends every sign-in of ${name}, in all browsers, including this one. To come back, you need a key, or the address that the gateway printed when it last started.`,
  },
  language: 'Language',
  theme: 'Theme',
  themes: { system: 'System', light: 'Light', dark: 'Dark' },
  version: 'Version',
  update: 'A new version of this console is available.',
  updateAction: 'Reload',
  unknown: {
    title: 'There is no such page',
    text: (path) => `There is nothing at “${path}”. The link may be wrong or from another version.`,
    action: 'Go to the chat',
  },
  crash: {
    title: 'This page crashed',
    text: 'The other pages still work, and nothing on the gateway has changed.',
    again: 'Try again',
    reload: 'Reload the console',
    chunk:
      'Part of the console could not be loaded. The gateway may have stopped or been updated: reload the console.',
    details: 'What happened',
  },
  loadingPage: 'Loading the page…',
  notAllowed: {
    title: 'Your key may not do this',
    text: (scope) => `This needs the scope “${scope}”. Sign in with a key that has it.`,
  },
};

const zh: AppText = {
  pages: {
    chat: '对话',
    inbox: '待审批',
    sessions: '会话',
    traces: '请求追踪',
    tools: '工具与 MCP',
    rules: '规则',
    keys: '密钥',
    usage: '用量',
    setup: '接入',
  },
  more: '更多',
  navigation: '页面导航',
  skip: '跳到正文',
  settings: '设置',
  newChat: '新对话',
  palette: {
    open: '搜索',
    title: '操作与对话',
    placeholder: '输入操作，或对话中的文字',
    actions: '操作',
    conversations: '对话',
    searching: '正在搜索…',
    nothing: '没有找到。',
    failed: '无法搜索对话。继续输入即可重试。',
    stop: '停止本轮',
    ofThis: (action) => `当前对话：${action}`,
    goTo: (page) => `前往${page}`,
    theme: (name) => `颜色：${name}`,
    otherLanguage: 'Switch to English',
    fork: '创建分支',
    forked: '已打开对话的副本，原对话保持不变。',
    resume: '继续执行',
    resumed: '中断的一轮已继续执行。',
    copyLink: '复制链接',
    copied: '地址已复制。',
    connect: '连接模型',
  },
  recent: {
    label: '最近的对话',
    pinned: '已置顶',
    recent: '最近',
    untitled: '无标题',
    actionsOf: (name) => `“${name}”的操作`,
    failed: '无法加载对话列表。',
    retry: '重试',
  },
  waiting: (count) => `${count} 项等待审批`,
  connection: {
    live: '已连接',
    connecting: '正在连接…',
    lost: '连接已断开',
    lostSince: (time) => `连接已于 ${time} 断开`,
    lostHint: '当前内容可能不是最新的。页面会自动重新连接；如果网关已停止，请运行“npm start”启动它。',
    signedOut: '已退出登录',
  },
  signIn: {
    title: '登录',
    label: '令牌或密钥',
    action: '登录',
    hint: '请打开网关启动时打印的控制台地址，或使用网关的密钥登录。',
    checking: '正在连接网关…',
    none: '您尚未登录。',
    badToken: '令牌或密钥无效。',
    unwritten:
      '您已退出登录，但网关暂时未能将此写入存储：如果网关在写入之前停止，他人持有的 Cookie 副本将重新有效。请查看网关日志。',
    ended: '登录已失效：已在别处退出登录、登录已过期，或密钥不再有效。',
    keptNote: '重新登录后，已输入的内容仍然保留。',
    unreachable: '无法连接网关。',
    unreachableHint: '请运行“npm start”启动网关，或检查网络。本页会持续重试。',
    retry: '立即重试',
    retrying: '正在重试…',
    failed: (message) => `网关拒绝了请求：${message}`,
    staleToken: (name) => `地址中的令牌无效。您仍以 ${name} 的身份登录。`,
  },
  otherSignIn: {
    title: (name) => `以 ${name} 的身份登录？`,
    text: (present, name) =>
      `您当前以 ${present} 的身份登录。刚打开的地址会让此浏览器的所有标签页改以 ${name} 的身份登录。仅当您确实要打开该地址时才继续。`,
    action: (name) => `以 ${name} 的身份登录`,
  },
  signedInAs: '当前登录',
  scopes: '权限',
  scopeNames: { call: '调用模型', approve: '审批', admin: '管理' },
  signOut: '退出登录',
  signOutFailed: '退出失败：网关没有响应。请稍后重试；关闭浏览器只会清除其中的 Cookie，并不会结束登录。',
  everywhere: {
    action: '在所有位置退出登录',
    title: '在所有位置退出登录？',
    text: (name) =>
      `${name} 在所有浏览器（包括当前浏览器）中的登录都将结束。再次登录需要密钥，或网关最近一次启动时打印的地址。`,
  },
  language: '语言',
  theme: '主题',
  themes: { system: '跟随系统', light: '浅色', dark: '深色' },
  version: '版本',
  update: '控制台有新版本。',
  updateAction: '刷新',
  unknown: {
    title: '页面不存在',
    text: (path) => `“${path}”没有对应的页面，链接可能有误，或来自其他版本。`,
    action: '前往对话',
  },
  crash: {
    title: '此页面出错了',
    text: '其他页面仍可使用，网关上的内容没有因此改变。',
    again: '重试',
    reload: '刷新控制台',
    chunk: '控制台的一部分未能加载：网关可能已停止或已更新，请刷新控制台。',
    details: '错误详情',
  },
  loadingPage: '正在加载页面…',
  notAllowed: {
    title: '您的密钥无权执行此操作',
    text: (scope) => `此操作需要“${scope}”权限，请使用具有该权限的密钥登录。`,
  },
};

export const strings = { en, zh };
